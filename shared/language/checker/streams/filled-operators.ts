import type { Value } from '../../../events/value.ts';
import type { Argument, Binary, Call, Expression, OperatorCall } from '../../ast/nodes.ts';
import type { ConstantExpression, NamedExpression, OperatorPlan, PlanExpression } from '../../plan/plan.ts';
import { unwrapped } from '../walk.ts';
import { RowOperator } from './operators/row-operator.ts';

/** Operators as written, and their plans. */
export interface PlannedOperators {
  readonly written: readonly OperatorCall[];
  readonly plans: readonly OperatorPlan[];
}

/** What a stream is called, and what gives it a constant in the place of one of another stream. */
export interface Filling {
  readonly name: string;
  /** Called in the order of the other one's plan. `literal`: where the constant is written; null = it is the same in both. */
  readonly replaced: (other: ConstantExpression, value: Value, literal: Literal | null) => ConstantExpression;
}

type ItemsPlan = OperatorPlan & { readonly kind: 'select' | 'emit' };
export type Literal = Extract<Expression, { kind: 'StringLiteral' | 'NumberLiteral' }>;

/** Of an operator that only filters, names or emits: the kind of its plan. */
const KINDS: Readonly<Record<string, OperatorPlan['kind']>> = { where: 'filter', filter: 'filter', select: 'select', emit: 'emit' };

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
/** They take any text for what it is. */
const TEXT_FUNCTIONS: ReadonlySet<string> = new Set(['contains', 'starts_with', 'ends_with']);

/**
 * The plans of operators that a loop has made of the same text as others, from the plans of those: they differ in the texts and ints that
 * the loop has filled in, and nothing but the running program looks at these. Undefined where that is not so.
 */
export function filledOperators(
  operators: readonly OperatorCall[],
  { written, plans }: PlannedOperators,
  filling: Filling,
): readonly OperatorPlan[] | undefined {
  if (operators.length !== written.length || operators.length !== plans.length) return undefined;
  return allOf(operators, (node, at) => filledOperator(node, written[at] as OperatorCall, plans[at] as OperatorPlan, filling));
}

/** What is made of each; undefined where one of them gives undefined. */
function allOf<T, U>(items: readonly T[], make: (item: T, at: number) => U | undefined): U[] | undefined {
  const made: U[] = [];
  for (let at = 0; at < items.length; at++) {
    const one = make(items[at] as T, at);
    if (one === undefined) return undefined;
    made.push(one);
  }
  return made;
}

function filledOperator(node: OperatorCall, other: OperatorCall, plan: OperatorPlan, filling: Filling): OperatorPlan | undefined {
  if (!(plan instanceof RowOperator) || KINDS[node.name.text] !== plan.kind || node.as !== null) return undefined;
  if (plan.kind === 'select' || plan.kind === 'emit') return filledItems(node, other, plan, filling);
  const argument = node.arguments[0];
  const argumentOfOther = other.arguments[0];
  if (plan.kind !== 'filter' || argument === undefined || argumentOfOther === undefined || node.arguments.length !== 1) return undefined;
  const condition = filledArgument(argument, argumentOfOther, plan.condition, filling);
  return condition && rowOperator(plan, { kind: 'filter', condition });
}

function filledItems(node: OperatorCall, other: OperatorCall, plan: ItemsPlan, filling: Filling): OperatorPlan | undefined {
  const { kind, items } = plan;
  if (items === null && node !== other) return undefined;
  const filled = items && filledNames(node.arguments, other.arguments, items, filling);
  if (filled === undefined) return undefined;
  return rowOperator(plan, kind === 'emit' ? { kind, type: filling.name, items: filled } : { kind, items: filled });
}

function filledNames(
  args: readonly Argument[],
  others: readonly Argument[],
  items: readonly NamedExpression[],
  filling: Filling,
): readonly NamedExpression[] | undefined {
  if (args.length !== items.length || others.length !== items.length) return undefined;
  return allOf(items, (item, at) => {
    const argument = args[at] as Argument;
    const other = others[at] as Argument;
    // An argument that is no field may stand at another place than its value.
    const isThere = argument === other || (argument.name?.text === item.name && item.name !== 'context');
    const value = isThere ? filledArgument(argument, other, item.value, filling) : undefined;
    return value && { name: item.name, value };
  });
}

