import type { Source } from './source.ts';

/** Files that import each other in a circle, types included. */
export function cycleViolations(sources: readonly Source[]): string[] {
  return cyclesOf(sources).map((cycle) => `${cycle.join(' -> ')}: these files import each other: move what both read to a file of its own`);
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
