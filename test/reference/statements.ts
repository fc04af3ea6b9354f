import type { Value } from '../../shared/events/value.ts';
import { holds } from '../../shared/language/functions/truth.ts';
import type { PlanExpression, PlanStatement } from '../../shared/language/plan/plan.ts';
import { itemsOf, rangeItems } from '../../worker/engine/evaluate/loop-items.ts';
import type { Activation } from '../../worker/engine/evaluate/step-budget.ts';
import type { Evaluate, Scope } from '../../worker/engine/operators/row.ts';

/** How a statement ended: the next one follows, or a loop or the whole body is left. */
type Completion = 'next' | 'break' | 'continue' | 'return';

/** A statement, or a body of them, ready to run. */
export type Run = (scope: Scope, activation: Activation) => Completion;

/** What statements need of the program around them. */
export interface StatementHost {
  expression(plan: PlanExpression): Evaluate;
  writeGlobal(index: number, value: Value): void;
  /** @throws EvaluationError outside of `.process`. */
  emit(type: string, fields: Map<string, Value>): void;
}

type Prepare<K extends PlanStatement['kind']> = (statement: Extract<PlanStatement, { kind: K }>, host: StatementHost) => Run;

/** Total: a new kind of statement does not compile until it is handled. */
const prepare: { readonly [K in PlanStatement['kind']]: Prepare<K> } = {
  set_local: ({ slot, value }, host) => {
    const evaluate = host.expression(value);
    return (scope) => {
      scope.locals[slot] = evaluate(scope);
      return 'next';
    };
  },
  set_global: ({ global, value }, host) => {
    const evaluate = host.expression(value);
    return (scope) => {
      host.writeGlobal(global, evaluate(scope));
      return 'next';
    };
  },
  if: prepareIf,
  for: prepareFor,
  while: prepareWhile,
  break: () => () => 'break',
  continue: () => () => 'continue',
  return: ({ value }, host) => {
    const evaluate = value && host.expression(value);
    return (scope, activation) => {
      activation.return(evaluate === null ? null : evaluate(scope));
      return 'return';
    };
  },
  emit: prepareEmit,
  expression: ({ value }, host) => {
    const evaluate = host.expression(value);
    return (scope) => {
      evaluate(scope);
      return 'next';
    };
  },
};

export function prepareStatements(statements: readonly PlanStatement[], host: StatementHost): Run {
  const runs = statements.map((statement) =>
    (prepare[statement.kind] as (statement: PlanStatement, host: StatementHost) => Run)(statement, host),
  );
  return (scope, activation) => {
    for (const run of runs) {
      const completion = run(scope, activation);
      if (completion !== 'next') return completion;
    }
    return 'next';
  };
}

function prepareIf(statement: Extract<PlanStatement, { kind: 'if' }>, host: StatementHost): Run {
  const branches = statement.branches.map(({ condition, body }) => ({
    condition: host.expression(condition),
    body: prepareStatements(body, host),
  }));
  const otherwise = prepareStatements(statement.otherwise, host);
  return (scope, activation) => {
    for (const branch of branches) if (holds(branch.condition(scope))) return branch.body(scope, activation);
    return otherwise(scope, activation);
  };
}

function prepareFor(statement: Extract<PlanStatement, { kind: 'for' }>, host: StatementHost): Run {
  const items = prepareItems(statement.iterable, host);
  const body = prepareStatements(statement.body, host);
  return (scope, activation) => {
    for (const item of items(scope)) {
      activation.loopStep();
      scope.locals[statement.slot] = item;
      const completion = body(scope, activation);
      if (completion === 'return') return completion;
      if (completion === 'break') break;
    }
    return 'next';
  };
}

function prepareWhile(statement: Extract<PlanStatement, { kind: 'while' }>, host: StatementHost): Run {
  const condition = host.expression(statement.condition);
  const body = prepareStatements(statement.body, host);
  return (scope, activation) => {
    while (holds(condition(scope))) {
      activation.loopStep();
      const completion = body(scope, activation);
      if (completion === 'return') return completion;
      if (completion === 'break') break;
    }
    return 'next';
  };
}

/** A range is walked without making its array, so the limit of loop steps is the one that counts. */
function prepareItems(plan: PlanExpression, host: StatementHost): (scope: Scope) => Iterable<Value> {
  if (plan.kind !== 'range') {
    const evaluate = host.expression(plan);
    return (scope) => itemsOf(evaluate(scope));
  }
  const from = host.expression(plan.from);
  const to = host.expression(plan.to);
  return (scope) => rangeItems(from(scope), to(scope), plan.inclusive);
}

function prepareEmit(statement: Extract<PlanStatement, { kind: 'emit' }>, host: StatementHost): Run {
  const items = statement.items.map(({ name, value }) => ({ name, value: host.expression(value) }));
  return (scope) => {
    const fields = new Map<string, Value>();
    for (const item of items) fields.set(item.name, item.value(scope));
    host.emit(statement.type, fields);
    return 'next';
  };
}
