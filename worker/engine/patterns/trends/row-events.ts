import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../../operators/row.ts';
import { bindingsOf, type Captures } from '../captures.ts';
import { type KeepsMonotony, monotonyOf } from '../monotony.ts';
import { buildWatches, type Relevance, type Watch } from '../watch.ts';
import type { TrendEvent } from './trend-groups.ts';
import { type EventValues, summand, type TrendColumn, type TrendColumns } from './trend-totals.ts';

/** Reads rows as events of trends. */
export class RowEvents {
  readonly #keepsMonotony: KeepsMonotony;
  readonly #watches: readonly Watch[];
  readonly #columns: readonly TrendColumn[];
  readonly #arguments: readonly (Evaluate | null)[];
  readonly #readsList: readonly boolean[];

  /** `readsList`: by slot, whether conditions read more than its last event. */
  constructor(pattern: PatternPlan, columns: TrendColumns, readsList: readonly boolean[], environment: OperatorEnvironment) {
    this.#keepsMonotony = monotonyOf(pattern, environment);
    this.#watches = buildWatches(pattern, environment);
    this.#columns = columns.all;
    this.#arguments = columns.all.map(({ argument }) => argument && environment.evaluator(argument));
    this.#readsList = readsList;
  }

  /** `at`: as `TrendEvent` has it. */
  of(row: Row, at: number, { isWatched }: Relevance): TrendEvent {
    const found: (EventValues | undefined)[] = [];
    return {
      time: row.time,
      row,
      at,
      // `.increasing(f)` is a condition on neighbours here; a break ends no trend, as another event may be taken instead.
      fits: (slot, captures) => isWatched[slot] === true && this.#accepts(slot, row, captures) && this.#keepsMonotony(slot, row, captures),
      valuesOf: (slot) => {
        found[slot] ??= this.#columns.map((column, index) => {
          if (column.slot !== slot) return undefined;
          const argument = this.#arguments[index] ?? null;
          return argument === null ? true : summand(column, argument(scopeOf(row)));
        });
        return found[slot];
      },
    };
  }

  #accepts(slot: number, row: Row, captures: Captures): boolean {
    return (this.#watches[slot] as Watch).accepts(row, bindingsOf(captures, this.#readsList));
  }
}
