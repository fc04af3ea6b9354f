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
import { Capture, type Captures, capturesOneByOne, heldInOrder } from './captures.ts';
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

const eachMembers = recordColumn<Omit<SavedCapture, 'times'>>({ row: numberColumn, at: numberColumn, element: numberColumn });
const members = recordColumn<SavedCapture>({ row: numberColumn, at: numberColumn, element: numberColumn, times: sameColumn(count) });

/** In version 2 each capture stands for one event. */
const capturesOneEach = listColumn(
  listColumn<SavedCapture>({
    save: eachMembers.save,
    load: (saved, length) => {
      const read = eachMembers.readers(saved, length);
      return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at), times: 1 });
    },
  }),
);

const savedCaptures = listColumn(
  listColumn<SavedCapture>({
    save: members.save,
    load: (saved, length) => {
      const read = members.readers(saved, length);
      return (at) => ({ row: read.row(at), at: read.at(at), element: read.element(at), times: read.times(at) });
    },
  }),
);

/** The state of a pattern, each event that runs hold once. */
export function patternState(space: StateSpace): Codec<PatternMemory> {
  return latest({ save: (state) => space.save(state), load: onceEach((saved) => space.load(anyValue.load(saved))) });
}

/** Where runs stand is not looked at when a state is written in an earlier form: it is saved alike. */
const asSaved = anyValue as unknown as Codec<SavedRun['state']>;

/** What version 2 of a pattern's state had, of one that was saved in version 3: a capture and a row for each event. */
export function patternOneByOne(saved: Value): Value {
  const { runs, ...memory } = latest(asSaved).load(saved);
  const each = Array.from(runs, ({ progress, accepted, ...run }) => ({
    ...run,
    progress: { ...progress, captures: capturesOneByOne(progress.captures, copyOf) },
    accepted: accepted && capturesOneByOne(accepted, copyOf),
  }));
  return ['pattern 2', ...membersOf({ ...memory, runs: each }, version2(asSaved))];
}

const copyOf = (row: Row): Row => ({ ...row });

/** What version 1 of a pattern's state had, of one that was saved in version 2. */
export function earlierPattern(saved: Value): Value {
  return ['pattern 1', ...earlierState(asSaved).save(version2(asSaved).load(saved))];
}

/** Behind the name and the version. */
function membersOf(memory: PatternMemory, codec: Codec<PatternMemory>): ValueArray {
  return (codec.save(memory) as ValueArray).slice(1);
}

function version2(savedProgress: Codec<SavedRun['state']>): Codec<PatternMemory> {
  const earlier = earlierState(savedProgress);
  const own: Codec<PatternMemory> = codecOf(savedProgress, capturesOneEach, {
    version: 2,
    upgrade: { 1: (saved) => membersOf(earlier.load(saved), own) },
  });
  return own;
}

function latest(savedProgress: Codec<SavedRun['state']>): Codec<PatternMemory> {
  const [first, second] = [earlierState(savedProgress), version2(savedProgress)];
  const own: Codec<PatternMemory> = codecOf(savedProgress, savedCaptures, {
    version: 3,
    upgrade: {
      1: (saved) => membersOf(first.load(saved), second),
      2: (saved) => membersOf(second.load(['pattern 2', ...saved]), own),
    },
  });
  return own;
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
      return { ...memory, runs: runsOf(runs, { rowAt: rowsOf(rows, shared), received: memory.received }) };
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
  return captures.map((top) =>
    heldInOrder(top).map(({ row, at, element, times }) => ({ row: positions.get(row) as number, at, element, times })),
  );
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

interface Held {
  readonly rowAt: (position: number) => Row;
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

function capturesOf(saved: SavedCaptures, { rowAt, received }: Held): Captures {
  return saved.map((taken) => {
    let top: Capture | null = null;
    for (const { row, at, element, times } of taken) {
      if (times !== 1 && (times < 1 || times > received)) throw new DamagedState(times, `a number of events, of ${received}`);
      top = new Capture(rowAt(row), at, element, top, times);
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
