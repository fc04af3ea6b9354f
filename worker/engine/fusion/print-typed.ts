import { InvariantError, invariant } from '../../../shared/errors/error.ts';
import { Duration, Timestamp } from '../../../shared/events/value.ts';
import { functionOver } from '../../../shared/language/functions/index.ts';
import {
  type BinaryExpression,
  type CallExpression,
  type ConstantExpression,
  type LogicalExpression,
  type PlanExpression,
  type PlanExpressionVisitor,
  visitPlanExpression,
} from '../../../shared/language/plan/plan.ts';
import { partsOfExpression as partsOf } from '../compile/collect.ts';
import { makesValues } from '../evaluate/making.ts';
import { printArithmetic, printCalled, printComparison } from './print-operators.ts';
import {
  boxed,
  lazily,
  NULL_TYPED,
  named,
  type OwnNode,
  type Readable,
  Refusal,
  representationOf,
  TRUE_TYPED,
  type Typed,
} from './typed.ts';
import type { TypedContext } from './typed-context.ts';

/**
 * Expressions within expressions that one text may hold. What is printed of a step nests several times as deep, and the
 * engine's host must be able to parse it; deeper ones are evaluated row by row.
 */
const DEPTH_MAX = 200;

/** The form of an expression by what is known of its parts; its text is printed when it is asked for. */
export function typedOf(plan: PlanExpression, context: TypedContext): Typed | Refusal {
  const why = whyNot(plan, context.readable, 0);
  return why === null ? printTyped(plan, context) : new Refusal(why);
}

/** The same as a JavaScript condition: true exactly when the value is `true`. */
export function conditionOf(plan: PlanExpression, context: TypedContext): Typed | Refusal {
  const why = whyNot(plan, context.readable, 0);
  return why === null ? printTypedCondition(plan, context) : new Refusal(why);
}

/** What stands in an expression that cannot be read here; null = all of it can. */
function whyNot(plan: PlanExpression, readable: Readable, depth: number): string | null {
  if (depth >= DEPTH_MAX) return 'an expression is nested too deep';
  const why = whyUnread(plan, readable);
  if (why !== undefined) return why;
  for (const part of partsOf(plan)) {
    const inner = whyNot(part, readable, depth + 1);
    if (inner !== null) return inner;
  }
  return null;
}

/** Undefined: nothing is read but what its parts read. */
function whyUnread(node: PlanExpression, readable: Readable): string | null | undefined {
  const unless = (value: Typed | undefined, why: string): string | null => (value === undefined ? why : null);
  switch (node.kind) {
    case 'field':
      return unless(readable.field(node.of, node.name, node.type), `the field \`${node.name}\` is not known here`);
    case 'attribute':
      return unless(readable.attribute(node.of, node.name), `\`${node.name}\` is not known here`);
    case 'aggregate':
      return unless(readable.aggregate?.(node.index), 'a result is read before there is one');
    case 'closure':
      return unless(readable.closure?.(node), 'all events of a closure are read');
    case 'unless_first':
      return unless(readable.unlessFirst?.(node), 'the previous event of a closure is read');
    case 'row':
    case 'local':
    case 'global':
    case 'invoke':
    case 'lambda':
    case 'block':
      return unless(readable.own?.(node), whyOwn[node.kind]);
    default:
      return undefined;
  }
}

const whyOwn = {
  row: 'a whole row is read',
  local: 'a function of the program is called',
  global: 'a `let` or `var` of the program is read',
  invoke: 'a function of the program is called',
  lambda: 'a lambda is applied',
  block: 'a lambda is applied',
} as const;

/** The text of an expression that has a form here, as `typedOf` tells. */
export function printTyped(plan: PlanExpression, context: TypedContext): Typed {
  if (context.readable.isUntyped) return untyped(visitPlanExpression(plan, visitorOf(context)));
  const depth = (context.depth ?? 0) + 1;
  const printed = visitPlanExpression(plan, visitorOf({ ...context, depth }));
  const isMaking = depth === 1 && makesValues(plan);
  return isMaking ? lazily({ ...formOf(printed), isSimple: false }, () => `(beginMaking(),${printed.text})`) : printed;
}

function untyped(value: Typed): Typed {
  return value.as === 'boolean' ? value : { ...value, as: 'value', isNullable: true };
}

