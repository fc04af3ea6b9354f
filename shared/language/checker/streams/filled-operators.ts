import type { Argument, Binary, Call, Expression, OperatorCall } from '../../ast/nodes.ts';
import type { ConstantExpression, NamedExpression, OperatorPlan, PlanExpression } from '../../plan/plan.ts';
import { constant } from '../expressions/fold.ts';
import { unwrapped } from '../walk.ts';
import { RowOperator } from './operators/row-operator.ts';

/** The operators of a stream, made from those of another that is written alike; new constants are added to the list. */
export type FilledOperators = (
  operators: readonly OperatorCall[],
  name: string,
  constants: ConstantExpression[],
) => readonly OperatorPlan[];

type FilledOperator = (node: OperatorCall, name: string, constants: ConstantExpression[]) => OperatorPlan;
type FilledExpression = (node: Expression, constants: ConstantExpression[]) => PlanExpression;

/** Of an operator that holds one: the kind of its plan. */
const KINDS: Readonly<Record<string, OperatorPlan['kind']>> = { where: 'filter', filter: 'filter', select: 'select', emit: 'emit' };

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
/** They take any text for what it is. */
const TEXT_FUNCTIONS: ReadonlySet<string> = new Set(['contains', 'starts_with', 'ends_with']);

/**
 * How plans of operators come from each other where the written ones differ in the literals that a loop fills in. `plans` are those of
 * `other`. Undefined where what stands in such a place decides anything, or an operator is none that only filters, names and emits.
 */
export function filledOperators(
  one: readonly OperatorCall[],
  other: readonly OperatorCall[],
  plans: readonly OperatorPlan[],
): FilledOperators | undefined {
  if (one.length !== other.length || one.length !== plans.length) return undefined;
  const filled: FilledOperator[] = [];
  for (let at = 0; at < one.length; at++) {
    const operator = filledOperator(one[at] as OperatorCall, other[at] as OperatorCall, plans[at] as OperatorPlan);
    if (operator === undefined) return undefined;
    filled.push(operator);
  }
  return (operators, name, constants) => filled.map((operator, at) => operator(operators[at] as OperatorCall, name, constants));
}

function filledOperator(one: OperatorCall, other: OperatorCall, plan: OperatorPlan): FilledOperator | undefined {
  if (!(plan instanceof RowOperator) || KINDS[one.name.text] !== plan.kind || one.name !== other.name || other.as !== null)
    return undefined;
  if (plan.kind === 'filter') return filledFilter(one, other, plan);
  return plan.kind === 'select' || plan.kind === 'emit' ? filledItems(one, other, plan) : undefined;
}

function filledFilter(
  one: OperatorCall,
  other: OperatorCall,
  plan: OperatorPlan & { readonly kind: 'filter' },
): FilledOperator | undefined {
  if (one === other) return () => plan;
  const [condition] = other.arguments;
  const [before] = one.arguments;
  if (before === undefined || condition === undefined || other.arguments.length !== 1) return undefined;
  const filled = filledArgument(before, condition, plan.condition);
  if (filled === undefined) return undefined;
  return (node, _name, constants) => {
    const { value } = node.arguments[0] as Argument;
    return rowOperator(plan, { kind: 'filter', condition: filled(value as Expression, constants) });
  };
}

type ItemsPlan = OperatorPlan & { readonly kind: 'select' | 'emit' };

function filledItems(one: OperatorCall, other: OperatorCall, plan: ItemsPlan): FilledOperator | undefined {
  const { items } = plan;
  if (one === other) return plan.kind === 'emit' ? (_node, type) => rowOperator(plan, { kind: 'emit', type, items }) : () => plan;
  if (items === null || items.length !== other.arguments.length || one.arguments.length !== items.length) return undefined;
  const filled: (FilledExpression | null)[] = [];
  for (let at = 0; at < items.length; at++) {
    const [before, argument] = [one.arguments[at] as Argument, other.arguments[at] as Argument];
    const { name, value } = items[at] as NamedExpression;
    if (before === argument) filled.push(null);
    else {
      const expression = argument.name?.text === name && name !== 'context' ? filledArgument(before, argument, value) : undefined;
      if (expression === undefined) return undefined;
      filled.push(expression);
    }
  }
  return (node, type, constants) => {
    const made = items.map((item, at) => {
      const value = filled[at]?.((node.arguments[at] as Argument).value as Expression, constants);
      return value === undefined ? item : { name: item.name, value };
    });
    return rowOperator(plan, plan.kind === 'emit' ? { kind: 'emit', type, items: made } : { kind: 'select', items: made });
  };
}

