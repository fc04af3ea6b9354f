import { nestedOperandsMax } from '../../ast/operator-chain.ts';
import type { LocalExpression, PlanExpression, PlanStatement } from '../../plan/plan.ts';
import type { NameScope } from '../scope.ts';

type Combine = (left: PlanExpression, right: PlanExpression) => PlanExpression;

/**
 * Operands of an operator that groups either way (`and`, `or`, `??`), from left to right: a long list as a tree of
 * halves, so that nothing behind the checker goes deep for it.
 */
export function combined(operands: readonly PlanExpression[], combine: Combine): PlanExpression {
  return operands.length > nestedOperandsMax ? halved(operands, combine) : operands.reduce(combine);
}

function halved(operands: readonly PlanExpression[], combine: Combine): PlanExpression {
  if (operands.length <= 2) return operands.reduce(combine);
  const middle = operands.length >>> 1;
  return combine(halved(operands.slice(0, middle), combine), halved(operands.slice(middle), combine));
}

/** Steps between two locals of a stepped value. */
const stepsPerLocal = 16;

/** A value that is made step by step, as long sums are: every few steps it is put into a local, and the next go on from there. */
export class SteppedValue {
  readonly #scope: NameScope;
  readonly #statements: PlanStatement[] = [];
  #value: PlanExpression;
  #steps = 0;

  constructor(scope: NameScope, value: PlanExpression) {
    this.#scope = scope;
    this.#value = value;
  }

  /** What the next step goes on from. */
  get value(): PlanExpression {
    return this.#value;
  }

  step(next: PlanExpression): void {
    this.#value = next;
    if (next.kind !== 'constant' && ++this.#steps % stepsPerLocal === 0) this.#keep();
  }

  #keep(): void {
    const local: LocalExpression = { kind: 'local', slot: this.#scope.frame.allocate(), type: this.#value.type };
    this.#statements.push({ kind: 'set_local', slot: local.slot, value: this.#value });
    this.#value = local;
  }

  result(): PlanExpression {
    if (this.#statements.length === 0) return this.#value;
    return { kind: 'block', body: [...this.#statements, { kind: 'return', value: this.#value }], type: this.#value.type };
  }
}