/** The expression as a JavaScript condition: true exactly when its value is `true`. */
export function printTypedCondition(plan: PlanExpression, context: TypedContext): Typed {
  const value = printTyped(plan, context);
  if (value.as === 'boolean' && !value.isNullable) return value;
  if (value.as !== 'boolean' && value.isNull !== true) return boolean(true, () => `holds(${boxed(value)})`);
  return lazily({ ...formOf(value), as: 'boolean', isNullable: false, isSimple: false }, () => `(${value.text}===true)`);
}

/** Everything but the text. */
function formOf({ as, isNullable, isSimple, canFail }: Typed): Omit<Typed, 'text'> {
  return { as, isNullable, isSimple, canFail };
}

function visitorOf(context: TypedContext): PlanExpressionVisitor<Typed> {
  const { module, readable } = context;
  const print = (node: PlanExpression): Typed => printTyped(node, context);
  const own = (node: OwnNode): Typed => readable.own?.(node) ?? notHere(node, readable);
  return {
    constant: (node) => literal(node, context),
    field: (node) => readable.field(node.of, node.name, node.type) ?? notHere(node, readable),
    attribute: (node) => readable.attribute(node.of, node.name) ?? notHere(node, readable),
    row: own,
    local: own,
    global: own,
    aggregate: (node) => readable.aggregate?.(node.index) ?? notHere(node, readable),
    closure: (node) => readable.closure?.(node) ?? notHere(node, readable),
    unless_first: (node) => readable.unlessFirst?.(node) ?? notHere(node, readable),
    unary: ({ operator, operand }) => (operator === 'not' ? printNot(operand, context) : printUnary(operator, print(operand))),
    binary: ({ operator, left, right }) => printBinary(operator, print(left), print(right), context),
    logical: (node) => printLogical(node, context),
    is_null: ({ operand, negated }) => {
      const value = print(operand);
      return boolean(value.canFail, () => `(${value.text}${negated ? '!==' : '==='}null)`);
    },
    if: ({ condition, then, otherwise }) => choice(printTypedCondition(condition, context), print(then), print(otherwise)),
    array: ({ items }) => {
      const values = items.map(print);
      return library(() => `makeArray([${boxedAll(values)}])`);
    },
    map: ({ entries }) => {
      const values = entries.map(({ key, value }) => ({ key, value: print(value) }));
      return library(() => `makeMap([${values.map(({ key, value }) => `[${module.constant(key)},${boxed(value)}]`)}])`);
    },
    member: ({ object, name }) => {
      const value = print(object);
      return library(() => `member(${boxed(value)},${module.constant(name)})`);
    },
    index: (node) => {
      const [object, index] = [print(node.object), print(node.index)];
      return library(() => `index(${boxed(object)},${boxed(index)})`);
    },
    slice: ({ object, from, to }) => {
      const parts = [print(object), ...[from, to].map((end) => (end === null ? null : print(end)))];
      return library(() => `slice(${parts.map((part) => (part === null ? 'undefined' : boxed(part))).join(',')})`);
    },
    range: ({ from, to, inclusive }) => {
      const [first, last] = [print(from), print(to)];
      return library(() => `range(${boxed(first)},${boxed(last)},${inclusive})`);
    },
    template: ({ parts }) => {
      const values = parts.map((part) => (typeof part === 'string' ? part : print(part)));
      return lazily({ as: 'string', isNullable: false, isSimple: false, canFail: true }, () => {
        const texts = values.map((part) => (typeof part === 'string' ? module.constant(part) : `text(${boxed(part)})`));
        return `joinTexts([${texts.join(',')}])`;
      });
    },
    call: (node) => printCall(node, context),
    invoke: own,
    lambda: own,
    block: own,
  };
}

function printBinary(operator: BinaryExpression['operator'], left: Typed, right: Typed, context: TypedContext): Typed {
  if (context.readable.isUntyped) return printCalled(operator, left, right);
  return printComparison(operator, left, right, context) ?? printArithmetic(operator, left, right, context);
}

function notHere(node: PlanExpression, readable: Readable): never {
  throw new InvariantError(`an expression is printed that has no form: ${whyUnread(node, readable)}`);
}

function boolean(canFail: boolean, print: () => string): Typed {
  return lazily({ as: 'boolean', isNullable: false, isSimple: false, canFail }, print);
}

/** A value that the engine's own functions make. */
function library(print: () => string): Typed {
  return lazily({ as: 'value', isNullable: true, isSimple: false, canFail: true }, print);
}

function boxedAll(values: readonly Typed[]): string {
  return values.map(boxed).join(',');
}