function rowOperator({ origin }: OperatorPlan, parts: object): OperatorPlan {
  return new RowOperator(origin, parts) as unknown as OperatorPlan;
}

/** Of an argument without a name, or of one whose name is the same. */
function filledArgument(one: Argument, other: Argument, plan: PlanExpression): FilledExpression | undefined {
  if (one.name !== other.name) return undefined;
  return filledExpression(one.value as Expression, other.value as Expression, plan);
}

function filledExpression(one: Expression, other: Expression, plan: PlanExpression): FilledExpression | undefined {
  if (one === other) return () => plan;
  if (one.kind !== other.kind) return undefined;
  switch (other.kind) {
    case 'Parenthesized': {
      const inner = filledExpression(unwrapped(one), unwrapped(other), plan);
      return inner && ((node, constants) => inner(unwrapped(node), constants));
    }
    case 'StringLiteral':
    case 'NumberLiteral':
      return filledLiteral(other, plan);
    case 'Unary': {
      if (plan.kind !== 'unary' || plan.operator !== 'not' || other.operator !== 'not') return undefined;
      const operand = filledExpression((one as typeof other).operand, other.operand, plan.operand);
      return operand && ((node, constants) => ({ ...plan, operand: operand((node as typeof other).operand, constants) }));
    }
    case 'Binary':
      return filledBinary(one as Binary, other, plan);
    case 'Call':
      return filledCall(one as Call, other, plan);
    default:
      return undefined;
  }
}

function filledLiteral(
  literal: Extract<Expression, { kind: 'StringLiteral' | 'NumberLiteral' }>,
  plan: PlanExpression,
): FilledExpression | undefined {
  const { value } = literal;
  if (plan.kind !== 'constant' || plan.value !== value || (literal.kind === 'NumberLiteral' && literal.type !== 'int')) return undefined;
  const { type } = plan;
  return (node, constants) => {
    const made = constant((node as typeof literal).value, type);
    constants.push(made);
    return made;
  };
}

function filledBinary(one: Binary, other: Binary, plan: PlanExpression): FilledExpression | undefined {
  if (one.operator !== other.operator) return undefined;
  if (plan.kind === 'logical' && (plan.operator === 'and' || plan.operator === 'or')) {
    if (plan.operator !== other.operator) return undefined;
  } else if (plan.kind !== 'binary' || plan.operator !== other.operator || !COMPARISONS.has(plan.operator) || !isOpen(plan))
    return undefined;
  const left = filledExpression(one.left, other.left, plan.left);
  const right = filledExpression(one.right, other.right, plan.right);
  if (left === undefined || right === undefined) return undefined;
  return (node, constants) => {
    const { left: first, right: second } = node as Binary;
    return { ...plan, left: left(first, constants), right: right(second, constants) };
  };
}

/** One side is known only when the program runs, so that the comparison says nothing of the other one. */
function isOpen({ left, right }: { readonly left: PlanExpression; readonly right: PlanExpression }): boolean {
  return left.kind !== 'constant' || right.kind !== 'constant';
}

function filledCall(one: Call, other: Call, plan: PlanExpression): FilledExpression | undefined {
  if (plan.kind !== 'call' || !TEXT_FUNCTIONS.has(plan.function) || one.callee !== other.callee || other.callee.kind !== 'Name')
    return undefined;
  const [subject, sought] = plan.arguments;
  if (plan.arguments.length !== 2 || one.arguments.length !== 2 || other.arguments.length !== 2) return undefined;
  if (one.arguments[0] !== other.arguments[0] || subject?.kind === 'constant' || other.arguments.some(({ name }) => name !== null))
    return undefined;
  const text = filledArgument(one.arguments[1] as Argument, other.arguments[1] as Argument, sought as PlanExpression);
  if (subject === undefined || text === undefined) return undefined;
  return (node, constants) => {
    const { value } = (node as Call).arguments[1] as Argument;
    return { ...plan, arguments: [subject, text(value as Expression, constants)] };
  };
}
