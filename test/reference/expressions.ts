import { InvariantError, invariant } from '../../shared/errors/error.ts';
import { makeEntries, makeNewItems, makeText } from '../../shared/events/making.ts';
import { toText } from '../../shared/events/text.ts';
import type { Value } from '../../shared/events/value.ts';
import { field, index, range, slice } from '../../shared/language/functions/arithmetic.ts';
import type { CallContext, FunctionValue } from '../../shared/language/functions/descriptor.ts';
import { aggregateOver, functionOver } from '../../shared/language/functions/index.ts';
import { holds, truth } from '../../shared/language/functions/truth.ts';
import {
  type CallExpression,
  type ClosureAggregateExpression,
  type LambdaExpression,
  type LogicalExpression,
  type PlanExpression,
  type PlanExpressionVisitor,
  type RowExpression,
  type TemplateExpression,
  visitPlanExpression,
} from '../../shared/language/plan/plan.ts';
import { binaryOperations, unaryOperations } from '../../worker/engine/evaluate/operations.ts';
import { attributeOf, capturesOf, fieldOf } from '../../worker/engine/evaluate/row-reading.ts';
import { Activation, type StepBudget } from '../../worker/engine/evaluate/step-budget.ts';
import type { Evaluate, Row, Scope } from '../../worker/engine/operators/row.ts';
import { findRow } from './find-row.ts';
import { prepareStatements, type StatementHost } from './statements.ts';

/** What expressions need of the program around them. */
export interface ExpressionHost extends StatementHost {
  readonly budget: StepBudget;
  readGlobal(index: number): Value;
  invoke(index: number, args: readonly Value[], row: Row): Value;
}

/** Makes expressions ready to run: one closure per node of the plan. Total: a new kind does not compile until it is handled. */
export function createExpressions(host: ExpressionHost): (plan: PlanExpression) => Evaluate {
  const expression = (plan: PlanExpression): Evaluate => visitPlanExpression(plan, visitor);
  const visitor: PlanExpressionVisitor<Evaluate> = {
    constant:
      ({ value }) =>
      () =>
        value,
    field: ({ of, name }) => {
      if (of.kind === 'current') return (scope) => fieldOf(scope.row, name);
      const find = findRow(of, expression);
      return (scope) => {
        const row = find(scope);
        return row === null ? null : fieldOf(row, name);
      };
    },
    attribute: ({ of, name }) => {
      const find = findRow(of, expression);
      return (scope) => {
        const row = find(scope);
        return row === null ? null : attributeOf(row, name);
      };
    },
    row: ({ of }) => prepareRow(of, expression),
    local:
      ({ slot }) =>
      (scope) =>
        scope.locals[slot] ?? null,
    global: (node) => () => host.readGlobal(node.global),
    aggregate: (node) => (scope) => scope.aggregates[node.index] ?? null,
    closure: (node) => prepareClosureAggregate(node, expression),
    unless_first: ({ slot, condition }) => {
      const evaluate = expression(condition);
      return (scope) => (capturesOf(scope.bound[slot]).length === 0 ? true : evaluate(scope));
    },
    unary: ({ operator, operand }) => {
      const evaluate = expression(operand);
      const operation = unaryOperations[operator];
      return (scope) => operation(evaluate(scope));
    },
    binary: (node) => {
      const left = expression(node.left);
      const right = expression(node.right);
      const operation = binaryOperations[node.operator];
      return (scope) => operation(left(scope), right(scope));
    },
    logical: ({ operator, left, right }) => prepareLogical(operator, expression(left), expression(right)),
    is_null: ({ operand, negated }) => {
      const evaluate = expression(operand);
      return (scope) => (evaluate(scope) === null) !== negated;
    },
    if: (node) => {
      const condition = expression(node.condition);
      const then = expression(node.then);
      const otherwise = expression(node.otherwise);
      return (scope) => (holds(condition(scope)) ? then(scope) : otherwise(scope));
    },
    array: ({ items }) => {
      const evaluates = items.map(expression);
      return (scope) => made(evaluates.map((evaluate) => evaluate(scope)));
    },
    map: ({ entries }) => {
      const evaluates = entries.map(({ key, value }) => [key, expression(value)] as const);
      return (scope) => {
        const items = evaluates.map(([key, evaluate]) => [key, evaluate(scope)] as const);
        makeEntries(items.length);
        return new Map(items);
      };
    },
    member: ({ object, name }) => {
      const evaluate = expression(object);
      return (scope) => field(evaluate(scope), name);
    },
    index: (node) => {
      const object = expression(node.object);
      const position = expression(node.index);
      return (scope) => index(object(scope), position(scope));
    },
    slice: (node) => {
      const object = expression(node.object);
      const from = node.from && expression(node.from);
      const to = node.to && expression(node.to);
      return (scope) => slice(object(scope), from === null ? undefined : from(scope), to === null ? undefined : to(scope));
    },
    range: (node) => {
      const from = expression(node.from);
      const to = expression(node.to);
      return (scope) => range(from(scope), to(scope), node.inclusive);
    },
    template: (node) => prepareTemplate(node, expression),
    call: (node) => prepareCall(node, expression, host.budget),
    invoke: (node) => {
      const args = node.arguments.map(expression);
      return (scope) =>
        host.invoke(
          node.function,
          args.map((evaluate) => evaluate(scope)),
          scope.row,
        );
    },
    lambda: () => {
      throw new InvariantError('a lambda is only an argument of a function');
    },
    block: ({ body }) => {
      const run = prepareStatements(body, host);
      return (scope) => {
        const activation = new Activation(host.budget);
        run(scope, activation);
        return activation.returned;
      };
    },
  };
  return expression;
}

