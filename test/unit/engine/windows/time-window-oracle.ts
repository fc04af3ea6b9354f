import { asSeen, lateOutput, outputOf, type Result } from './naive-aggregates.ts';
import { moments, type TestEvent, type Timeline, watermarkAt } from './timeline.ts';

export interface TimeWindowShape {
  readonly sizeUs: number;
  readonly slideUs: number;
  readonly offsetUs: number;
  readonly align: 'epoch' | 'first';
  readonly earlyUs: number | null;
  readonly latenessUs: number;
  readonly isPartitioned: boolean;
}

interface Window {
  readonly key: string | null;
  readonly startUs: number;
  readonly endUs: number;
  /** Those that came while it was open, in order of arrival. */
  readonly taken: readonly TestEvent[];
}

/** Every output over a whole input, found by looking at each window of it on its own. */
export function timeWindowOutputs(timeline: Timeline, shape: TimeWindowShape): readonly string[] {
  const windows = windowsOf(timeline, shape);
  const earlyCounts = new Map<Window, number>();
  return moments(timeline.events).flatMap((moment) => {
    const [before, now] = [watermarkAt(timeline, moment - 1), watermarkAt(timeline, moment)];
    const begun = windows.filter((window) => (window.taken[0] as TestEvent).index < moment).sort(byEndThenFirst);
    const isOpen = (window: Window, watermark: number): boolean => watermark < window.endUs + shape.latenessUs;
    const closed = begun.filter((window) => isOpen(window, before) && !isOpen(window, now));
    const early = begun
      .filter((window) => isOpen(window, now) && passesPoint(window, before, now, shape.earlyUs))
      .filter((window) => {
        const count = taken(window, moment).length;
        const isNew = count > (earlyCounts.get(window) ?? 0);
        earlyCounts.set(window, count);
        return isNew;
      });
    return [
      ...closed.map((window) => result(window, window.taken, timeline, window.endUs - 1000, true)),
      ...early.map((window) => result(window, taken(window, moment), timeline, now, false)),
    ]
      .map((one) => outputOf('W', one))
      .concat(lateAt(timeline, shape, moment));
  });
}

function result(
  { key, startUs, endUs }: Window,
  events: readonly TestEvent[],
  timeline: Timeline,
  timeUs: number,
  isFinal: boolean,
): Result {
  return { key, seen: asSeen(events, timeline.outOfOrderUs), timeUs, startUs, endUs, isFinal };
}

function taken(window: Window, moment: number): readonly TestEvent[] {
  return window.taken.filter((event) => event.index < moment);
}

function byEndThenFirst(a: Window, b: Window): number {
  return a.endUs - b.endUs || (a.taken[0] as TestEvent).index - (b.taken[0] as TestEvent).index;
}

function passesPoint({ startUs }: Window, beforeUs: number, nowUs: number, earlyUs: number | null): boolean {
  if (earlyUs === null || nowUs < startUs) return false;
  const last = startUs + Math.floor((nowUs - startUs) / earlyUs) * earlyUs;
  return last > startUs && last > beforeUs;
}

function windowsOf(timeline: Timeline, shape: TimeWindowShape): readonly Window[] {
  const windows = new Map<string, Window & { taken: TestEvent[] }>();
  for (const event of timeline.events) {
    const watermark = watermarkAt(timeline, event.index);
    for (const startUs of startsOf(event, timeline, shape)) {
      const endUs = startUs + shape.sizeUs;
      if (endUs + shape.latenessUs <= watermark) continue;
      const key = shape.isPartitioned ? event.k : null;
      const name = `${key} ${startUs}`;
      const window = windows.get(name) ?? { key, startUs, endUs, taken: [] };
      window.taken.push(event);
      windows.set(name, window);
    }
  }
  return [...windows.values()];
}

/** The starts of all windows that an event belongs to. */
function startsOf(event: TestEvent, { events }: Timeline, shape: TimeWindowShape): readonly number[] {
  const ofPartition = events.filter((other) => !shape.isPartitioned || other.k === event.k);
  const origin = shape.align === 'first' ? (ofPartition[0] as TestEvent).us : shape.offsetUs;
  const starts: number[] = [];
  const first = origin + Math.floor((event.us - shape.sizeUs - origin) / shape.slideUs) * shape.slideUs;
  for (let start = first; start <= event.us; start += shape.slideUs) if (event.us < start + shape.sizeUs) starts.push(start);
  return starts;
}

function lateAt(timeline: Timeline, shape: TimeWindowShape, moment: number): readonly string[] {
  const event = timeline.events[moment];
  if (event === undefined) return [];
  const watermark = watermarkAt(timeline, moment);
  const isLate = startsOf(event, timeline, shape).some((start) => start + shape.sizeUs + shape.latenessUs <= watermark);
  return isLate ? [lateOutput(event)] : [];
}
