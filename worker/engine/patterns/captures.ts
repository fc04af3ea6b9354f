import type { Binding, Row } from '../operators/row.ts';

/** Rows of events that came one behind the other. Captures of many runs stand for those up to some position in it. */
export interface RowBlock {
  at(position: number): Row | undefined;
}

/** Which rows a capture of several events stands for: those of a block up to this position. */
export interface BlockEnd {
  readonly block: RowBlock;
  readonly end: number;
}

/**
 * One event that a run has taken, on top of those taken before it in the same slot. Runs that branch share what lies
 * below; nothing is ever changed but the memo.
 *
 * In a run of a kernel, which is saved or shown or goes on in the matcher, it may stand for several events one behind the other: a
 * thousand runs that have taken a thousand events each are not a million captures. Of these events the rows stand in a block that runs
 * share, or nothing is kept but the last one.
 */
export class Capture {
  readonly row: Row;
  /** Position of the event among all that the pattern received: 1, 2, .. */
  readonly at: number;
  /** Which element of the enumerated closure it belongs to, from 0; -1 outside of it. */
  readonly element: number;
  readonly previous: Capture | null;
  /** For so many events it stands: the others are at the positions, and the elements, right before. */
  readonly times: number;
  /** Where their rows are; null where its own row stands for all of them. */
  readonly rowsIn: BlockEnd | null;
  readonly length: number;
  /** The first of its slot. */
  readonly oldest: Capture;
  /** Rows of this slot in order; the first `length` of them are this capture's. Handed on to the capture on top of it. */
  #rows: Row[] | null = null;

  constructor(row: Row, at: number, element: number, previous: Capture | null, times = 1, rowsIn: BlockEnd | null = null) {
    this.row = row;
    this.at = at;
    this.element = element;
    this.previous = previous;
    this.times = times;
    this.rowsIn = rowsIn;
    this.length = (previous?.length ?? 0) + times;
    this.oldest = previous === null ? this : previous.oldest;
  }

  /** The captured rows in order, as a list of its own: one flat copy, however the captures are linked. */
  rows(): readonly Row[] {
    return this.#backing().slice(0, this.length);
  }

  #backing(): Row[] {
    if (this.#rows !== null) return this.#rows;
    const missing: Capture[] = [];
    let below: Capture | null = this;
    while (below !== null && below.#rows === null) {
      missing.push(below);
      below = below.previous;
    }
    const rows = below === null ? [] : below.#handOn();
    for (let index = missing.length - 1; index >= 0; index--) {
      const capture = missing[index] as Capture;
      for (let before = capture.times - 1; before >= 0; before--) rows.push(rowBefore(capture, before));
    }
    this.#rows = rows;
    return rows;
  }

  /** The rows so far, to be extended: our own list when nothing stands on it yet, else a copy. */
  #handOn(): Row[] {
    const rows = this.#rows as Row[];
    if (rows.length !== this.length) return rows.slice(0, this.length);
    this.#rows = null;
    return rows;
  }
}

/** By slot, what a run holds: the newest capture, or null. Immutable. */
export type Captures = readonly (Capture | null)[];

/** How many captures the slots from `firstSlot` on held at some moment, to go back to it. */
export interface Mark {
  readonly firstSlot: number;
  readonly lengths: readonly number[];
}

export function withCapture(captures: Captures, slot: number, capture: Capture): Captures {
  const next = captures.slice();
  next[slot] = capture;
  return next;
}

export function markOf(captures: Captures, firstSlot: number, endSlot: number): Mark {
  return { firstSlot, lengths: captures.slice(firstSlot, endSlot).map((capture) => capture?.length ?? 0) };
}

/** The part of a mark about the slots from `firstSlot` to `endSlot`. */
export function markWithin(mark: Mark, firstSlot: number, endSlot: number): Mark {
  return { firstSlot, lengths: mark.lengths.slice(firstSlot - mark.firstSlot, endSlot - mark.firstSlot) };
}

/** The captures without what the marked slots took since. */
export function rollBack(captures: Captures, marks: readonly Mark[]): Captures {
  if (marks.length === 0) return captures;
  const next = captures.slice();
  for (const { firstSlot, lengths } of marks) {
    lengths.forEach((length, index) => {
      next[firstSlot + index] = shorten(next[firstSlot + index] ?? null, length);
    });
  }
  return next;
}

