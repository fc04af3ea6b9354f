import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { savedOrder } from '../sources/event-order.ts';
import { anyValue, type Codec, count, countBelow, flag, list, number, orNull, record, type Saved, text } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { savedRow } from '../state/saved-row.ts';
import { Capture, type Captures, capturesInOrder } from './captures.ts';
import type { PatternMemory } from './pattern-memory.ts';
import type { PartialMatch } from './run.ts';

/** By slot, three numbers for each capture: the row's position among those saved, the event's position, the element. */
const savedCaptures = list(list(number));

const savedBeginning = record({ at: number, time: number, lastTime: number });

/** The states of before had no name, and stood in each other. */
const unnamedState = record({
  order: anyValue,
  matcher: record({ received: anyValue, expiry: anyValue, held: record({ rows: anyValue, runs: anyValue }) }),
});

/** The members of version 1 in a state without a name. @throws DamagedState */
export function membersOfUnnamed(saved: Value): ValueArray {
  const { order, matcher } = unnamedState.load(saved);
  return [order, matcher.received, matcher.expiry, matcher.held.rows, matcher.held.runs];
}

/** What version 1 saved of a pattern: a list for each row and each run. It is written while a worker of that version is in the cluster. */
export function earlierState(savedProgress: Codec<PartialMatch['progress']['state']>): {
  readonly save: (memory: PatternMemory) => ValueArray;
  readonly load: (members: ValueArray) => PatternMemory;
} {
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
  const members = record({ order: savedOrder, received: count, expiry: savedExpiry, rows: list(savedRow), runs: list(savedRun) });
  return {
    save: ({ runs, ...memory }) => {
      const positions = new Map<Row, number>();
      const saved = Array.from(runs, ({ key, began, firstTime, lastTime, progress, accepted, emittedElements, hasMatched }) => ({
        ...{ key, beginning: { at: began, time: firstTime, lastTime }, state: progress.state, base: progress.base },
        captures: savedOf(progress.captures, positions),
        accepted: accepted && savedOf(accepted, positions),
        ...{ emittedElements, hasMatched },
      }));
      return members.save({ ...memory, rows: [...positions.keys()], runs: saved }) as ValueArray;
    },
    load: (saved) => {
      const { order, received, expiry, rows, runs } = members.load(saved);
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

/** Rows that have no position yet get the next one. */
function savedOf(captures: Captures, positions: Map<Row, number>): Saved<typeof savedCaptures> {
  return captures.map((top) =>
    capturesInOrder(top).flatMap(({ row, at, element }) => {
      const position = positions.get(row) ?? positions.size;
      positions.set(row, position);
      return [position, at, element];
    }),
  );
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
