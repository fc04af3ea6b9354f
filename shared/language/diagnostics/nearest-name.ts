/**
 * The candidate that a mistyped name most likely stands for, or undefined when none is close.
 *
 * Close means a Damerau-Levenshtein distance (insert, delete, replace, swap of neighbours; letter case ignored) of at most a
 * third of the name's length, at least 1 and at most `most`; a name of one letter only matches the other case. Of equally close
 * candidates the first given wins. Never returns the name itself.
 */
export function nearestName(name: string, candidates: Iterable<string>, most = 3): string | undefined {
  let bound = name.length < 2 ? 0 : Math.min(most, Math.max(1, Math.floor(name.length / 3)));
  const wanted = name.toLowerCase();
  const letters = lettersOf(name);
  let nearest: string | undefined;
  for (const candidate of candidates) {
    if (candidate === name || isFar({ name, letters }, candidate, bound)) continue;
    const distance = distanceWithin(wanted, candidate.toLowerCase(), bound);
    if (distance === undefined) continue;
    if (distance === 0) return candidate;
    nearest = candidate;
    bound = distance - 1;
  }
  return nearest;
}

/** Whether length or letters alone put a candidate beyond the bound: most are, and this is cheap. */
function isFar({ name, letters }: { readonly name: string; readonly letters: number }, candidate: string, bound: number): boolean {
  // Another case may have another length, but not in ASCII.
  if (letters === 0) return false;
  if (Math.abs(candidate.length - name.length) > bound) return lettersOf(candidate) !== 0;
  const others = lettersOf(candidate);
  return others !== 0 && (bitCount(letters & ~others) > bound || bitCount(others & ~letters) > bound);
}

/** The letters of an ASCII text as a set of bits, the same for both cases; 0 when there are other letters. One edit adds or removes at most one. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return 0;
    letters |= 1 << (code & 31);
  }
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** The optimal string alignment distance, or undefined when it is above the bound. */
function distanceWithin(a: string, b: string, bound: number): number | undefined {
  if (Math.abs(a.length - b.length) > bound) return undefined;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = distanceRow({ a, b, row, previous, beforePrevious });
    if (Math.min(...current) > bound) return undefined;
    beforePrevious = previous;
    previous = current;
  }
  const distance = previous[b.length] ?? 0;
  return distance <= bound ? distance : undefined;
}

interface RowInput {
  readonly a: string;
  readonly b: string;
  readonly row: number;
  readonly previous: readonly number[];
  readonly beforePrevious: readonly number[];
}

function distanceRow({ a, b, row, previous, beforePrevious }: RowInput): number[] {
  const current = [row];
  for (let column = 1; column <= b.length; column++) {
    const replace = at(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
    const swap = isSwap(a, b, row, column) ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY;
    current.push(Math.min(replace, swap, at(previous, column) + 1, at(current, column - 1) + 1));
  }
  return current;
}

function isSwap(a: string, b: string, row: number, column: number): boolean {
  return row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
