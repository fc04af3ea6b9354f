import { invariant } from '../../../shared/errors/error.ts';
import { aggregates, functions } from '../../../shared/language/functions/index.ts';
import {
  type BinaryExpression,
  type CallExpression,
  type ClosureAggregateExpression,
  type PlanExpression,
  type PlanExpressionVisitor,
  type PlanStatement,
  type RowReference,
  visitPlanExpression,
} from '../../../shared/language/plan/plan.ts';
import { localName, type Names } from './names.ts';

/** The library's function for each strict operator of two sides. */
export const binaryNames: { readonly [K in BinaryExpression['operator']]: string } = {
  '==': 'equal',
  '!=': 'notEqual',
  '<': 'less',
  '<=': 'lessOrEqual',
  '>': 'greater',
  '>=': 'greaterOrEqual',
  in: 'isIn',
  'not in': 'isNotIn',
  '|': 'bitOr',
  '^': 'bitXor',
  '&': 'bitAnd',
  '<<': 'shiftLeft',
  '>>': 'shiftRight',
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
  '**': 'power',
};

/** What printing an expression needs of what stands around it. */
export interface PrintContext {
  readonly names: Names;
  /** Name of the scope in which it runs. */
  readonly scope: string;
  /** Prints the body of a block, which returns its value. */
  statements(body: readonly PlanStatement[], context: PrintContext): string;
}

/**
 * The text of an expression. It may stand anywhere a JavaScript expression may: it is a name, a call, a literal, or in
 * parentheses.
 */
export function printExpression(plan: PlanExpression, context: PrintContext): string {
  const { names, scope } = context;
  const print = (node: PlanExpression): string => printExpression(node, context);
  const visitor: PlanExpressionVisitor<string> = {
    constant: ({ value }) => names.literal(value),
    field: ({ of, name }) =>
      of.kind === 'current' ? `fieldOf(${scope}.row,${names.constant(name)})` : `fieldIn(${printRow(of, context)},${names.constant(name)})`,
    attribute: ({ of, name }) =>
      of.kind === 'current'
        ? `attributeOf(${scope}.row,${names.constant(name)})`
        : `attributeIn(${printRow(of, context)},${names.constant(name)})`,
    row: ({ of }) => (of.kind === 'items' ? `fieldsOfAll(${scope}.bound[${of.slot}])` : `fieldsOf(${printRow(of, context)})`),
    local: ({ slot }) => localName(slot),
    global: (node) => `readGlobal(${node.global})`,
    aggregate: ({ index }) => `(${scope}.aggregates[${index}]??null)`,
    closure: (node) => printClosureAggregate(node, context),
    unless_first: ({ slot, condition }) => `(isUnbound(${scope}.bound[${slot}])?true:${print(condition)})`,
    unary: ({ operator, operand }) => {
      if (operator === 'not') return `(!${printTruth(operand, 'notTruth', context)})`;
      return `${operator === '-' ? 'negate' : 'bitNot'}(${print(operand)})`;
    },
    binary: ({ operator, left, right }) => `${binaryNames[operator]}(${print(left)},${print(right)})`,
    logical: ({ operator, left, right }) => {
      if (operator === '??') return `(${print(left)}??${print(right)})`;
      const truth = operator === 'and' ? 'andTruth' : 'orTruth';
      return `(${printTruth(left, truth, context)}${operator === 'and' ? '&&' : '||'}${printTruth(right, truth, context)})`;
    },
    is_null: ({ operand, negated }) => `(${print(operand)}${negated ? '!==' : '==='}null)`,
    if: ({ condition, then, otherwise }) => `(${print(condition)}===true?${print(then)}:${print(otherwise)})`,
    array: ({ items }) => `makeArray([${items.map(print).join(',')}])`,
    map: ({ entries }) => `makeMap([${entries.map(({ key, value }) => `[${names.constant(key)},${print(value)}]`).join(',')}])`,
    member: ({ object, name }) => `member(${print(object)},${names.constant(name)})`,
    index: (node) => `index(${print(node.object)},${print(node.index)})`,
    slice: ({ object, from, to }) =>
      `slice(${print(object)},${from === null ? 'undefined' : print(from)},${to === null ? 'undefined' : print(to)})`,
    range: ({ from, to, inclusive }) => `range(${print(from)},${print(to)},${inclusive})`,
    template: ({ parts }) =>
      parts.reduce<string>(
        (text, part) => `addText(${text},${typeof part === 'string' ? names.constant(part) : `text(${print(part)})`})`,
        names.constant(''),
      ),
    call: (node) => printCall(node, context),
    invoke: (node) => `invoke(${node.function},[${node.arguments.map(print).join(',')}],${scope}.row)`,
    lambda: ({ parameters, body }) => `lambda(${parameters.length},(${parameters.map(localName).join(',')})=>(${print(body)}))`,
    block: ({ body }) => `(()=>{${context.statements(body, context)}})()`,
  };
  return visitPlanExpression(plan, visitor);
}

/** An expression as a JavaScript condition: true exactly when its value is `true`. */
export function printCondition(plan: PlanExpression, context: PrintContext): string {
  return isBoolean(plan) ? printExpression(plan, context) : `${printExpression(plan, context)}===true`;
}

/** An operand of `and`, `or`, `not`: null counts as false, what is no bool fails, unless it cannot be anything else. */
function printTruth(plan: PlanExpression, truth: string, context: PrintContext): string {
  const text = printExpression(plan, context);
  if (isBoolean(plan)) return text;
  return isBooleanOrNull(plan) ? `(${text}===true)` : `${truth}(${text})`;
}

/** Never null, whatever runs: the form of the node says so, its declared type would be too weak a promise. */
function isBoolean(plan: PlanExpression): boolean {
  if (plan.kind === 'logical') return plan.operator !== '??';
  return (
    plan.kind === 'is_null' ||
    (plan.kind === 'unary' && plan.operator === 'not') ||
    (plan.kind === 'constant' && typeof plan.value === 'boolean')
  );
}

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in']);

function isBooleanOrNull(plan: PlanExpression): boolean {
  return plan.kind === 'binary' && comparisons.has(plan.operator);
}

function printRow(of: RowReference, context: PrintContext): string {
  const { scope } = context;
  if (of.kind === 'current') return `${scope}.row`;
  const binding = `${scope}.bound[${of.slot}]`;
  if (of.kind === 'slot') return `boundRow(${binding})`;
  if (of.at === 'first') return `firstOf(${binding})`;
  if (of.at === 'last') return `lastOf(${binding})`;
  if (of.at === 'prev') return `prevOf(${binding})`;
  return `itemAt(${binding},${printExpression(of.at, context)})`;
}

function printClosureAggregate(node: ClosureAggregateExpression, context: PrintContext): string {
  const { names } = context;
  const descriptor = aggregates.get(node.function);
  invariant(descriptor !== undefined, `no aggregate is called ${node.function}`);
  const inner = names.mint('s');
  const argument = node.argument === null ? 'null' : `(${inner})=>(${printExpression(node.argument, { ...context, scope: inner })})`;
  return `closureAggregate(${names.constant(descriptor)},${names.constant(node.constants)},${context.scope},${node.slot},${argument})`;
}

function printCall(node: CallExpression, context: PrintContext): string {
  const descriptor = functions.get(node.function);
  invariant(descriptor !== undefined, `no function is called ${node.function}`);
  const args = node.arguments.map((argument) => printExpression(argument, context)).join(',');
  const call = descriptor.nulls === 'propagate' ? 'callUnlessNull' : 'call';
  return `${call}(${context.names.constant(descriptor)},[${args}],${context.scope}.row.time)`;
}
