import type { Value } from '../../../shared/events/value.ts';
import { requireBounded, sizeOfValue } from '../../../shared/events/value-limits.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { fitsType, misfitText } from '../../../shared/language/functions/type-fit.ts';
import type { GlobalPlan, Origin } from '../../../shared/language/plan/plan.ts';
import { printType } from '../../../shared/language/plan/types.ts';
import { limits } from '../../../shared/limits.ts';
import { evaluationFailure } from './failure.ts';

/** A value of the program fails before its first event; the message says which, and where it stands. */
class GlobalFailure extends EvaluationError {}

/** The program's `let`s and `var`s. One that another needs while they are loaded is evaluated first, whatever their order. */
export class Globals {
  readonly #plans: readonly GlobalPlan[];
  readonly #evaluate: (plan: GlobalPlan) => Value;
  readonly #values: (Value | undefined)[] = [];
  readonly #loading = new Set<number>();
  readonly #sizes: number[] = [];
  #size = 0;

  constructor(plans: readonly GlobalPlan[], evaluate: (plan: GlobalPlan) => Value) {
    this.#plans = plans;
    this.#evaluate = evaluate;
  }

  /** Evaluates what has not been asked for yet. @throws EvaluationError that names the value which fails. */
  load(): void {
    for (let index = 0; index < this.#plans.length; index++) this.read(index);
  }

  /** An assignment at the top of the program. @throws EvaluationError that names it. */
  assign(index: number, value: () => Value, origin: Origin): void {
    this.#named(index, origin, () => this.write(index, value()));
  }

  read(index: number): Value {
    const value = this.#values[index];
    return value === undefined ? this.#first(index) : value;
  }

  /** @throws EvaluationError when the value is too large to be kept, or not of the type that readers rely on. */
  write(index: number, value: Value): void {
    const { name, type } = this.#plans[index] as GlobalPlan;
    if (!fitsType(value, type)) throw new EvaluationError(`${name}: expected ${printType(type)}, found ${misfitText(value, type)}`);
    requireBounded(value);
    const size = sizeOfValue(value);
    const total = this.#size - (this.#sizes[index] ?? 0) + size;
    if (total > limits.programValuesMax) {
      throw new EvaluationError(`the values of a program may hold at most ${limits.programValuesMax} values together`);
    }
    this.#size = total;
    this.#sizes[index] = size;
    this.#values[index] = value;
  }

  #first(index: number): Value {
    const plan = this.#plans[index] as GlobalPlan;
    if (this.#loading.has(index)) throw new EvaluationError(`${plan.name} depends on itself`);
    this.#loading.add(index);
    const value = this.#named(index, plan.origin, () => {
      const first = this.#evaluate(plan);
      this.write(index, first);
      return first;
    });
    this.#loading.delete(index);
    return value;
  }

  /** A value that another one needs has been named already. */
  #named<T>(index: number, { source, span }: Origin, evaluate: () => T): T {
    try {
      return evaluate();
    } catch (thrown) {
      const failure = evaluationFailure(thrown);
      if (failure instanceof GlobalFailure) throw failure;
      const { line, column } = source.position(span.start);
      const file = source.name.split('/').at(-1);
      const { name } = this.#plans[index] as GlobalPlan;
      throw new GlobalFailure(`\`${name}\` (${file}:${line}:${column}) cannot be evaluated: ${failure.message}`, { cause: failure });
    }
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
      // A `var` of the program before may have had another type.
      if (plan.binding === 'var' && value !== undefined && fitsType(value, plan.type)) this.#values[index] = value;
    });
  }
}
