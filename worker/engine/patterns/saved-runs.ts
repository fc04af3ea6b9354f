import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { Capture, type Captures, capturesInOrder } from './captures.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { StateSpace } from './state-space.ts';

/** The runs in order of creation, and each event that they hold once. */
export function saveRuns(runs: readonly Run[], space: StateSpace): Value {
  const rows = new Map<Row, number>();
  const saved = runs.map((run) => [
    run.partition.key,
    [run.began, run.firstTime, run.lastTime],
    space.save(run.progress.state),
    run.progress.base,
    saveCaptures(run.progress.captures, rows),
    run.accepted && saveCaptures(run.accepted, rows),
    run.emittedElements,
    run.hasMatched,
  ]);
  return [[...rows.keys()].map(saveRow), saved];
}

export function loadRuns(saved: Value, store: RunStore, space: StateSpace): void {
  const [savedRows, runs] = saved as ValueArray;
  const rows = (savedRows as ValueArray).map(loadRow);
  for (const one of runs as ValueArray) {
    const [key, beginning, state, base, captures, accepted, emittedElements, hasMatched] = one as ValueArray;
    const progress = { state: space.load(state as Value), captures: loadCaptures(captures as Value, rows), base: base as number };
    const [at, time, lastTime] = beginning as [number, number, number];
    const run = store.open(key as string, progress, { at, time, lastTime });
    run.accepted = accepted === null ? null : loadCaptures(accepted as Value, rows);
    run.emittedElements = emittedElements as number;
    run.hasMatched = hasMatched as boolean;
  }
}

/** By slot, three numbers for each capture: row, position, element. */
function saveCaptures(captures: Captures, rows: Map<Row, number>): Value {
  return captures.map((top) => capturesInOrder(top).flatMap(({ row, at, element }) => [indexOf(row, rows), at, element]));
}

function indexOf(row: Row, rows: Map<Row, number>): number {
  const known = rows.get(row);
  if (known !== undefined) return known;
  rows.set(row, rows.size);
  return rows.size - 1;
}

function loadCaptures(saved: Value, rows: readonly Row[]): Captures {
  return (saved as ValueArray).map((slot) => {
    const numbers = slot as readonly number[];
    let top: Capture | null = null;
    for (let index = 0; index < numbers.length; index += 3) {
      const [row, at, element] = numbers.slice(index, index + 3) as [number, number, number];
      top = new Capture(rows[row] as Row, at, element, top);
    }
    return top;
  });
}