/** A constant of the language: small things stand in the text, everything else in the table. */
function literal(node: ConstantExpression, { module, readable }: TypedContext): Typed {
  const { value } = node;
  if (value === null) return NULL_TYPED;
  if (typeof value === 'boolean') return value ? TRUE_TYPED : named('false', 'boolean');
  if (typeof value === 'number') return named(module.ownConstant?.(node) ?? printNumber(value, module), 'number');
  if (typeof value === 'string') return named(module.ownConstant?.(node) ?? module.constant(value), 'string');
  if (readable.isUntyped) return named(module.constant(value), 'value');
  if (value instanceof Timestamp) return named(printNumber(value.ms, module), 'timestamp');
  if (value instanceof Duration) return named(printNumber(value.ms, module), 'duration');
  return named(module.constant(value), 'value');
}

/** Text of a number. */
export function printNumber(value: number, module: Pick<TypedContext['module'], 'constant'>): string {
  if (!Number.isFinite(value) || Object.is(value, -0)) return module.constant(value);
  return value < 0 ? `(${value})` : String(value);
}

/** `not e`: null counts as false; what is no bool fails, unless it cannot be anything else. */
function printNot(operand: PlanExpression, context: TypedContext): Typed {
  const value = printTyped(operand, context);
  return boolean(value.canFail || value.as !== 'boolean', () => `(!${truth(value, 'notTruth')})`);
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
  const isPlain = one.as === 'boolean' && other.as === 'boolean';
  const sign = operator === 'and' ? '&&' : '||';
  return boolean(!isPlain || one.canFail || other.canFail, () => `(${truth(one, name)}${sign}${truth(other, name)})`);
}

function printDefault(left: Typed, right: Typed): Typed {
  if (!left.isNullable) return left;
  const canFail = left.canFail || right.canFail;
  if (left === NULL_TYPED) return right;
  const isSame = left.as === right.as;
  const form = { as: isSame ? left.as : 'value', isNullable: right.isNullable, isSimple: false, canFail } as const;
  return lazily(form, () => (isSame ? `(${left.text}??${right.text})` : `(${boxed(left)}??${boxed(right)})`));
}

function choice(condition: Typed, then: Typed, otherwise: Typed): Typed {
  const isSame = then.as === otherwise.as || then === NULL_TYPED || otherwise === NULL_TYPED;
  const as = !isSame ? 'value' : then === NULL_TYPED ? otherwise.as : then.as;
  const canFail = condition.canFail || then.canFail || otherwise.canFail;
  return lazily({ as, isNullable: then.isNullable || otherwise.isNullable, isSimple: false, canFail }, () => {
    const [a, b] = isSame ? [then.text, otherwise.text] : [boxed(then), boxed(otherwise)];
    return `(${condition.text}?${a}:${b})`;
  });
}

function printUnary(operator: '-' | '~', operand: Typed): Typed {
  if (operator === '-' && operand.as === 'number' && !operand.isNullable) {
    return lazily({ ...formOf(operand), isSimple: false }, () => `(0-${operand.text})`);
  }
  return library(() => `${operator === '-' ? 'negate' : 'bitNot'}(${boxed(operand)})`);
}

/** A function of the language: a few that cost less than the call stand in the text. */
function printCall(node: CallExpression, context: TypedContext): Typed {
  const descriptor = functionOver(node.function, node.arguments[0]?.type);
  invariant(descriptor !== undefined, `no function is called ${node.function}`);
  const args = node.arguments.map((argument) => printTyped(argument, context));
  const inlined = printInlined(node.function, args, context);
  if (inlined !== undefined) return inlined;
  const call = descriptor.nulls === 'propagate' && args.some((arg) => arg.isNullable) ? 'callUnlessNull' : 'call';
  const { module, readable } = context;
  const { time } = readable;
  const declared = readable.isUntyped ? 'value' : representationOf(node.type);
  const as = declared === 'number' || declared === 'string' || declared === 'boolean' ? declared : 'value';
  const form = { as, isNullable: true, isSimple: false, canFail: true } as const;
  return lazily(form, () => `${call}(${module.constant(descriptor)},[${boxedAll(args)}],${time})`);
}

function printInlined(name: string, [first]: readonly Typed[], { body }: TypedContext): Typed | undefined {
  if (name !== 'abs' || first?.as !== 'number') return undefined;
  return lazily({ as: 'number', isNullable: first.isNullable, isSimple: false, canFail: first.canFail }, () => {
    const value = first.isSimple ? first.text : body.temporary();
    const given = first.isSimple ? value : `(${value}=${first.text})`;
    return first.isNullable ? `(${given}===null?null:${value}<0?0-${value}:${value}+0)` : `(${given}<0?0-${value}:${value}+0)`;
  });
}
