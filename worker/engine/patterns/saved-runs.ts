import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { savedOrder } from '../sources/event-order.ts';
import { anyValue, type Codec, count, countBelow, flag, stateOf, text } from '../state/codec.ts';
import {
  type Column,
  fewColumn,
  type Listed,
  listColumn,
  listed,
  numberColumn,
  optionalColumn,
  recordColumn,
  sameColumn,
} from '../state/columns.ts';
import { savedExpiry } from '../state/expiry.ts';
import { rowColumn } from '../state/row-column.ts';
import { Capture, type Captures, capturesInOrder } from './captures.ts';
import { earlierState, membersOfUnnamed } from './earlier-runs.ts';
import type { PatternMemory } from './pattern-memory.ts';
import type { PartialMatch } from './run.ts';
import type { StateSpace } from './state-space.ts';

interface SavedCapture {
  /** Position of the row among those saved. */
  readonly row: number;
  readonly at: number;
  readonly element: number;
}

type SavedCaptures = readonly (readonly SavedCapture[])[];

/** A run with the position of its rows, and of its captures in the order of their slots. */
interface SavedRun extends Omit<PartialMatch, 'serial' | 'progress' | 'accepted'> {
  readonly state: PartialMatch['progress']['state'];
  readonly base: number;
  readonly captures: SavedCaptures;
  readonly accepted: SavedCaptures | null;
}

interface Content extends Omit<PatternMemory, 'runs'> {
  /** So many of the rows, those in front, are held more than once. */
  readonly shared: number;
  readonly rows: Listed<Row>;
  readonly runs: Listed<SavedRun>;
}

const captureMembers = recordColumn<SavedCapture>({ row: numberColumn, at: numberColumn, element: numberColumn });

const savedCaptures = listColumn(
  listColumn<SavedCapture>({
    save: captureMembers.save,
    load: (saved, length) => {
      const read = captureMembers.readers(saved, length);
      return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at) });
    },
  }),
);

/** The state of a pattern, each event that runs hold once. */
export function patternState(space: StateSpace): Codec<PatternMemory> {
  return codecOf({ save: (state) => space.save(state), load: onceEach((saved) => space.load(anyValue.load(saved))) });
}

/** What version 1 of a pattern's state had, of one that was saved in version 2. Where runs stand is not looked at: it is saved alike. */
export function earlierPattern(saved: Value): Value {
  const asSaved = anyValue as unknown as Codec<SavedRun['state']>;
  return ['pattern 1', ...earlierState(asSaved).save(codecOf(asSaved).load(saved))];
}

function codecOf(savedProgress: Codec<SavedRun['state']>): Codec<PatternMemory> {
  const runMembers = recordColumn<SavedRun>({
    key: sameColumn(text),
    began: numberColumn,
    firstTime: numberColumn,
    lastTime: numberColumn,
    state: fewColumn(savedProgress, (state) => state),
    base: numberColumn,
    captures: savedCaptures,
    accepted: optionalColumn(savedCaptures),
    emittedElements: numberColumn,
    hasMatched: sameColumn(flag),
  });
  const savedRuns: Column<SavedRun> = {
    save: runMembers.save,
    load: (saved, length) => {
      const read = runMembers.readers(saved, length);
      return (at) => ({
        key: read.key(at),
        began: read.began(at),
        firstTime: read.firstTime(at),
        lastTime: read.lastTime(at),
        state: read.state(at),
        base: read.base(at),
        captures: read.captures(at),
        accepted: read.accepted(at),
        emittedElements: read.emittedElements(at),
        hasMatched: read.hasMatched(at),
      });
    },
  };
  const earlier = earlierState(savedProgress);
  const savedContent: Codec<Content> = stateOf<Content>({
    name: 'pattern',
    version: 2,
    members: { order: savedOrder, received: count, expiry: savedExpiry, shared: count, rows: listed(rowColumn), runs: listed(savedRuns) },
    upgrade: { 1: (members) => (savedContent.save(contentOf(earlier.load(members))) as ValueArray).slice(1) },
    unnamed: membersOfUnnamed,
  });
  return {
    save: (memory) => savedContent.save(contentOf(memory)),
    load: (saved: Value | undefined) => {
      const { rows, runs, shared, ...memory } = savedContent.load(saved);
      return { ...memory, runs: runsOf(runs, rowsOf(rows, shared)) };
    },
  };
}

