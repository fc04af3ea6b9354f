import type { StreamCounters } from '../engine.ts';

/** Counts by name of which there are none: most streams never have any, so all begin with this one. */
const NONE: ReadonlyMap<string, number> = new Map();

export function newCounters(): StreamCounters {
  return {
    eventsIn: 0,
    eventsOut: 0,
    late: 0,
    failures: 0,
    suppressed: 0,
    runsActive: 0,
    rowsWaiting: 0,
    runsDropped: NONE,
    taps: NONE,
  };
}

/** The counts with one of them raised: the same map, except where there were none. */
export function raised(counts: ReadonlyMap<string, number>, name: string, by: number): ReadonlyMap<string, number> {
  const own = counts === NONE ? new Map<string, number>() : (counts as Map<string, number>);
  return own.set(name, (own.get(name) ?? 0) + by);
}
