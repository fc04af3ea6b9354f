import type { Value } from '../../../events/value.ts';
import { requireBounded } from '../../../events/value-limits.ts';
import { any, sameAs } from '../define.ts';
import type { Accumulator, AggregateDescriptor } from '../descriptor.ts';
import { Candidates } from './candidates.ts';
import { requireSame, savedParts } from './quantity.ts';

/** Whether the earliest or the latest event is looked for. */
type End = 'first' | 'last';

/** The value of the event at one end, by event time and then by arrival. Nulls count: the first value may be null. */
class EndAccumulator implements Accumulator {
  readonly #isFirst: boolean;
  #isEmpty = true;
  #value: Value = null;
  #time = 0;
  #order = 0;

  constructor(end: End, [value = null, time, order]: readonly Value[] = []) {
    this.#isFirst = end === 'first';
    if (time !== undefined) this.#offer(value, Number(time), Number(order));
  }

  add(args: readonly Value[], time: number, order: number): void {
    this.addOne(args[0] ?? null, time, order);
  }

  addOne(value: Value, time: number, order: number): void {
    if (typeof value === 'object') requireBounded(value);
    this.#offer(value, time, order);
  }

  require(value: Value): void {
    requireBounded(value);
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof EndAccumulator);
    if (!other.#isEmpty) this.#offer(other.#value, other.#time, other.#order);
  }

  #offer(value: Value, time: number, order: number): void {
    const later = time - this.#time || order - this.#order;
    if (!this.#isEmpty && (this.#isFirst ? later >= 0 : later <= 0)) return;
    this.#isEmpty = false;
    this.#value = value;
    this.#time = time;
    this.#order = order;
  }

  result(): Value {
    return this.#value;
  }

  save(): Value {
    return this.#isEmpty ? null : [this.#value, this.#time, this.#order];
  }
}

/** The same while the events that arrived first leave. */
class SlidingEnd {
  readonly #isFirst: boolean;
  readonly #candidates = new Candidates();

  constructor(end: End) {
    this.#isFirst = end === 'first';
  }

  addOne(value: Value, time: number, order: number): void {
    requireBounded(value);
    const candidates = this.#candidates;
    while (!candidates.isEmpty && (this.#isFirst ? time < candidates.lastTime : time >= candidates.lastTime)) candidates.pop();
    candidates.push(value, time, order);
  }

  removeOne(_value: Value, _time: number, order: number): void {
    this.#candidates.leave(order);
  }

  result(): Value {
    return this.#candidates.best;
  }
}

function end(name: End, summary: string, result: string): AggregateDescriptor {
  return {
    name,
    parameters: [any('e')],
    result: sameAs(0),
    summary,
    examples: [
      { values: ['a', 'b', null], call: `${name}(x)`, result },
      { values: [], call: `${name}(x)`, result: 'null' },
    ],
    takes: 'anything',
    takesNulls: true,
    followsTime: true,
    numbers: { keeps: 'end', end: name },
    create: () => new EndAccumulator(name),
    createSliding: () => new SlidingEnd(name),
    load: (_, saved) => new EndAccumulator(name, savedParts(saved)),
  };
}

export const first = end('first', 'The value of the earliest event (of several, the one that arrived first), null or not.', '"a"');
export const last = end('last', 'The value of the latest event (of several, the one that arrived last), null or not.', 'null');
