import { countText, valueText } from '../parts/text.ts';
import type { TimePoint } from '../parts/timeline.tsx';

/** What `GET .../explain` answers: `Explanation` of the engine, its names in snake case. Times are epoch milliseconds. */
export interface Explanation {
  readonly stream: string;
  readonly key: string | null;
  readonly time: number | null;
  readonly events_in: number;
  readonly events_out: number;
  readonly nothing: string | null;
  /** Absent from a worker of an earlier build. */
  readonly held_back?: { readonly count: number; readonly first: number; readonly until: number; readonly event: ExplainedEvent } | null;
  readonly pattern: PatternPart | null;
  readonly join: JoinPart | null;
  readonly windows: readonly WindowPart[];
  readonly attempts: readonly Attempt[];
  readonly furthest: Attempt | null;
  /** False where nothing is remembered of what kept events back; absent in the answer of a worker of an earlier version. */
  readonly recorded?: boolean;
  readonly input: {
    readonly events_late: number;
    readonly watermark: number | null;
    readonly events_unread: number;
    readonly unread_types: readonly { readonly event_type: string; readonly events: number; readonly did_you_mean?: string }[];
    readonly events_incomplete: number;
    readonly incomplete_fields: readonly { readonly event_type: string; readonly field: string; readonly events: number }[];
  };
}

export interface ExplainedEvent {
  readonly type: string;
  readonly time: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Of an event that a run holds: null where the engine does not keep the time. */
interface HeldEvent extends Omit<ExplainedEvent, 'time'> {
  readonly time: number | null;
}

export interface Candidate {
  readonly event: ExplainedEvent;
  readonly problem: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface WaitingStep {
  readonly step: string;
  readonly is_absence: boolean;
  readonly closure: { readonly taken: number; readonly least: number } | null;
  readonly deadline: number | null;
  readonly left_ms: number | null;
  readonly candidates: readonly Candidate[];
  /** Absent from a worker of an earlier build. */
  readonly forgotten?: number | null;
}

export interface Run {
  readonly key: string | null;
  readonly steps_taken: number;
  readonly steps: number;
  readonly held: readonly { readonly name: string; readonly count: number; readonly event: HeldEvent }[];
  readonly waits_for: readonly WaitingStep[];
}

export interface EndedRun extends Run {
  readonly end: string;
  readonly time: number;
  readonly reason: string;
  readonly event: ExplainedEvent | null;
}

interface PatternPart {
  /** Its runs are trends, which open windows hold and not runs; absent from a worker of an earlier build. */
  readonly is_trend?: boolean;
  readonly open_runs: number;
  readonly furthest: Run | null;
  readonly begins: readonly WaitingStep[];
  readonly ended: EndedRun | null;
  /** Absent from a worker of an earlier build. */
  readonly ended_last?: EndedRun | null;
}

interface JoinPart {
  readonly sides: readonly {
    readonly name: string;
    /** Events that wait until time has come to them; absent from a worker of an earlier build. */
    readonly held_back?: number;
    readonly waiting: readonly { readonly event: ExplainedEvent; readonly is_matched: boolean; readonly until: number | null }[];
    readonly last: { readonly event: ExplainedEvent; readonly key: string } | null;
  }[];
  readonly problems: readonly Candidate[];
}

interface WindowPart {
  readonly operator: string;
  readonly key: string | null;
  /** Null of a window of trends. */
  readonly count: number | null;
  readonly start: number;
  readonly end: number | null;
  readonly closes_at: number | null;
  readonly missing: number | null;
  readonly so_far: Readonly<Record<string, unknown>> | null;
}

export interface Attempt {
  readonly kind: 'event' | 'result';
  readonly event: ExplainedEvent;
  readonly decisions: readonly {
    readonly operator: string;
    readonly verdict: 'PASS' | 'BLOCK' | 'HELD' | 'LATE' | 'FAIL';
    readonly why: string;
    readonly values: Readonly<Record<string, unknown>>;
  }[];
}

/** The events that a run holds, as points of time. */
export function heldEvents({ held }: Run): readonly TimePoint[] {
  let timeMs = held[0]?.event.time ?? 0;
  return held.map(({ name, count, event }) => {
    // It came somewhere behind the one before.
    timeMs = event.time ?? timeMs;
    const when = event.time === null ? ' at a time that is not kept' : '';
    return { key: name, timeMs, text: `${name}: ${count > 1 ? `${countText(count)} events, the last ` : ''}${eventText(event)}${when}` };
  });
}

export function eventText({ type, fields }: HeldEvent): string {
  const members = Object.entries(fields).map(([name, value]) => `${name}: ${valueText(value)}`);
  return members.length === 0 ? type : `${type} { ${members.join(', ')} }`;
}
