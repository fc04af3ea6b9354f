import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Row } from '../../operators/row.ts';
import type { RowBlock } from '../../patterns/captures.ts';
import type { FusedRun } from './fused-run.ts';
import { historyIn, keptIn, pastOfRows, rowsTakenTogether } from './kept-matches.ts';
import type { KernelForm } from './kernel-form.ts';
import type { Kept } from './run-form.ts';
import type { SharedClosureLog } from './shared-closure-log.ts';
import type { SavedTogether, TakenTogether } from './taken-together.ts';

/** Makes the rows of what lists have taken together, once for all runs of a list: for one look at all runs. */
export class BlocksOfLists {
  readonly #form: KernelForm;
  readonly #blocks = new Map<SharedClosureLog, readonly Row[]>();

  constructor(form: KernelForm) {
    this.#form = form;
  }

  /** Of a run that has not yet taken over what its list holds. Null = nothing is kept of each event. */
  takenBy(run: FusedRun, shared: SharedClosureLog): TakenTogether | null {
    const slot = this.#form.sharedSlots[run.state] as number;
    if (historyIn(slot, this.#form) === undefined) return null;
    let block = this.#blocks.get(shared);
    if (block === undefined) {
      block = rowsTakenTogether(shared.past, run, slot, this.#form);
      this.#blocks.set(shared, block);
    }
    return { slot, block, events: shared.taken - (run.seen as number) };
  }
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
    let known = this.#lists.get(shared);
    if (isAlone) {
      known = { block, end, events, last };
      this.#lists.set(shared, known);
      this.#give(run, shared, together);
    }
    const isSame = known !== undefined && known.block === block && known.end === end && known.events >= events;
    if (isSame && this.#areSame(known?.last ?? [], last, slot)) {
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

  #areSame(one: readonly unknown[], other: readonly unknown[], slot: number): boolean {
    return this.#form.historyOf(slot).columns.every(({ aspect }, at) => {
      const [a, b] = [one[at], other[at]];
      if (aspect === 'row') return (a as Row | null)?.order === (b as Row | null)?.order;
      return Object.is(a, b) || (aspect === 'causes' || aspect === 'field' ? keyOf([a as Value]) === keyOf([b as Value]) : false);
    });
  }
}

function set(run: FusedRun, { property }: Kept, value: unknown): void {
  (run as unknown as Record<string, unknown>)[property] = value;
}
