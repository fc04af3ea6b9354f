import type { BinaryOperator } from '../../ast/nodes.ts';
import { canBeEqual, canOrder, conversionHint, isUnknown, membershipProblem, type TypeProblem } from '../../plan/type-relations.ts';
import { ANY, BOOL, DURATION, FLOAT, INT, isNumeric, printType, STR, TIMESTAMP, type Type } from '../../plan/types.ts';

/** What an operator gives, or why it can never work on these types. */
export type Typing = { readonly type: Type } | TypeProblem;

type Arithmetic = '+' | '-' | '*' | '/' | '%' | '**';
type Pair = readonly [left: Type, right: Type];

/** The type of `left operator right`. `any` and null fit everywhere, as they are looked at when the program runs. */
export function typeOfBinary(operator: BinaryOperator, left: Type, right: Type): Typing {
  switch (operator) {
    case '??':
      return { type: joinTypes(left, right) };
    case 'and':
    case 'or':
      return { type: BOOL };
    case '==':
    case '!=':
      return equality(operator, left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordering(operator, left, right);
    case 'in':
    case 'not in':
      return membership(left, right);
    case '|':
    case '^':
    case '&':
    case '<<':
    case '>>':
      return bits(operator, left, right);
    default:
      return arithmetic(operator, [left, right]);
  }
}

/** The type of `-e` and `~e`. */
export function typeOfUnary(operator: '-' | '~', operand: Type): Typing {
  if (isUnknown(operand)) return { type: operand.kind === 'null' ? ANY : operand };
  if (isNumeric(operand)) return { type: operator === '~' ? INT : operand };
  if (operator === '-' && operand.kind === 'duration') return { type: DURATION };
  return { problem: `\`${operator}\` cannot be applied to ${printType(operand)}` };
}

/** A type that both fit: numbers mix to float, null gives way, anything else that differs is `any`. */
export function joinTypes(left: Type, right: Type): Type {
  if (left.kind === 'null') return right;
  if (right.kind === 'null') return left;
  if (isNumeric(left) && isNumeric(right)) return left.kind === right.kind ? left : FLOAT;
  if (left.kind === 'array' && right.kind === 'array') return { kind: 'array', item: joinTypes(left.item, right.item) };
  if (left.kind === 'map' && right.kind === 'map') return { kind: 'map', value: joinTypes(left.value, right.value) };
  return printType(left) === printType(right) ? left : ANY;
}

function arithmetic(operator: Arithmetic, [left, right]: Pair): Typing {
  if (isUnknown(left) && isUnknown(right)) return { type: ANY };
  const type = isUnknown(left) || isUnknown(right) ? withUnknown(operator, [left, right]) : ofKnown(operator, [left, right]);
  return type ? { type } : refusal(operator, [left, right]);
}

function ofKnown(operator: Arithmetic, [left, right]: Pair): Type | undefined {
  if (isNumeric(left) && isNumeric(right)) {
    const stays = operator !== '/' && operator !== '**' && left.kind === 'int' && right.kind === 'int';
    return stays ? INT : FLOAT;
  }
  return KNOWN[operator][`${isNumeric(left) ? 'number' : left.kind} ${isNumeric(right) ? 'number' : right.kind}`];
}

const KNOWN: Readonly<Record<Arithmetic, Readonly<Record<string, Type>>>> = {
  '+': { 'str str': STR, 'duration duration': DURATION, 'timestamp duration': TIMESTAMP, 'duration timestamp': TIMESTAMP },
  '-': { 'duration duration': DURATION, 'timestamp duration': TIMESTAMP, 'timestamp timestamp': DURATION },
  '*': { 'duration number': DURATION, 'number duration': DURATION },
  '/': { 'duration number': DURATION, 'duration duration': FLOAT },
  '%': { 'duration duration': DURATION },
  '**': {},
};

/** One side is known: the result when there is any type of the other that it works with. */
function withUnknown(operator: Arithmetic, [left, right]: Pair): Type | undefined {
  const known = isUnknown(left) ? right : left;
  const candidates = PROBES.map((probe) => (isUnknown(left) ? ofKnown(operator, [probe, known]) : ofKnown(operator, [known, probe])));
  const results = candidates.filter((type) => type !== undefined);
  const [first, ...rest] = results;
  return first && rest.every((type) => type.kind === first.kind) ? first : first && ANY;
}

const PROBES: readonly Type[] = [FLOAT, STR, DURATION, TIMESTAMP];

function refusal(operator: Arithmetic, [left, right]: Pair): Typing {
  const problem = `\`${operator}\` cannot be applied to ${printType(left)} and ${printType(right)}`;
  const textual = operator === '+' && (left.kind === 'str' || right.kind === 'str');
  return textual ? { problem, hint: 'write f"..{x}.." or to_string(x) to join text' } : { problem };
}

function bits(operator: BinaryOperator, left: Type, right: Type): Typing {
  const fits = (type: Type): boolean => isUnknown(type) || isNumeric(type);
  if (fits(left) && fits(right)) return { type: INT };
  const word = { '&': 'and', '|': 'or', '^': '!=' }[operator as string];
  const areBools = word !== undefined && left.kind === 'bool' && right.kind === 'bool';
  const problem = `\`${operator}\` cannot be applied to ${printType(left)} and ${printType(right)}`;
  return areBools ? { problem, hint: `\`${operator}\` works on the bits of ints: write \`${word}\`` } : { problem };
}

function equality(operator: BinaryOperator, left: Type, right: Type): Typing {
  if (canBeEqual(left, right)) return { type: BOOL };
  return { problem: `${printType(left)} and ${printType(right)} are never equal (\`${operator}\`)`, ...conversionHint(left, right) };
}

function ordering(operator: BinaryOperator, left: Type, right: Type): Typing {
  if (canOrder(left, right)) return { type: BOOL };
  return { problem: `${printType(left)} and ${printType(right)} have no order (\`${operator}\`)`, ...conversionHint(left, right) };
}

function membership(item: Type, container: Type): Typing {
  return membershipProblem(item, container) ?? { type: BOOL };
}
