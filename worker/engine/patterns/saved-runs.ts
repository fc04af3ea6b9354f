import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { savedOrder } from '../sources/event-order.ts';
import { anyValue, type Codec, count, countBelow, DamagedState, flag, stateOf, text } from '../state/codec.ts';
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
import { Capture, type Captures, capturesOneByOne, capturesWithoutBlocks, heldInOrder, type RowBlock } from './captures.ts';
import { earlierState, membersOfUnnamed } from './earlier-runs.ts';
import type { PatternMemory } from './pattern-memory.ts';
import type { PartialMatch } from './run.ts';
import type { StateSpace } from './state-space.ts';

/** Of a capture. */
interface SavedCapture {
  /** Position of the row among those saved. */
  readonly row: number;
  readonly at: number;
  readonly element: number;
  readonly times: number;
  /** The rows of the others are right before that one; otherwise it is the row of all. */
  readonly isBlock: boolean;
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

const ofOne = { row: numberColumn, at: numberColumn, element: numberColumn };
const ofSome = { ...ofOne, times: sameColumn(count) };
const [oneEach, counted] = [recordColumn(ofOne), recordColumn(ofSome)];
const members = recordColumn({ ...ofSome, isBlock: sameColumn(flag) });

/** By version, from 2: in version 2 each capture stands for one event, in version 3 all of its events have its row. */
const savedCaptures: Readonly<Record<number, Column<SavedCaptures>>> = {
  2: capturesAs(oneEach.save, (saved, length) => {
    const read = oneEach.readers(saved, length);
    return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at), times: 1, isBlock: false });
  }),
  3: capturesAs(counted.save, (saved, length) => {
    const read = counted.readers(saved, length);
    return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at), times: read.times(at), isBlock: false });
  }),
  4: capturesAs(members.save, (saved, length) => {
    const read = members.readers(saved, length);
    return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at), times: read.times(at), isBlock: read.isBlock(at) });
  }),
};

function capturesAs(save: Column<SavedCapture>['save'], load: Column<SavedCapture>['load']): Column<SavedCaptures> {
  return listColumn(listColumn({ save, load }));
}

/** The state of a pattern, each event that runs hold once. */
export function patternState(space: StateSpace): Codec<PatternMemory> {
  return versionOf(LATEST, { save: (state) => space.save(state), load: onceEach((saved) => space.load(anyValue.load(saved))) });
}

/** Where runs stand is not looked at when a state is written in an earlier form: it is saved alike. */
const asSaved = anyValue as unknown as Codec<SavedRun['state']>;

/** What version 3 of a pattern's state had, of one that was saved in version 4: a row for each event of each run. */
export function patternWithoutBlocks(saved: Value): Value {
  return inVersion(3, saved, (captures) => capturesWithoutBlocks(captures, copyOf));
}

/** What version 2 had, of one that was saved in version 3: a capture and a row for each event. */
export function patternOneByOne(saved: Value): Value {
  return inVersion(2, saved, (captures) => capturesOneByOne(captures, copyOf));
}

/** What version 1 of a pattern's state had, of one that was saved in version 2. */
export function earlierPattern(saved: Value): Value {
  return ['pattern 1', ...earlierState(asSaved).save(versionOf(2, asSaved).load(saved))];
}

/** A state of the version after this one. `changed`: the captures of a run as this version has them. */
function inVersion(version: number, saved: Value, changed: (captures: Captures) => Captures): Value {
  const { runs, ...memory } = versionOf(version + 1, asSaved).load(saved);
  const each = Array.from(runs, ({ progress, accepted, ...run }) => ({
    ...run,
    progress: { ...progress, captures: changed(progress.captures) },
    accepted: accepted && changed(accepted),
  }));
  return versionOf(version, asSaved).save({ ...memory, runs: each });
}

const copyOf = (row: Row): Row => ({ ...row });

const LATEST = 4;

/** The codec of a version from 2 on. */
function versionOf(version: number, savedProgress: Codec<SavedRun['state']>): Codec<PatternMemory> {
  const upgrade: Record<number, (members: ValueArray) => ValueArray> = {};
  for (let before = 1; before < version; before++) {
    upgrade[before] = (saved) => {
      const memory =
        before === 1 ? earlierState(savedProgress).load(saved) : versionOf(before, savedProgress).load([`pattern ${before}`, ...saved]);
      return (versionOf(before + 1, savedProgress).save(memory) as ValueArray).slice(1);
    };
  }
  return codecOf(savedProgress, savedCaptures[version] as Column<SavedCaptures>, { version, upgrade });
}

