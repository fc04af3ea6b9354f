import { compareValues } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import { isArray, isMap, kindOf } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { OrderByPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment, WindowFrame } from './operator.ts';
import { type Evaluate, type Row, scopeOf } from './row.ts';

interface Sorted {
  readonly row: Row;
  readonly keys: readonly Value[];
}

/** `.order_by(e [desc], ..)`: holds the rows of a closing window and hands them on in order: nulls last, ties as they came. It ends in one go, so nothing is saved. */
export class OrderBy extends BasicOperator {
  readonly #items: readonly { readonly value: Evaluate; readonly sign: 1 | -1 }[];
  #rows: Sorted[] = [];
  /** The kind that each key of this window has: values of two kinds do not order. */
  #kinds: (string | undefined)[] = [];

  constructor(plan: OrderByPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#items = plan.items.map(({ value, descending }) => ({ value: environment.evaluator(value), sign: descending ? -1 : 1 }));
  }

  process(row: Row): void {
    const scope = scopeOf(row);
    const keys = this.#items.map(({ value }) => value(scope));
    keys.forEach((key, position) => {
      if (key === null) return;
      const kind = orderedKind(key);
      if ((this.#kinds[position] ?? kind) !== kind) throw new EvaluationError(`cannot order ${kindOf(key)} and ${this.#kinds[position]}`);
      this.#kinds[position] = kind;
    });
    this.#rows.push({ row, keys });
  }

  override endWindow(frame: WindowFrame): void {
    const rows = this.#rows.sort((a, b) => this.#compare(a, b));
    this.#rows = [];
    this.#kinds = [];
    for (const { row } of rows) this.next.process(row);
    super.endWindow(frame);
  }

  #compare(a: Sorted, b: Sorted): number {
    for (let position = 0; position < this.#items.length; position++) {
      const left = a.keys[position] ?? null;
      const right = b.keys[position] ?? null;
      if (left === null && right === null) continue;
      if (left === null || right === null) return left === null ? 1 : -1;
      const compared = compareValues(left, right) ?? 0;
      if (compared !== 0) return compared * (this.#items[position]?.sign ?? 1);
    }
    return 0;
  }
}

/** @throws EvaluationError for what has no order. */
function orderedKind(value: Exclude<Value, null>): string {
  if (isArray(value) || isMap(value)) throw new EvaluationError(`cannot order by ${kindOf(value)}`);
  const kind = kindOf(value);
  return kind === 'float' ? 'int' : kind;
}