function made(items: readonly Value[]): Value {
  makeNewItems(items.length);
  return items;
}

function prepareRow(of: RowExpression['of'], expression: (plan: PlanExpression) => Evaluate): Evaluate {
  if (of.kind === 'items') return (scope) => made(capturesOf(scope.bound[of.slot]).map((row) => row.fields));
  const find = findRow(of, expression);
  return (scope) => find(scope)?.fields ?? null;
}

function prepareLogical(operator: LogicalExpression['operator'], left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case 'and':
      return (scope) => truth(left(scope), 'and') && truth(right(scope), 'and');
    case 'or':
      return (scope) => truth(left(scope), 'or') || truth(right(scope), 'or');
    case '??':
      return (scope) => left(scope) ?? right(scope);
  }
}

/** The aggregate over what a slot holds now; `rate()` and its like divide by last minus first. */
function prepareClosureAggregate(node: ClosureAggregateExpression, expression: (plan: PlanExpression) => Evaluate): Evaluate {
  const descriptor = aggregateOver(node.function, node.argument?.type);
  invariant(descriptor !== undefined, `no aggregate is called ${node.function}`);
  const argument = node.argument && expression(node.argument);
  return (scope) => {
    const rows = capturesOf(scope.bound[node.slot]);
    const accumulator = descriptor.create(node.constants);
    for (const row of rows) {
      accumulator.add(argument === null ? [] : [argument({ ...scope, row })], row.time, row.order);
    }
    return accumulator.result({ lengthMs: (rows.at(-1)?.time ?? 0) - (rows[0]?.time ?? 0) });
  };
}

function prepareTemplate(node: TemplateExpression, expression: (plan: PlanExpression) => Evaluate): Evaluate {
  const parts = node.parts.map((part) => (typeof part === 'string' ? part : expression(part)));
  return (scope) => {
    const texts = parts.map((part) => {
      const value = typeof part === 'string' ? part : part(scope);
      if (typeof value === 'string') return value;
      const text = toText(value);
      makeText(text.length);
      return text;
    });
    makeText(texts.reduce((length, text) => length + text.length, 0));
    return texts.join('');
  };
}

function prepareCall(node: CallExpression, expression: (plan: PlanExpression) => Evaluate, budget: StepBudget): Evaluate {
  const descriptor = functionOver(node.function, node.arguments[0]?.type);
  invariant(descriptor !== undefined, `no function is called ${node.function}`);
  const propagates = descriptor.nulls === 'propagate';
  const args = node.arguments.map((argument) =>
    argument.kind === 'lambda' ? prepareLambda(argument, expression(argument.body), budget) : expression(argument),
  );
  return (scope) => {
    const values: (Value | FunctionValue)[] = [];
    let hasNull = false;
    for (const arg of args) {
      const value = arg(scope);
      if (value === null) hasNull = true;
      values.push(value);
    }
    return hasNull && propagates ? null : descriptor.evaluate(values, new Now(scope.row.time));
  };
}

class Now implements CallContext {
  readonly now: number;
  constructor(now: number) {
    this.now = now;
  }
}

function prepareLambda(node: LambdaExpression, body: Evaluate, budget: StepBudget): (scope: Scope) => FunctionValue {
  const { parameters } = node;
  return (scope) =>
    (...args) => {
      budget.step();
      parameters.forEach((slot, position) => {
        scope.locals[slot] = args[position] ?? null;
      });
      return body(scope);
    };
}