function codecOf(
  savedProgress: Codec<SavedRun['state']>,
  savedCaptures: Column<SavedCaptures>,
  { version, upgrade }: { readonly version: number; readonly upgrade: Readonly<Record<number, (members: ValueArray) => ValueArray>> },
): Codec<PatternMemory> {
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
  const savedContent = stateOf<Content>({
    name: 'pattern',
    version,
    members: { order: savedOrder, received: count, expiry: savedExpiry, shared: count, rows: listed(rowColumn), runs: listed(savedRuns) },
    upgrade,
    unnamed: membersOfUnnamed,
  });
  return {
    save: (memory) => savedContent.save(contentOf(memory)),
    load: (saved: Value | undefined) => {
      const { rows, runs, shared, ...memory } = savedContent.load(saved);
      return { ...memory, runs: runsOf(runs, { rows: rowsOf(rows, shared), received: memory.received }) };
    },
  };
}

function contentOf({ runs, ...memory }: PatternMemory): Content {
  const all = [...runs];
  const held = new HeldRows(all);
  const saved = all.map(({ key, began, firstTime, lastTime, progress, accepted, emittedElements, hasMatched }) => {
    const { state, base, captures } = progress;
    const taken = { captures: held.saved(captures), accepted: accepted && held.saved(accepted) };
    return { key, began, firstTime, lastTime, state, base, ...taken, emittedElements, hasMatched };
  });
  return { ...memory, shared: held.shared, rows: held.rows, runs: saved };
}

/** The rows that runs hold, each once: in front those that are held more than once, at the end those of blocks. */
class HeldRows {
  readonly rows: readonly Row[];
  readonly shared: number;
  readonly #positions: ReadonlyMap<Row, number>;
  /** Of each block, where its row 0 would stand. */
  readonly #blocks = new Map<RowBlock, number>();

  constructor(runs: readonly PartialMatch[]) {
    const held = new Set<Row>();
    const more = new Set<Row>();
    const blocks = new Map<RowBlock, { from: number; end: number }>();
    for (const { progress, accepted } of runs) {
      for (const top of [...progress.captures, ...(accepted ?? [])]) {
        for (let capture = top; capture !== null; capture = capture.previous) {
          const { row, rowsIn, times } = capture;
          if (rowsIn === null) {
            (held.has(row) ? more : held).add(row);
            continue;
          }
          const { block, end } = rowsIn;
          const known = blocks.get(block);
          const from = end - times + 1;
          blocks.set(block, { from: Math.min(from, known?.from ?? from), end: Math.max(end, known?.end ?? end) });
        }
      }
    }
    for (const row of more) held.delete(row);
    const rows = [...more, ...held];
    this.#positions = new Map(rows.map((row, position) => [row, position]));
    for (const [block, { from, end }] of blocks) {
      this.#blocks.set(block, rows.length - from);
      for (let at = from; at <= end; at++) rows.push(block.at(at) as Row);
    }
    this.rows = rows;
    this.shared = more.size;
  }

  saved(captures: Captures): SavedCaptures {
    return captures.map((top) =>
      heldInOrder(top).map(({ row, at, element, times, rowsIn }) => {
        const position = rowsIn === null ? this.#positions.get(row) : (this.#blocks.get(rowsIn.block) as number) + rowsIn.end;
        return { row: position as number, at, element, times, isBlock: rowsIn !== null };
      }),
    );
  }
}

/** Gives the row at a position: those that are held more than once are the same each time. */
function rowsOf(rows: Listed<Row>, shared: number): Held['rows'] {
  const made: Row[] = [];
  const position = countBelow(rows.length);
  const once = (at: number): Row => {
    made[at] ??= rows.at(at) as Row;
    return made[at];
  };
  return {
    at: (saved) => {
      const at = position.load(saved);
      return at >= shared ? (rows.at(at) as Row) : once(at);
    },
    block: { at: (saved) => once(position.load(saved)) },
  };
}

interface Held {
  readonly rows: {
    readonly at: (position: number) => Row;
    readonly block: RowBlock;
  };
  /** So many events the pattern has received: no capture stands for more. */
  readonly received: number;
}

function* runsOf(runs: Listed<SavedRun>, held: Held): Iterable<PartialMatch> {
  for (let serial = 0; serial < runs.length; serial++) {
    const { key, began, firstTime, lastTime, state, base, captures, accepted, emittedElements, hasMatched } = runs.at(serial) as SavedRun;
    yield {
      key,
      began,
      firstTime,
      lastTime,
      serial,
      progress: { state, base, captures: capturesOf(captures, held) },
      accepted: accepted && capturesOf(accepted, held),
      emittedElements: count.load(emittedElements),
      hasMatched,
    };
  }
}

function capturesOf(saved: SavedCaptures, { rows, received }: Held): Captures {
  return saved.map((taken) => {
    let top: Capture | null = null;
    for (const { row, at, element, times, isBlock } of taken) {
      if (times !== 1 && (times < 1 || times > received)) throw new DamagedState(times, `a number of events, of ${received}`);
      if (isBlock) rows.block.at(row - times + 1);
      top = new Capture(
        isBlock ? (rows.block.at(row) as Row) : rows.at(row),
        at,
        element,
        top,
        times,
        isBlock ? { block: rows.block, end: row } : null,
      );
    }
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
