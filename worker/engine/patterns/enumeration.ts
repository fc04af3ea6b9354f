import { Capture, type Captures, capturesInOrder } from './captures.ts';
import type { ClosureNode } from './pattern-tree.ts';

/** Number of elements of the closure that the captures hold. */
export function elementsOf(captures: Captures, closure: ClosureNode): number {
  let elements = 0;
  for (let slot = closure.firstSlot; slot < closure.endSlot; slot++) {
    elements = Math.max(elements, (captures[slot]?.element ?? -1) + 1);
  }
  return elements;
}

/** `.each()`: the captures with the first 1, 2, .. elements, beginning behind those already given, as the closure's bounds allow. */
export function growing(captures: Captures, closure: ClosureNode, given: number): Captures[] {
  const elements = elementsOf(captures, closure);
  const smallest = Math.max(given + 1, closure.min, 1);
  const matches: Captures[] = [];
  let rest = captures;
  for (let count = elements; count >= smallest; count--) {
    rest = firstElements(rest, closure, count);
    matches.push(rest);
  }
  return matches.reverse();
}

function firstElements(captures: Captures, closure: ClosureNode, count: number): Captures {
  const next = captures.slice();
  for (let slot = closure.firstSlot; slot < closure.endSlot; slot++) {
    let capture = next[slot] ?? null;
    while (capture !== null && capture.element >= count) capture = capture.previous;
    next[slot] = capture;
  }
  return next;
}

export interface Subsets {
  readonly matches: readonly Captures[];
  /** How many more there would have been. */
  readonly cut: number;
}

/**
 * `.subsets()`: every non-empty subset of the elements in order of discovery, as the closure's bounds allow. When `given`
 * elements had their matches before, only the subsets that hold a newer one. At most `limit` of them.
 */
export function subsets(captures: Captures, closure: ClosureNode, given: number, limit: number): Subsets {
  const elements = elementsOf(captures, closure);
  const smallest = Math.max(closure.min, 1);
  const matches: Captures[] = [];
  for (const chosen of subsetsInOrder(elements, given, smallest, closure.max)) {
    if (matches.length === limit) break;
    matches.push(onlyElements(captures, closure, chosen));
  }
  const total = countSubsets(elements, smallest, closure.max) - countSubsets(given, smallest, closure.max);
  return { matches, cut: total - matches.length };
}

/**
 * The subsets of `0 .. count-1` with `smallest` (at least 1) to `largest` members, the newest of them `from` or newer, in
 * the order in which they are discovered when one element after the other comes: the new one alone, then added to each
 * earlier subset. Read as binary numbers with the newest element as the highest bit, that is counting upwards.
 */
export function* subsetsInOrder(count: number, from: number, smallest: number, largest: number): Generator<readonly boolean[]> {
  const bits: boolean[] = new Array(count).fill(false);
  if (from >= count || !add(bits, from)) return;
  while (fitSize(bits, smallest, largest)) {
    yield bits;
    if (!add(bits, 0)) return;
  }
}

/** Moves on to the next number with as many bits as allowed; false when there is none. */
function fitSize(bits: boolean[], smallest: number, largest: number): boolean {
  for (;;) {
    const size = bits.filter(Boolean).length;
    if (size < smallest) return smallest <= bits.length && fillLowest(bits, smallest - size);
    if (size <= largest) return true;
    if (!add(bits, bits.indexOf(true))) return false;
  }
}

function fillLowest(bits: boolean[], missing: number): boolean {
  for (let index = 0, left = missing; left > 0; index++) {
    if (bits[index]) continue;
    bits[index] = true;
    left--;
  }
  return true;
}

/** Adds 2 to the power of `at`; false when that overflows. */
function add(bits: boolean[], at: number): boolean {
  let index = at;
  while (bits[index]) bits[index++] = false;
  if (index >= bits.length) return false;
  bits[index] = true;
  return true;
}

/** How many subsets of `count` elements have `smallest` to `largest` members; rounded as doubles are. */
function countSubsets(count: number, smallest: number, largest: number): number {
  let total = 0;
  let ofThisSize = 1;
  for (let size = 0; size <= Math.min(count, largest); size++) {
    if (size >= smallest) total += ofThisSize;
    ofThisSize = (ofThisSize * (count - size)) / (size + 1);
  }
  return total;
}

function onlyElements(captures: Captures, closure: ClosureNode, chosen: readonly boolean[]): Captures {
  const next = captures.slice();
  for (let slot = closure.firstSlot; slot < closure.endSlot; slot++) {
    let top: Capture | null = null;
    for (const capture of capturesInOrder(next[slot] ?? null)) {
      if (chosen[capture.element]) top = new Capture(capture.row, capture.at, capture.element, top);
    }
    next[slot] = top;
  }
  return next;
}