function rowOperator({ origin }: OperatorPlan, parts: object): OperatorPlan {
  return new RowOperator(origin, parts) as unknown as OperatorPlan;
}

function filledArgument(argument: Argument, other: Argument, plan: PlanExpression, filling: Filling): PlanExpression | undefined {
  if (argument.name !== other.name) return undefined;
  return filledExpression(argument.value as Expression, other.value as Expression, plan, filling);
}

function filledExpression(node: Expression, other: Expression, plan: PlanExpression, filling: Filling): PlanExpression | undefined {
  if (node === other) return copied(plan, filling);
  if (node.kind !== other.kind) return undefined;
  switch (node.kind) {
    case 'Parenthesized':
      return filledExpression(unwrapped(node), unwrapped(other), plan, filling);
    case 'StringLiteral':
    case 'NumberLiteral':
      return filledLiteral(node, other as Literal, plan, filling);
    case 'Unary': {
      if (plan.kind !== 'unary' || plan.operator !== 'not' || node.operator !== 'not') return undefined;
      const operand = filledExpression(node.operand, (other as typeof node).operand, plan.operand, filling);
      return operand && { ...plan, operand };
    }
    case 'Binary':
      return filledBinary(node, other as Binary, plan, filling);
    case 'Call':
      return filledCall(node, other as Call, plan, filling);
    default:
      return undefined;
  }
}

function filledLiteral(node: Literal, other: Literal, plan: PlanExpression, filling: Filling): PlanExpression | undefined {
  if (plan.kind !== 'constant' || plan.value !== other.value) return undefined;
  if (node.kind === 'NumberLiteral' && (node.type !== 'int' || (other as typeof node).type !== 'int')) return undefined;
  return filling.replaced(plan, node.value, node);
}

/** A comparison has one side that is known only when the program runs, so that it says nothing of the other one. */
function filledBinary(node: Binary, other: Binary, plan: PlanExpression, filling: Filling): PlanExpression | undefined {
  if (plan.kind !== 'binary' && plan.kind !== 'logical') return undefined;
  if (plan.operator !== node.operator || node.operator !== other.operator) return undefined;
  const isOpen = plan.left.kind !== 'constant' || plan.right.kind !== 'constant';
  if (plan.kind === 'logical' ? plan.operator === '??' : !COMPARISONS.has(plan.operator) || !isOpen) return undefined;
  const left = filledExpression(node.left, other.left, plan.left, filling);
  const right = left && filledExpression(node.right, other.right, plan.right, filling);
  return left && right && ({ ...plan, left, right } as PlanExpression);
}

function filledCall(node: Call, other: Call, plan: PlanExpression, filling: Filling): PlanExpression | undefined {
  if (plan.kind !== 'call' || !TEXT_FUNCTIONS.has(plan.function) || node.callee !== other.callee || node.callee.kind !== 'Name')
    return undefined;
  const [subject, sought] = plan.arguments;
  const [first, second] = node.arguments;
  const [firstOfOther, secondOfOther] = other.arguments;
  if (subject === undefined || subject.kind === 'constant' || sought === undefined || plan.arguments.length !== 2) return undefined;
  if (first === undefined || second === undefined || secondOfOther === undefined || node.arguments.length !== 2) return undefined;
  if (first !== firstOfOther || first.name !== null || second.name !== null) return undefined;
  const text = filledArgument(second, secondOfOther, sought, filling);
  return text && { ...plan, arguments: [copied(subject, filling), text] };
}

/** The same with constants of its own: whoever generates code tells the streams apart by theirs. What has none is shared. */
function copied<P>(part: P, filling: Filling): P {
  if (typeof part !== 'object' || part === null || part instanceof Map) return part;
  if (Array.isArray(part)) {
    const items = part.map((item) => copied(item, filling));
    return (items.every((item, at) => item === part[at]) ? part : items) as P;
  }
  const node = part as unknown as PlanExpression;
  if (node.kind === 'constant') return filling.replaced(node, node.value, null) as P;
  // The fields of a row are most of what stands in a rule, and have no constants.
  if (node.kind === 'field' && node.of.kind === 'current') return part;
  let changed: P | null = null;
  for (const name in part) {
    const member = part[name];
    const copy = name === 'type' ? member : copied(member, filling);
    if (copy === member) continue;
    changed ??= { ...part };
    changed[name] = copy;
  }
  return changed ?? part;
}
