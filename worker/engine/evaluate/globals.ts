import type { Value } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { GlobalPlan } from '../../../shared/language/plan/plan.ts';

/** The program's `let`s and `var`s. One that another needs while they are loaded is evaluated first, whatever their order. */
export class Globals {
  readonly #plans: readonly GlobalPlan[];
  readonly #evaluate: (plan: GlobalPlan) => Value;
  readonly #values: (Value | undefined)[] = [];
  readonly #loading = new Set<number>();

  constructor(plans: readonly GlobalPlan[], evaluate: (plan: GlobalPlan) => Value) {
    this.#plans = plans;
    this.#evaluate = evaluate;
  }

  load(): void {
    for (let index = 0; index < this.#plans.length; index++) this.read(index);
  }

  read(index: number): Value {
    const value = this.#values[index];
    return value === undefined ? this.#first(index) : value;
  }

  /** @throws EvaluationError when the value is too large to be kept. */
  write(index: number, value: Value): void {
    requireBounded(value);
    this.#values[index] = value;
  }

  #first(index: number): Value {
    const plan = this.#plans[index] as GlobalPlan;
    if (this.#loading.has(index)) throw new EvaluationError(`${plan.name} depends on itself`);
    this.#loading.add(index);
    const value = this.#evaluate(plan);
    this.#loading.delete(index);
    this.write(index, value);
    return value;
  }

  save(): Map<string, Value> {
    const saved = new Map<string, Value>();
    this.#plans.forEach((plan, index) => {
      if (plan.binding === 'var') saved.set(plan.name, this.read(index));
    });
    return saved;
  }

  restore(saved: ReadonlyMap<string, Value>): void {
    this.#plans.forEach((plan, index) => {
      const value = saved.get(plan.name);
      if (plan.binding === 'var' && value !== undefined) this.#values[index] = value;
    });
  }
}