function shorten(capture: Capture | null, length: number): Capture | null {
  let rest = capture;
  while (rest !== null && rest.length - rest.times >= length) rest = rest.previous;
  if (rest === null || rest.length === length) return rest;
  const cut = rest.length - length;
  const { rowsIn } = rest;
  return earlier(rest, cut, {
    previous: rest.previous,
    times: rest.times - cut,
    rowsIn: rowsIn && { block: rowsIn.block, end: rowsIn.end - cut },
  });
}

/** The newest event of all; null when nothing was taken. */
export function lastCapture(captures: Captures): Capture | null {
  let last: Capture | null = null;
  for (const capture of captures) if (capture !== null && (last === null || capture.at > last.at)) last = capture;
  return last;
}

/** The captures of one slot, oldest first, whatever each stands for. */
export function heldInOrder(top: Capture | null): Capture[] {
  const all: Capture[] = [];
  for (let capture = top; capture !== null; capture = capture.previous) all.push(capture);
  return all.reverse();
}

/** The captures of one slot, oldest first, one for each event. */
export function capturesInOrder(top: Capture | null): Capture[] {
  const held = heldInOrder(top);
  if (top === null || held.length === top.length) return held;
  return held.flatMap((capture) => Array.from({ length: capture.times }, (_, at) => earlier(capture, capture.times - 1 - at)));
}

/** The same as chains. `rowOf` gives the row of those that a capture stood for beside its own event. */
export function capturesOneByOne(captures: Captures, rowOf: (row: Row) => Row = (row) => row): Captures {
  return captures.map((top) => {
    const held = heldInOrder(top);
    if (top === null || held.length === top.length) return top;
    let made: Capture | null = null;
    for (const capture of held) made = eachOf(capture, made, rowOf);
    return made;
  });
}

/** The same without blocks: each event whose row stands in one has a capture with a row of its own. */
export function capturesWithoutBlocks(captures: Captures, copyOf: (row: Row) => Row): Captures {
  return captures.map((top) => {
    let made: Capture | null = null;
    for (const capture of heldInOrder(top)) {
      const { row, at, element, times, rowsIn } = capture;
      made = rowsIn === null ? new Capture(row, at, element, made, times) : eachOf(capture, made, copyOf, copyOf(row));
    }
    return made;
  });
}

/** One capture for each event of a capture, on top of others. */
function eachOf(capture: Capture, below: Capture | null, rowOf: (row: Row) => Row, last = capture.row): Capture {
  let made = below;
  for (let left = capture.times - 1; left >= 0; left--) {
    const row = left > 0 ? rowOf(rowBefore(capture, left)) : last;
    made = earlier(capture, left, { row, previous: made });
  }
  return made as Capture;
}

/** Where matches are made of some of the elements of a closure, each has a capture. */
export function elementsOneByOne(captures: Captures): Captures {
  return captures.some((top) => top !== null && top.element >= 0) ? capturesOneByOne(captures) : captures;
}

/** The row of the event so many before that of a capture, of those that it stands for. */
export function rowBefore({ row, rowsIn }: Capture, before: number): Row {
  return rowsIn === null ? row : (rowsIn.block.at(rowsIn.end - before) as Row);
}

/** The capture of the event so many before that of this one, of those that this one stands for. */
function earlier(
  capture: Capture,
  before: number,
  {
    row = rowBefore(capture, before),
    previous = null,
    times = 1,
    rowsIn = null,
  }: Partial<Pick<Capture, 'row' | 'previous' | 'times' | 'rowsIn'>> = {},
): Capture {
  const { at, element } = capture;
  return new Capture(row, at - before, element < 0 ? element : element - before, previous, times, rowsIn);
}

/**
 * The order of the branches of one run: step by step as written, a list element by element, a prefix first, nothing
 * before something. Zero means that both hold the same events.
 */
export function compareCaptures(a: Captures, b: Captures): number {
  for (let slot = 0; slot < a.length; slot++) {
    const order = compareLists(a[slot] ?? null, b[slot] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareLists(a: Capture | null, b: Capture | null): number {
  if (a === b) return 0;
  const left = capturesInOrder(a);
  const right = capturesInOrder(b);
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = (left[index] as Capture).at - (right[index] as Capture).at;
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** What expressions read: a list for the slots in `isList`, the one row (or nothing) for the others. */
export function bindingsOf(captures: Captures, isList: readonly boolean[]): Binding[] {
  return captures.map((capture, slot) => {
    if (isList[slot]) return capture === null ? [] : capture.rows();
    return capture === null ? null : capture.row;
  });
}
