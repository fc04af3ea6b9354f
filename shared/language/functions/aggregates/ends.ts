import { invariant } from '../../../errors/error.ts';
import { decodeValue, encodeValue } from '../../../events/stored-value.ts';
import type { Value } from '../../../events/value.ts';
import { requireBounded } from '../../../events/value-limits.ts';
import { any, sameAs } from '../define.ts';
import type { Accumulator, AggregateDescriptor } from '../descriptor.ts';
import { savedParts } from './quantity.ts';

/** Whether the earliest or the latest event is looked for. */
type End = 'first' | 'last';

interface Held {
  readonly value: Value;
  readonly time: number;
  readonly order: number;
}

/** The value of the event at one end, by event time and then by arrival. Nulls count: the first value may be null. */
class EndAccumulator implements Accumulator {
  readonly #end: End;
  #held: Held | undefined;

  constructor(end: End, held?: Held) {
    this.#end = end;
    this.#held = held;
  }

  add(args: readonly Value[], time: number, order: number): void {
    const value = args[0] ?? null;
    requireBounded(value);
    this.#offer({ value, time, order });
  }

  merge(other: Accumulator): void {
    invariant(other instanceof EndAccumulator, 'accumulators of one aggregate merge');
    if (other.#held) this.#offer(other.#held);
  }

  #offer(candidate: Held): void {
    const later = this.#held ? candidate.time - this.#held.time || candidate.order - this.#held.order : 0;
    if (!this.#held || (this.#end === 'first' ? later < 0 : later > 0)) this.#held = candidate;
  }

  result(): Value {
    return this.#held?.value ?? null;
  }

  save(): Value {
    return this.#held ? [encodeValue(this.#held.value), this.#held.time, this.#held.order] : null;
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
    create: () => new EndAccumulator(name),
    load: (_, saved) => new EndAccumulator(name, loadHeld(saved)),
  };
}

function loadHeld(saved: Value): Held | undefined {
  const [value = null, time, order] = savedParts(saved);
  return time === undefined ? undefined : { value: decodeValue(value), time: Number(time), order: Number(order) };
}

export const first = end('first', 'The value of the earliest event (of several, the one that arrived first), null or not.', '"a"');
export const last = end('last', 'The value of the latest event (of several, the one that arrived last), null or not.', 'null');
