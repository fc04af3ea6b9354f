import { invariant } from '../../../shared/errors/error.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { functions } from '../../../shared/language/functions/index.ts';
import {
  type BinaryExpression,
  type CallExpression,
  type LogicalExpression,
  type PlanExpression,
  type PlanExpressionVisitor,
  visitPlanExpression,
} from '../../../shared/language/plan/plan.ts';
import { makesValues } from '../evaluate/making.ts';
import { printArithmetic, printCalled, printComparison } from './print-operators.ts';
import { boxed, CannotFuse, NULL_TYPED, named, representationOf, type Typed } from './typed.ts';
import type { TypedContext } from './typed-context.ts';

/**
 * Expressions within expressions that one text may hold. What is printed of a step nests several times as deep, and the
 * engine's host must be able to parse it; deeper ones are evaluated row by row.
 */
const DEPTH_MAX = 200;

/** The text of an expression by what is known of its parts. @throws CannotFuse */
export function printTyped(plan: PlanExpression, context: TypedContext): Typed {
  if (context.readable.isUntyped) return untyped(visitPlanExpression(plan, visitorOf(context)));
  const depth = (context.depth ?? 0) + 1;
  if (depth > DEPTH_MAX) throw new CannotFuse('an expression is nested too deep');
  const printed = visitPlanExpression(plan, visitorOf({ ...context, depth }));
  return depth === 1 && makesValues(plan) ? { ...printed, text: `(beginMaking(),${printed.text})`, isSimple: false } : printed;
}

function untyped(value: Typed): Typed {
  return value.as === 'boolean' ? value : { ...value, as: 'value', isNullable: true };
}

/** The expression as a JavaScript condition: true exactly when its value is `true`. */
export function printTypedCondition(plan: PlanExpression, context: TypedContext): Typed {
  const value = printTyped(plan, context);
  if (value.as === 'boolean' && !value.isNullable) return value;
  return { ...value, text: `(${value.text}===true)`, as: 'boolean', isNullable: false, isSimple: false };
}

function visitorOf(context: TypedContext): PlanExpressionVisitor<Typed> {
  const { module, readable } = context;
  const print = (node: PlanExpression): Typed => printTyped(node, context);
  return {
    constant: ({ value }) => literal(value, context),
    field: ({ of, name, type }) => readable.field(of, name, type) ?? notHere(`the field \`${name}\` is not known here`),
    attribute: ({ of, name }) => readable.attribute(of, name) ?? notHere(`\`${name}\` is not known here`),
    row: (node) => readable.own?.(node) ?? notHere('a whole row is read'),
    local: (node) => readable.own?.(node) ?? notHere('a function of the program is called'),
    global: (node) => readable.own?.(node) ?? notHere('a `let` or `var` of the program is read'),
    aggregate: ({ index }) => readable.aggregate?.(index) ?? notHere('a result is read before there is one'),
    closure: (node) => readable.closure?.(node) ?? notHere('all events of a closure are read'),
    unless_first: (node) => readable.unlessFirst?.(node) ?? notHere('the previous event of a closure is read'),
    unary: ({ operator, operand }) => (operator === 'not' ? printNot(operand, context) : printUnary(operator, print(operand))),
    binary: ({ operator, left, right }) => printBinary(operator, print(left), print(right), context),
    logical: (node) => printLogical(node, context),
    is_null: ({ operand, negated }) => {
      const value = print(operand);
      return { ...boolean(`(${value.text}${negated ? '!==' : '==='}null)`), canFail: value.canFail };
    },
    if: ({ condition, then, otherwise }) => choice(printTypedCondition(condition, context), print(then), print(otherwise)),
    array: ({ items }) => library(`makeArray([${boxedAll(items.map(print))}])`),
    map: ({ entries }) => library(`makeMap([${entries.map(({ key, value }) => `[${module.constant(key)},${boxed(print(value))}]`)}])`),
    member: ({ object, name }) => library(`member(${boxed(print(object))},${module.constant(name)})`),
    index: (node) => library(`index(${boxed(print(node.object))},${boxed(print(node.index))})`),
    slice: ({ object, from, to }) => {
      const bound = (end: PlanExpression | null): string => (end === null ? 'undefined' : boxed(print(end)));
      return library(`slice(${boxed(print(object))},${bound(from)},${bound(to)})`);
    },
    range: ({ from, to, inclusive }) => library(`range(${boxed(print(from))},${boxed(print(to))},${inclusive})`),
    template: ({ parts }) => {
      const texts = parts.map((part) => (typeof part === 'string' ? module.constant(part) : `text(${boxed(print(part))})`));
      return { text: `joinTexts([${texts.join(',')}])`, as: 'string', isNullable: false, isSimple: false, canFail: true };
    },
    call: (node) => printCall(node, context),
    invoke: (node) => readable.own?.(node) ?? notHere('a function of the program is called'),
    lambda: (node) => readable.own?.(node) ?? notHere('a lambda is applied'),
    block: (node) => readable.own?.(node) ?? notHere('a lambda is applied'),
  };
}

function printBinary(operator: BinaryExpression['operator'], left: Typed, right: Typed, context: TypedContext): Typed {
  if (context.readable.isUntyped) return printCalled(operator, left, right);
  return printComparison(operator, left, right, context) ?? printArithmetic(operator, left, right, context);
}

