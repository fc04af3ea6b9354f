/** As many from the start as fit, and the first in any case. `sizeOf` and `sizeMax` in the same unit. */
export function fitting<T>(entries: readonly T[], sizeOf: (entry: T) => number, sizeMax: number): readonly T[] {
  let size = 0;
  const end = entries.findIndex((entry, index) => {
    size += sizeOf(entry);
    return index > 0 && size > sizeMax;
  });
  return end < 0 ? entries : entries.slice(0, end);
}
