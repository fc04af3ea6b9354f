import * as fc from 'fast-check';
import type { Value } from '../../../../shared/events/value.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { start } from '../support/engine-run.ts';

/** An event of a test. Times are whole microseconds, so that the oracles calculate without rounding. */
export interface TestEvent {
  readonly index: number;
  readonly type: string;
  readonly k: string | null;
  readonly v: number | null;
  readonly us: number;
}

/** What the oracles know of time: before each event the watermark, in microseconds, is what has been seen less `out_of_order`. */
export interface Timeline {
  readonly events: readonly TestEvent[];
  readonly outOfOrderUs: number;
}

export function watermarkAt({ events, outOfOrderUs }: Timeline, index: number): number {
  if (index < 0) return -Infinity;
  if (index >= events.length) return Infinity;
  return Math.max(...events.slice(0, index + 1).map((event) => event.us)) - outOfOrderUs;
}

/** The time at which a key that expires was seen with this event: its own, or the watermark where that lies past it. */
export function seenAt(timeline: Timeline, event: TestEvent): number {
  return Math.max(event.us, watermarkAt(timeline, event.index));
}

/** Epoch milliseconds, as the engine gives them out. */
export function ms(us: number): number {
  const whole = Math.floor(us / 1000);
  return whole + (us - whole * 1000) / 1000;
}

export interface InputShape {
  readonly types?: readonly string[];
  /** How far apart events lie at most, ms. */
  readonly stepMs?: number;
  /** How far back a displaced event lies at most, ms. */
  readonly displacedMs?: number;
  /** Whether times have fractions of a millisecond. */
  readonly isFine?: boolean;
  readonly keys?: readonly string[];
  readonly eventsMin?: number;
  readonly eventsMax?: number;
}

/** Short streams of few keys with equal times and displaced events, at the epoch and at times with microseconds. */
export function inputs({
  types = ['E'],
  stepMs = 12,
  displacedMs = 25,
  isFine = true,
  keys = ['a', 'b', 'c'],
  eventsMin = 0,
  eventsMax = 18,
}: InputShape = {}): fc.Arbitrary<readonly TestEvent[]> {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: stepMs }) },
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: -displacedMs, max: -1 }) },
    { weight: 1, arbitrary: fc.integer({ min: stepMs, max: 6 * stepMs }) },
  );
  const event = fc.record({
    type: fc.constantFrom(...types),
    k: fc.constantFrom(...keys),
    v: fc.option(fc.integer({ min: -3, max: 9 }), { freq: 6 }),
    step,
    fraction: isFine ? fc.constantFrom(0, 0, 0, 1, 999) : fc.constant(0),
  });
  const origin = isFine ? fc.constantFrom(100_000_000, 1_700_000_000_000_123) : fc.constant(100_000_000);
  return fc.tuple(origin, fc.array(event, { minLength: eventsMin, maxLength: eventsMax })).map(([from, list]) => {
    let highest: number = from;
    return list.map(({ type, k, v, step: by, fraction }, index) => {
      const us = highest + by * 1000 + (by === 0 ? 0 : fraction);
      highest = Math.max(highest, us);
      return { index, type, k, v, us };
    });
  });
}

export interface RunOptions {
  /** Goes on with a fresh engine and the snapshot of the old one before this event. */
  readonly restartAt?: number;
}

/** What a program puts out over the events and the end of input: `Stream@time {json}`. */
export function outputsOf(program: string, events: readonly TestEvent[], { restartAt = -1 }: RunOptions = {}): readonly string[] {
  const plan = planOf(program);
  let run = start(plan);
  const outputs: string[] = [];
  const restart = (): void => {
    outputs.push(...run.outputs);
    const snapshot = JSON.parse(JSON.stringify(run.engine.snapshot()));
    run = start(plan);
    run.engine.restore(snapshot);
  };
  for (const event of events) {
    if (event.index === restartAt) restart();
    run.push(event.type, ms(event.us), fieldsOf(event));
  }
  if (restartAt >= events.length) restart();
  run.engine.end();
  return [...outputs, ...run.outputs];
}

function fieldsOf({ index, k, v }: TestEvent): Record<string, Value> {
  return { i: index, k, v };
}

export const EVENT = ['event E:', '    i: int', '    k: str?', '    v: int?', ''].join('\n');

/** Moments at which something happens: before each event, and the end. */
export function moments(events: readonly TestEvent[]): readonly number[] {
  return [...events.keys(), events.length];
}

/** The `.watermark` and `.allowed_lateness` of a stream, where it has them. */
export function timeOperators(outOfOrderUs: number, latenessUs: number): string {
  const watermark = outOfOrderUs > 0 ? `.watermark(out_of_order: ${outOfOrderUs / 1000}ms)` : '';
  return watermark + (latenessUs > 0 ? `.allowed_lateness(${latenessUs / 1000}ms)` : '');
}
