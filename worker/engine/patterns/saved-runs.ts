import type { Value } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { savedOrder } from '../sources/event-order.ts';
import { anyValue, type Codec, count, countBelow, flag, list, number, orNull, record, type Saved, stateOf, text } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { savedRow } from '../state/saved-row.ts';
import { Capture, type Captures, capturesInOrder } from './captures.ts';
import type { PartialMatch } from './run.ts';
import type { StateSpace } from './state-space.ts';

/** What a pattern keeps, in whatever form it keeps its runs. */
export interface PatternMemory {
  /** The rows that wait for those that came before them; null where rows are seen as they come. */
  readonly order: Saved<typeof savedOrder>;
  /** Rows received. */
  readonly received: number;
  /** The highest event time of each key that can expire. */
  readonly expiry: ReadonlyMap<string, number>;
  /** In order of creation. */
  readonly runs: readonly PartialMatch[];
}

/** By slot, three numbers for each capture: the row's position among those saved, the event's position, the element. */
const savedCaptures = list(list(number));

const savedBeginning = record({ at: number, time: number, lastTime: number });

/** The states of before had no name, and stood in each other. */
const unnamedState = record({
  order: anyValue,
  matcher: record({ received: anyValue, expiry: anyValue, held: record({ rows: anyValue, runs: anyValue }) }),
});

/** The state of a pattern, each event that runs hold once. */
export function patternState(space: StateSpace): Codec<PatternMemory> {
  const savedProgress: Codec<PartialMatch['progress']['state']> = {
    save: (state) => space.save(state),
    load: onceEach((saved) => space.load(anyValue.load(saved))),
  };
  const savedRun = record({
    key: text,
    beginning: savedBeginning,
    state: savedProgress,
    base: number,
    captures: savedCaptures,
    accepted: orNull(savedCaptures),
    emittedElements: count,
    hasMatched: flag,
  });
  const savedState = stateOf({
    name: 'pattern',
    version: 1,
    members: { order: savedOrder, received: count, expiry: savedExpiry, rows: list(savedRow), runs: list(savedRun) },
    unnamed: (saved) => {
      const { order, matcher } = unnamedState.load(saved);
      return [order, matcher.received, matcher.expiry, matcher.held.rows, matcher.held.runs];
    },
  });
  return {
    save: ({ order, received, expiry, runs }) => {
      const positions = new Map<Row, number>();
      const saved = runs.map((run) => {
        const { key, began, firstTime, lastTime, accepted, emittedElements, hasMatched } = run;
        const { state, base, captures } = run.progress;
        return {
          key,
          beginning: { at: began, time: firstTime, lastTime },
          state,
          base,
          captures: numbersOf(captures, positions),
          accepted: accepted && numbersOf(accepted, positions),
          emittedElements,
          hasMatched,
        };
      });
      return savedState.save({ order, received, expiry, rows: [...positions.keys()], runs: saved });
    },
    load: (saved: Value | undefined) => {
      const { order, received, expiry, rows, runs } = savedState.load(saved);
      const loaded = runs.map((run, serial): PartialMatch => {
        const { key, beginning, state, base, emittedElements, hasMatched } = run;
        return {
          key,
          began: beginning.at,
          firstTime: beginning.time,
          lastTime: beginning.lastTime,
          serial,
          progress: { state, base, captures: capturesOf(run.captures, rows) },
          accepted: run.accepted && capturesOf(run.accepted, rows),
          emittedElements,
          hasMatched,
        };
      });
      return { order, received, expiry, runs: loaded };
    },
  };
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

function numbersOf(captures: Captures, positions: Map<Row, number>): readonly (readonly number[])[] {
  return captures.map((top) => capturesInOrder(top).flatMap(({ row, at, element }) => [positionOf(row, positions), at, element]));
}

function positionOf(row: Row, positions: Map<Row, number>): number {
  const known = positions.get(row);
  if (known !== undefined) return known;
  positions.set(row, positions.size);
  return positions.size - 1;
}

function capturesOf(saved: Saved<typeof savedCaptures>, rows: readonly Row[]): Captures {
  const position = countBelow(rows.length);
  return saved.map((numbers) => {
    let top: Capture | null = null;
    for (let index = 0; index < numbers.length; index += 3) {
      const [row, at, element] = numbers.slice(index, index + 3) as [number, number, number];
      top = new Capture(rows[position.load(row)] as Row, at, element, top);
    }
    return top;
  });
}
