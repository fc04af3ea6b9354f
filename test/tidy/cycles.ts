import type { Source } from './source.ts';

interface KnownCycle {
  /** A file of the cycle. */
  readonly through: string;
  /** Of how many files it is made. */
  readonly files: number;
  readonly reason: string;
}

/** Cycles that are still there. The list only gets shorter, and their numbers of files smaller. */
const knownCycles: readonly KnownCycle[] = [
  {
    through: 'worker/engine/fusion/program-fusion.ts',
    files: 4,
    reason: 'a program prints its streams, and each of them prints what it shares with others where the program keeps it',
  },
];

/** Files that import each other in a circle, types included, where that is not known; and what is known and no longer true. */
export function cycleViolations(sources: readonly Source[], known: readonly KnownCycle[] = knownCycles): string[] {
  const cycles = cyclesOf(sources);
  const unknown = cycles.flatMap((cycle) => {
    const entry = known.find(({ through }) => cycle.includes(through));
    if (entry === undefined) return [`${cycle.join(' -> ')}: these files import each other: move what both read to a file of its own`];
    if (entry.files === cycle.length) return [];
    const what = cycle.length > entry.files ? 'has grown' : 'has shrunk: lower its number in test/tidy/cycles.ts';
    return [`${entry.through}: its cycle of ${entry.files} files is now one of ${cycle.length}, so it ${what}`];
  });
  const gone = known.filter(({ through }) => !cycles.some((cycle) => cycle.includes(through)));
  return [...unknown, ...gone.map(({ through }) => `${through}: stands in no cycle any more: take it off the list in test/tidy/cycles.ts`)];
}

/** The strongly connected components of more than one file (Tarjan), in order of their first file. */
function cyclesOf(sources: readonly Source[]): readonly (readonly string[])[] {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const enter = (path: string): number => {
    const at = order.size;
    order.set(path, at);
    open.push(path);
    let low = at;
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      if (!order.has(target)) low = Math.min(low, enter(target));
      else if (open.includes(target)) low = Math.min(low, lowest.get(target) ?? (order.get(target) as number));
    }
    lowest.set(path, low);
    if (low === at) {
      const component = open.splice(open.indexOf(path));
      if (component.length > 1) cycles.push(component);
    }
    return low;
  };
  for (const path of targets.keys()) if (!order.has(path)) enter(path);
  return cycles.map((cycle) => cycle.sort()).sort((a, b) => ((a[0] as string) < (b[0] as string) ? -1 : 1));
}
