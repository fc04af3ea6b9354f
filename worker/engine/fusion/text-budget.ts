import type { Plan } from '../../../shared/language/plan/plan.ts';

/** Members of a plan that say nothing of how much there is to do: where it stood, what it is called by, types. */
const APART: ReadonlySet<string> = new Set(['origin', 'text', 'fingerprint', 'type', 'resultType', 'events', 'functions', 'connectors']);

/** Operators that may be decided for each object of the plan, and for any program. */
const PER_OBJECT = 4;
const BASE = 1_024;

/**
 * Forms of operators that may be decided for a program, so that its generated code stays a small multiple of the plan. What would be more runs
 * operator by operator. Functions that are shared keep every program far below; this stands behind that.
 */
export class TextBudget {
  readonly #plan: Plan;
  #operators = 0;
  /** Known when it matters: a plan may be large. */
  #operatorsMax: number | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** To be called for each operator that is decided in one more form. */
  spend(): void {
    this.#operators++;
  }

  get isSpent(): boolean {
    if (this.#operators <= BASE) return false;
    this.#operatorsMax ??= BASE + PER_OBJECT * objectsOf(this.#plan);
    return this.#operators > this.#operatorsMax;
  }
}

/** Objects of a plan, whatever their kind. */
export function objectsOf(plan: Plan): number {
  let count = 0;
  const open: unknown[] = [plan];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    if (!Array.isArray(one)) count++;
    for (const [name, member] of Object.entries(one)) if (!APART.has(name)) open.push(member);
  }
  return count;
}
