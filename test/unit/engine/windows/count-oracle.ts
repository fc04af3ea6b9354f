import { asSeen, outputOf, type Result } from './naive-aggregates.ts';
import { moments, seenAt, type TestEvent, type Timeline, watermarkAt } from './timeline.ts';

export interface CountShape {
  readonly size: number;
  readonly slide: number | null;
  readonly expireUs: number | null;
}

/** Every output over a whole input: of each key's events since it last expired, every n-th or every slide-th makes a window. */
export function countOutputs(timeline: Timeline, shape: CountShape): readonly string[] {
  const outputs: string[] = [];
  for (const event of timeline.events) {
    const since = sinceExpiry(timeline, event, shape.expireUs);
    const n = since.length;
    if (shape.slide === null && n % shape.size === 0) outputs.push(outputOf('W', result(since.slice(-shape.size), timeline)));
    if (shape.slide !== null && n >= shape.size && (n - shape.size) % shape.slide === 0)
      outputs.push(outputOf('W', result(since.slice(-shape.size), timeline)));
  }
  return shape.slide === null ? [...outputs, ...atTheEnd(timeline, shape)] : outputs;
}

/** What the keys hold at the end of input, by last event. */
function atTheEnd(timeline: Timeline, shape: CountShape): readonly string[] {
  const lasts = [...new Map(timeline.events.map((event) => [event.k, event])).values()].sort((a, b) => a.index - b.index);
  return lasts.flatMap((last) => {
    if (hasExpired(timeline, last, timeline.events.length, shape.expireUs)) return [];
    const rest = sinceExpiry(timeline, last, shape.expireUs);
    const left = rest.length % shape.size;
    return left === 0 ? [] : [outputOf('W', result(rest.slice(-left), timeline))];
  });
}

/** The events of the key up to this one since its state was last dropped. */
function sinceExpiry(timeline: Timeline, event: TestEvent, expireUs: number | null): readonly TestEvent[] {
  let since: TestEvent[] = [];
  for (const one of timeline.events.filter((other) => other.k === event.k && other.index <= event.index)) {
    const before = since.at(-1);
    if (before !== undefined && hasExpired(timeline, before, one.index, expireUs, one.us)) since = [];
    since.push(one);
  }
  return since;
}

/** Whether the state that holds `event` was dropped at a moment up to this one, at which an event of its key may come. */
function hasExpired(timeline: Timeline, event: TestEvent, until: number, expireUs: number | null, arrivesUs = -Infinity): boolean {
  if (expireUs === null) return false;
  const highest = Math.max(
    ...timeline.events.filter((other) => other.k === event.k && other.index <= event.index).map((other) => seenAt(timeline, other)),
  );
  const reached = moments(timeline.events).filter((moment) => moment > event.index && moment <= until && moment < timeline.events.length);
  return arrivesUs > highest + expireUs || reached.some((moment) => watermarkAt(timeline, moment) > highest + expireUs);
}

function result(events: readonly TestEvent[], timeline: Timeline): Result {
  const times = events.map((event) => event.us);
  const last = events.at(-1) as TestEvent;
  return {
    key: last.k,
    seen: asSeen(events, timeline.outOfOrderUs),
    timeUs: last.us,
    startUs: Math.min(...times),
    endUs: Math.max(...times),
    isFinal: true,
  };
}
