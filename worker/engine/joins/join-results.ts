import type { Value } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { plus } from '../time/instants.ts';

/** An open event may have any names: those beyond are made anew. */
const NAMES_KEPT_MAX = 1_000;

/** Makes the results of a join. */
export class JoinResults {
  readonly #plan: JoinSourcePlan;
  /** Names of fields, by side: made once, as the same ones come with every event. */
  readonly #names: readonly Map<string, string>[];

  constructor(plan: JoinSourcePlan) {
    this.#plan = plan;
    this.#names = plan.sides.map(() => new Map());
  }

  /** `bound`: the row of each side, null where there is none. `arriving`: the row that made the result. */
  of(bound: readonly (Row | null)[], arriving: Row): Row {
    const fields = new Map<string, Value>();
    let time = -Infinity;
    bound.forEach((row, side) => {
      if (row === null) {
        for (const name of this.#plan.sides[side]?.fieldNames ?? []) fields.set(this.#nameOf(side, name), null);
        return;
      }
      for (const [name, value] of row.fields) fields.set(this.#nameOf(side, name), value);
      time = Math.max(time, row.time);
    });
    const causes = mergeCauses(bound.map((row) => row?.causes ?? []));
    return { type: arriving.type, time, order: arriving.order, fields, bound, attributes: null, causes };
  }

  /** A field's name in a result. */
  #nameOf(side: number, field: string): string {
    const names = this.#names[side] as Map<string, string>;
    let name = names.get(field);
    if (name === undefined) {
      name = joinedName((this.#plan.sides[side] as { name: string }).name, field);
      if (names.size < NAMES_KEPT_MAX) names.set(field, name);
    }
    return name;
  }
}

/** The name that a field of one side has in results. */
export function joinedName(side: string, field: string): string {
  return `${side}_${field}`;
}

/** The arrival numbers of several rows: sorted, each once. */
export function mergeCauses(causes: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(causes.flat())].sort((a, b) => a - b);
}

/** Whether two times (ms) are within `withinMs` of each other; null = any two are. */
export function areNear(a: number, b: number, withinMs: number | null): boolean {
  return withinMs === null || Math.max(a, b) <= plus(Math.min(a, b), withinMs);
}
