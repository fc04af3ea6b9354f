import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import type { PartialMatch } from '../patterns/run.ts';
import type { RunEnd } from './explanation.ts';

/** What is remembered of one stream so that it can explain itself; everything older is forgotten first. */
export const recorderLimits = {
  /** Keys, by their last event. */
  keysMax: 1_000,
  /** Events that came for one step of one key; beyond it the half that came nearest stays. */
  candidatesPerStepMax: 32,
} as const;

/** An event that came for a step, or a side of a join. */
export interface Seen {
  readonly row: Row;
  /** Position among the events that the pattern received; one that failed there shares it with the next. */
  readonly at: number;
}

/** What tells which of many events came nearest to being taken by a run. */
export interface Nearness {
  /** The run took its last event there: what came until then is of no concern to it. */
  readonly since: number;
  /** The more of its condition held, the greater. */
  of(seen: Seen): number;
}

/** Where nobody knows better, the last ones are nearest. */
export const anyIsAsNear: Nearness = { since: -Infinity, of: () => 0 };

/** The events for a step that are no longer remembered, by their positions. */
interface Forgotten {
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface EndedRun {
  readonly run: PartialMatch;
  readonly end: RunEnd;
  /** Slot of the `NOT`, or index of the `.not`, that ended it. */
  readonly by: number | null;
  /** Null when time ended it. */
  readonly row: Row | null;
  readonly time: number;
}

/** How far a row came. */
export interface RecordedAttempt {
  readonly kind: 'event' | 'result';
  readonly row: Row;
  readonly decisions: readonly RecordedDecision[];
}

export interface RecordedDecision {
  readonly plan: OperatorPlan | null;
  readonly verdict: 'PASS' | 'BLOCK' | 'HELD' | 'LATE' | 'FAIL';
  readonly row: Row;
  /** Why it failed. */
  readonly failure: string | null;
}

/** What is remembered of one key. */
export class KeyRecord {
  readonly text: string;
  /** By slot of the step or side of the join, oldest first. */
  readonly seen = new Map<number, readonly Seen[]>();
  readonly #forgotten = new Map<number, Forgotten>();
  /** The last, of several that were open together the one that had come furthest. */
  ended: EndedRun | null = null;
  /** Of all the last, where that is another one. */
  endedLast: EndedRun | null = null;
  event: RecordedAttempt | null = null;
  result: RecordedAttempt | null = null;

  constructor(text: string) {
    this.text = text;
  }

  see(slot: number, seen: Seen, nearness: () => Nearness): void {
    const all = (this.seen.get(slot) ?? []) as Seen[];
    all.push(seen);
    this.seen.set(slot, all.length > recorderLimits.candidatesPerStepMax ? this.#nearest(slot, all, nearness()) : all);
  }

  /** The nearer half, of those that are as near the last ones. */
  #nearest(slot: number, all: readonly Seen[], nearness: Nearness): Seen[] {
    const ranked = all.map((seen) => ({ seen, near: seen.at > nearness.since ? nearness.of(seen) : -1 })).reverse();
    ranked.sort((a, b) => (a.near === b.near ? 0 : b.near - a.near));
    const kept = new Set(ranked.slice(0, recorderLimits.candidatesPerStepMax / 2).map(({ seen }) => seen));
    this.#forget(
      slot,
      all.filter((seen) => !kept.has(seen)).map(({ at }) => at),
      nearness.since,
    );
    return all.filter((seen) => kept.has(seen));
  }

  #forget(slot: number, positions: readonly number[], since: number): void {
    const before = this.#forgotten.get(slot);
    const known = before !== undefined && before.lastAt > since ? before : { count: 0, firstAt: Infinity, lastAt: -Infinity };
    const recent = positions.filter((at) => at > since);
    this.#forgotten.set(slot, {
      count: known.count + recent.length,
      firstAt: Math.min(known.firstAt, ...recent),
      lastAt: Math.max(known.lastAt, ...recent),
    });
  }

  /** How many events that came for a step behind this position are no longer remembered; null = some, nobody knows how many. */
  forgottenSince(slot: number, at: number): number | null {
    const { count, firstAt, lastAt } = this.#forgotten.get(slot) ?? { count: 0, firstAt: Infinity, lastAt: -Infinity };
    if (lastAt <= at) return 0;
    return firstAt > at ? count : null;
  }
}