function notHere(why: string): never {
  throw new CannotFuse(why);
}

function boolean(text: string): Typed {
  return { text, as: 'boolean', isNullable: false, isSimple: false, canFail: false };
}

/** A value that the engine's own functions make. */
function library(text: string): Typed {
  return { text, as: 'value', isNullable: true, isSimple: false, canFail: true };
}

function boxedAll(values: readonly Typed[]): string {
  return values.map(boxed).join(',');
}

/** A constant of the language: small things stand in the text, everything else in the table. */
function literal(value: Value, { module, readable }: TypedContext): Typed {
  if (value === null) return NULL_TYPED;
  if (typeof value === 'boolean') return named(String(value), 'boolean');
  if (typeof value === 'number') return named(printNumber(value, module), 'number');
  if (typeof value === 'string') return named(module.constant(value), 'string');
  if (readable.isUntyped) return named(module.constant(value), 'value');
  if (value instanceof Timestamp) return named(printNumber(value.ms, module), 'timestamp');
  if (value instanceof Duration) return named(printNumber(value.ms, module), 'duration');
  return named(module.constant(value), 'value');
}

function printNumber(value: number, module: TypedContext['module']): string {
  if (!Number.isFinite(value) || Object.is(value, -0)) return module.constant(value);
  return value < 0 ? `(${value})` : String(value);
}

/** `not e`: null counts as false; what is no bool fails, unless it cannot be anything else. */
function printNot(operand: PlanExpression, context: TypedContext): Typed {
  const value = printTyped(operand, context);
  return { ...boolean(`(!${truth(value, 'notTruth')})`), canFail: value.canFail || value.as !== 'boolean' };
}

function truth({ text, as, isNullable }: Typed, fallback: string): string {
  if (as !== 'boolean') return `${fallback}(${text})`;
  return isNullable ? `(${text}===true)` : text;
}

function printLogical({ operator, left, right }: LogicalExpression, context: TypedContext): Typed {
  const one = printTyped(left, context);
  const other = printTyped(right, context);
  if (operator === '??') return printDefault(one, other);
  const name = operator === 'and' ? 'andTruth' : 'orTruth';
  const text = `(${truth(one, name)}${operator === 'and' ? '&&' : '||'}${truth(other, name)})`;
  const isPlain = one.as === 'boolean' && other.as === 'boolean';
  return { ...boolean(text), canFail: !isPlain || one.canFail || other.canFail };
}

function printDefault(left: Typed, right: Typed): Typed {
  if (!left.isNullable) return left;
  const canFail = left.canFail || right.canFail;
  if (left === NULL_TYPED) return right;
  if (left.as === right.as)
    return { text: `(${left.text}??${right.text})`, as: left.as, isNullable: right.isNullable, isSimple: false, canFail };
  return { text: `(${boxed(left)}??${boxed(right)})`, as: 'value', isNullable: right.isNullable, isSimple: false, canFail };
}

function choice(condition: Typed, then: Typed, otherwise: Typed): Typed {
  const isSame = then.as === otherwise.as || then === NULL_TYPED || otherwise === NULL_TYPED;
  const as = !isSame ? 'value' : then === NULL_TYPED ? otherwise.as : then.as;
  const [a, b] = isSame ? [then.text, otherwise.text] : [boxed(then), boxed(otherwise)];
  return {
    text: `(${condition.text}?${a}:${b})`,
    as,
    isNullable: then.isNullable || otherwise.isNullable,
    isSimple: false,
    canFail: condition.canFail || then.canFail || otherwise.canFail,
  };
}

function printUnary(operator: '-' | '~', operand: Typed): Typed {
  if (operator === '-' && operand.as === 'number' && !operand.isNullable) {
    return { ...operand, text: `(0-${operand.text})`, isSimple: false };
  }
  return library(`${operator === '-' ? 'negate' : 'bitNot'}(${boxed(operand)})`);
}

/** A function of the language: a few that cost less than the call stand in the text. */
function printCall(node: CallExpression, context: TypedContext): Typed {
  const descriptor = functions.get(node.function);
  invariant(descriptor !== undefined, `no function is called ${node.function}`);
  const args = node.arguments.map((argument) => printTyped(argument, context));
  const inlined = printInlined(node.function, args, context);
  if (inlined !== undefined) return inlined;
  const call = descriptor.nulls === 'propagate' && args.some((arg) => arg.isNullable) ? 'callUnlessNull' : 'call';
  const result = library(`${call}(${context.module.constant(descriptor)},[${boxedAll(args)}],${context.readable.time})`);
  const as = context.readable.isUntyped ? 'value' : representationOf(node.type);
  return as === 'number' || as === 'string' || as === 'boolean' ? { ...result, as } : result;
}

function printInlined(name: string, [first]: readonly Typed[], { body }: TypedContext): Typed | undefined {
  if (name !== 'abs' || first?.as !== 'number') return undefined;
  const value = first.isSimple ? first.text : body.temporary();
  const given = first.isSimple ? value : `(${value}=${first.text})`;
  const text = first.isNullable ? `(${given}===null?null:${value}<0?0-${value}:${value}+0)` : `(${given}<0?0-${value}:${value}+0)`;
  return { text, as: 'number', isNullable: first.isNullable, isSimple: false, canFail: first.canFail };
}
