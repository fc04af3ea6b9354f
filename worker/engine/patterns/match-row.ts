import type { Value } from '../../../shared/events/value.ts';
import type { AttributeName, PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { bindingsOf, type Capture, type Captures, lastCapture, rowBefore } from './captures.ts';

const DURATION = 'match_duration_ms';

/** When a match came to be: with the event that completed it, or by time alone. */
export interface Moment {
  /** Deadline of the absence that completed it; null = its last event's time. */
  readonly deadline: number | null;
  /** Arrival number. */
  readonly order: number;
}

/**
 * The match as a row: its fields are `<alias>_<field>` in step order (of a closure's last event), then
 * `match_duration_ms`. They are made when something reads them.
 */
export function matchRow(plan: PatternPlan, type: string, captures: Captures, isList: readonly boolean[], moment: Moment): Row {
  const last = (lastCapture(captures) as Capture).row;
  const time = moment.deadline !== null && moment.deadline < Infinity ? moment.deadline : last.time;
  const durationMs = Math.abs(time - firstRow(captures).time);
  return {
    type,
    time,
    order: moment.order,
    fields: new MatchFields(plan, captures, durationMs),
    bound: bindingsOf(captures, isList),
    attributes: new Map<AttributeName, Value>([[DURATION, durationMs]]),
    causes: causesOf(captures),
    last,
  };
}

function firstRow(captures: Captures): Row {
  let first: Capture | null = null;
  for (const top of captures) {
    const oldest = top === null ? null : top.oldest;
    if (oldest !== null && (first === null || oldest.at < first.at)) first = oldest;
  }
  return (first as Capture).row;
}

/** Sorted arrival numbers of everything that caused the captured events, no repeats. */
function causesOf(captures: Captures): readonly number[] {
  const causes: number[] = [];
  for (const top of captures) {
    for (let capture = top; capture !== null; capture = capture.previous) {
      for (let before = capture.rowsIn === null ? 0 : capture.times - 1; before >= 0; before--) {
        for (const cause of rowBefore(capture, before).causes) causes.push(cause);
      }
    }
  }
  causes.sort((a, b) => a - b);
  return causes.filter((cause, index) => index === 0 || cause !== causes[index - 1]);
}

/** The fields of a match, filled in when one is read. */
class MatchFields extends Map<string, Value> {
  #pending: (() => Iterable<readonly [string, Value]>) | null;
  readonly #durationMs: number;

  constructor(plan: PatternPlan, captures: Captures, durationMs: number) {
    super();
    this.#durationMs = durationMs;
    this.#pending = () => fieldsOf(plan, captures, durationMs);
  }

  #fill(): void {
    const pending = this.#pending;
    if (pending === null) return;
    this.#pending = null;
    for (const [name, value] of pending()) super.set(name, value);
  }

  override get(name: string): Value | undefined {
    if (name === DURATION) return this.#durationMs;
    this.#fill();
    return super.get(name);
  }

  override has(name: string): boolean {
    this.#fill();
    return super.has(name);
  }

  override get size(): number {
    this.#fill();
    return super.size;
  }

  override entries(): MapIterator<[string, Value]> {
    this.#fill();
    return super.entries();
  }

  override keys(): MapIterator<string> {
    this.#fill();
    return super.keys();
  }

  override values(): MapIterator<Value> {
    this.#fill();
    return super.values();
  }

  override forEach(visit: (value: Value, name: string, map: Map<string, Value>) => void): void {
    this.#fill();
    super.forEach(visit);
  }

  override [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }
}

function* fieldsOf(plan: PatternPlan, captures: Captures, durationMs: number): Generator<readonly [string, Value]> {
  for (const { alias, slot, fieldNames } of plan.steps) {
    if (alias === null) continue;
    const capture = captures[slot] ?? null;
    if (capture === null) for (const name of fieldNames) yield [`${alias}_${name}`, null];
    else for (const [name, value] of capture.row.fields) yield [`${alias}_${name}`, value];
  }
  yield [DURATION, durationMs];
}