function contentOf({ runs, ...memory }: PatternMemory): Content {
  const all = [...runs];
  const { rows, shared } = heldRows(all);
  const positions = new Map(rows.map((row, position) => [row, position]));
  const saved = all.map(({ key, began, firstTime, lastTime, progress, accepted, emittedElements, hasMatched }) => {
    const { state, base, captures } = progress;
    const taken = { captures: savedOf(captures, positions), accepted: accepted && savedOf(accepted, positions) };
    return { key, began, firstTime, lastTime, state, base, ...taken, emittedElements, hasMatched };
  });
  return { ...memory, shared, rows, runs: saved };
}

/** Each row that the runs hold, once; those in front that are held more than once. */
function heldRows(runs: readonly PartialMatch[]): { readonly rows: readonly Row[]; readonly shared: number } {
  const held = new Set<Row>();
  const more = new Set<Row>();
  for (const { progress, accepted } of runs) {
    for (const top of [...progress.captures, ...(accepted ?? [])]) {
      for (let capture = top; capture !== null; capture = capture.previous) (held.has(capture.row) ? more : held).add(capture.row);
    }
  }
  for (const row of more) held.delete(row);
  return { rows: [...more, ...held], shared: more.size };
}

function savedOf(captures: Captures, positions: ReadonlyMap<Row, number>): SavedCaptures {
  return captures.map((top) => capturesInOrder(top).map(({ row, at, element }) => ({ row: positions.get(row) as number, at, element })));
}

/** Gives the row at a position: those that are held more than once are the same each time. */
function rowsOf(rows: Listed<Row>, shared: number): (position: number) => Row {
  const made: Row[] = [];
  const position = countBelow(rows.length);
  return (saved) => {
    const at = position.load(saved);
    if (at >= shared) return rows.at(at) as Row;
    made[at] ??= rows.at(at) as Row;
    return made[at];
  };
}

function* runsOf(runs: Listed<SavedRun>, rowAt: (position: number) => Row): Iterable<PartialMatch> {
  for (let serial = 0; serial < runs.length; serial++) {
    const { key, began, firstTime, lastTime, state, base, captures, accepted, emittedElements, hasMatched } = runs.at(serial) as SavedRun;
    yield {
      key,
      began,
      firstTime,
      lastTime,
      serial,
      progress: { state, base, captures: capturesOf(captures, rowAt) },
      accepted: accepted && capturesOf(accepted, rowAt),
      emittedElements: count.load(emittedElements),
      hasMatched,
    };
  }
}

function capturesOf(saved: SavedCaptures, rowAt: (position: number) => Row): Captures {
  return saved.map((taken) => {
    let top: Capture | null = null;
    for (const { row, at, element } of taken) top = new Capture(rowAt(row), at, element, top);
    return top;
  });
}

/** Values that are kept with what was loaded from them. */
const KEPT = 16;

/** Most runs are in one of few states: what comes again is not read again. */
function onceEach<T>(load: (saved: Value | undefined) => T): (saved: Value | undefined) => T {
  const kept: { readonly saved: Value | undefined; readonly loaded: T }[] = [];
  return (saved) => {
    const known = kept.find((one) => isSame(one.saved, saved));
    if (known !== undefined) return known.loaded;
    const loaded = load(saved);
    if (kept.length === KEPT) kept.shift();
    kept.push({ saved, loaded });
    return loaded;
  };
}

/** Of what is saved of a state, lists and numbers; anything else is read each time. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one)) return Object.is(one, other);
  return Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]));
}
