import type { Row } from '../../operators/row.ts';
import type { RowBlock } from '../../patterns/captures.ts';
import type { FusedRun } from './fused-run.ts';
import type { Past } from './history.ts';
import { historyIn, keptIn, pastOfRows, rowsOfPast, rowsTakenTogether } from './kept-matches.ts';
import type { KernelForm } from './kernel-form.ts';
import type { Kept } from './run-form.ts';
import type { SharedClosureLog } from './shared-closure-log.ts';
import type { SavedTogether, TakenTogether } from './taken-together.ts';

/** Events of a closure, with their rows. */
interface Block {
  readonly past: readonly unknown[];
  readonly rows: readonly Row[];
}

/** Makes the rows of events that many runs have taken, once for all of them: for one look at all runs. */
export class BlocksOfRuns {
  readonly #form: KernelForm;
  readonly #ofLists = new Map<SharedClosureLog, readonly Row[]>();
  /** By slot and key of the partition: the events of a run that holds more of them than those that began later. */
  readonly #ofRuns: readonly Map<FusedRun['key'], Block>[];

  constructor(form: KernelForm) {
    this.#form = form;
    this.#ofRuns = form.plan.steps.map(() => new Map());
  }

  /** What a run has taken with its list, and does not yet keep itself. */
  takenWith(shared: SharedClosureLog, run: FusedRun): ReadonlyMap<number, TakenTogether> {
    const slot = this.#form.sharedSlots[run.state] as number;
    const history = historyIn(slot, this.#form);
    if (history === undefined) return new Map();
    let block = this.#ofLists.get(shared);
    if (block === undefined) {
      block = rowsTakenTogether(shared.past, run, slot, this.#form);
      this.#ofLists.set(shared, block);
    }
    const before = this.#form.historyOf(slot).length(keptIn(run, history) as Past);
    return new Map([[slot, { block, events: shared.taken - (run.seen as number), before }]]);
  }

  /** What a run keeps itself, and others of its partition as well. */
  alikeIn(run: FusedRun): ReadonlyMap<number, TakenTogether> {
    const alike = new Map<number, TakenTogether>();
    for (const kept of this.#form.kept) {
      const past = kept.aspect === 'history' ? (keptIn(run, kept) as Past) : null;
      const found = past === null ? null : this.#alike(past, run, kept.slot);
      if (found !== null) alike.set(kept.slot, found);
    }
    return alike;
  }

  #alike(past: readonly unknown[], run: FusedRun, slot: number): TakenTogether | null {
    const history = this.#form.historyOf(slot);
    const count = history.length(past);
    // Two events or less are the first and the last. By its number, or itself, one event is told from another.
    if (count < 3 || (history.at('order') < 0 && history.at('row') < 0)) return null;
    const events = count - 1;
    let known = this.#ofRuns[slot]?.get(run.key);
    if (known === undefined || known.rows.length <= events || !endsAlike(known.past, past, events * history.columns.length)) {
      known = { past, rows: rowsOfPast(past, run, slot, this.#form) };
      this.#ofRuns[slot]?.set(run.key, known);
    }
    return { block: known.rows, events, before: 1 };
  }
}

/** Whether the last values of two lists are the same. */
function endsAlike(one: readonly unknown[], other: readonly unknown[], length: number): boolean {
  for (let back = 1; back <= length; back++) if (!Object.is(one[one.length - back], other[other.length - back])) return false;
  return true;
}

/** What a list has been given back of what its runs had taken together. */
interface Regained {
  readonly block: RowBlock;
  readonly end: number;
  readonly events: number;
  /** What is kept of the last one. */
  readonly last: readonly unknown[];
}

/** Gives lists back what their runs had taken together, while the runs of a saved state come into them in order of creation. */
export class RegainedLists {
  readonly #form: KernelForm;
  readonly #lists = new Map<SharedClosureLog, Regained>();

  constructor(form: KernelForm) {
    this.#form = form;
  }

  /** The run is in its list, and counts all of its events but keeps only those before `together`. `isAlone`: it is the first there. */
  enter(run: FusedRun, shared: SharedClosureLog, together: SavedTogether, isAlone: boolean): void {
    const { slot, block, end, events } = together;
    const last = pastOfRows([together.last], slot, this.#form);
    if (isAlone) {
      this.#lists.set(shared, { block, end, events, last });
      this.#give(run, shared, together);
    }
    const known = this.#lists.get(shared);
    const isThere = known !== undefined && known.block === block && known.end === end && known.events >= events;
    if (isThere && areSame(known.last, last)) {
      run.seen = shared.taken - events;
      const count = this.#form.kept.find((one) => one.slot === slot && one.aspect === 'count') as Kept;
      set(run, count, (keptIn(run, count) as number) - events);
      return;
    }
    const past = historyIn(slot, this.#form) as Kept;
    set(run, past, [...((keptIn(run, past) as readonly unknown[] | null) ?? []), ...this.#pastOf(together)]);
  }

  #give(run: FusedRun, shared: SharedClosureLog, together: SavedTogether): void {
    const values = this.#form.kept.filter(
      ({ slot, ofFirst, aspect }) => slot === together.slot && !ofFirst && aspect !== 'count' && aspect !== 'history',
    );
    shared.regain(together.events, {
      past: this.#pastOf(together),
      values: values.map((one) => keptIn(run, one)),
      base: run.base ?? 0,
      lastAt: run.lastAt ?? 0,
    });
  }

  #pastOf({ slot, block, end, events, last }: SavedTogether): unknown[] {
    const rows = Array.from({ length: events - 1 }, (_, position) => block.at(end - events + 2 + position) as Row);
    return pastOfRows([...rows, last], slot, this.#form);
  }
}

/** As far as can be told without looking into lists and maps, which may be large: in doubt they are not the same. */
function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((value, at) => isSame(value, other[at]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, at) => item === other[at]);
  return Object.is(one, other) || (isRow(one) && isRow(other) && isSameRow(one, other));
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && 'causes' in value;
}

function isSameRow(one: Row, other: Row): boolean {
  const isAlike = one.type === other.type && one.time === other.time && one.order === other.order && one.fields.size === other.fields.size;
  return isAlike && isSame(one.causes, other.causes) && [...one.fields].every(([name, value]) => isSame(value, other.fields.get(name)));
}

function set(run: FusedRun, { property }: Kept, value: unknown): void {
  (run as unknown as Record<string, unknown>)[property] = value;
}
