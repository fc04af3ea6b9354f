import { asSeen, lateOutput, outputOf, type Result } from './naive-aggregates.ts';
import { moments, type TestEvent, type Timeline, watermarkAt } from './timeline.ts';

export interface SessionShape {
  readonly gapUs: number;
  readonly latenessUs: number;
  readonly earlyUs: number | null;
}

/** Events that belong together, in order of event time. */
type Group = readonly TestEvent[];

/**
 * Every output over a whole input. At each moment the sessions are made anew from the events that are neither late nor
 * closed: whatever lies within a gap of each other belongs together.
 */
export function sessionOutputs(timeline: Timeline, shape: SessionShape): readonly string[] {
  const open = new Set<TestEvent>();
  const closed: Group[] = [];
  const told = new Map<string, number>();
  const outputs: string[] = [];
  for (const moment of moments(timeline.events)) {
    const [before, now] = [watermarkAt(timeline, moment - 1), watermarkAt(timeline, moment)];
    const due = sessionsOf(open, shape.gapUs).filter((session) => now > lastUs(session) + shape.gapUs + shape.latenessUs);
    for (const session of due.sort(byEndThenFirst)) {
      outputs.push(outputOf('W', result(session, timeline, shape, lastUs(session) + shape.gapUs - 1000, true)));
      closed.push(session);
      for (const event of session) open.delete(event);
    }
    for (const session of sessionsOf(open, shape.gapUs).sort(byEndThenFirst)) {
      if (!passesPoint(session, before, now, shape.earlyUs)) continue;
      const name = session.map((event) => event.index).join(' ');
      if (!told.has(name)) outputs.push(outputOf('W', result(session, timeline, shape, now, false)));
      told.set(name, moment);
    }
    const event = timeline.events[moment];
    if (event === undefined) continue;
    if (isLate(event, open, closed, now, shape)) outputs.push(lateOutput(event));
    else open.add(event);
  }
  return outputs;
}

function isLate(event: TestEvent, open: ReadonlySet<TestEvent>, closed: readonly Group[], now: number, shape: SessionShape): boolean {
  const isNear = (other: TestEvent): boolean => other.k === event.k && Math.abs(other.us - event.us) <= shape.gapUs;
  if (closed.flat().some((other) => other.k === event.k && event.us <= other.us + shape.gapUs)) return true;
  return ![...open].some(isNear) && event.us + shape.gapUs + shape.latenessUs < now;
}

function sessionsOf(open: ReadonlySet<TestEvent>, gapUs: number): Group[] {
  const sessions: TestEvent[][] = [];
  for (const key of new Set([...open].map((event) => event.k))) {
    const ofKey = [...open].filter((event) => event.k === key).sort((a, b) => a.us - b.us);
    let session: TestEvent[] = [];
    for (const event of ofKey) {
      const last = session.at(-1);
      if (last !== undefined && event.us - last.us <= gapUs) session.push(event);
      else {
        session = [event];
        sessions.push(session);
      }
    }
  }
  return sessions;
}

function firstUs(session: Group): number {
  return (session[0] as TestEvent).us;
}

function lastUs(session: Group): number {
  return (session.at(-1) as TestEvent).us;
}

function byEndThenFirst(a: Group, b: Group): number {
  return lastUs(a) - lastUs(b) || Math.min(...a.map((event) => event.index)) - Math.min(...b.map((event) => event.index));
}

function passesPoint(session: Group, before: number, now: number, earlyUs: number | null): boolean {
  if (earlyUs === null || now < firstUs(session)) return false;
  const last = firstUs(session) + Math.floor((now - firstUs(session)) / earlyUs) * earlyUs;
  return last > firstUs(session) && last > before;
}

function result(session: Group, timeline: Timeline, shape: SessionShape, timeUs: number, isFinal: boolean): Result {
  return {
    key: (session[0] as TestEvent).k,
    seen: asSeen(session, timeline.outOfOrderUs),
    timeUs,
    startUs: firstUs(session),
    endUs: lastUs(session) + shape.gapUs,
    isFinal,
  };
}
