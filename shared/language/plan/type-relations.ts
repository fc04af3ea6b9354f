import { isAssignable, isNumeric, printType, type Type } from './types.ts';

/** What is said of types that can never do; it becomes E062. */
export interface TypeProblem {
  readonly problem: string;
  readonly hint?: string;
}

/** `any`, or the null literal: what the value is shows when the program runs. */
export function isUnknown(type: Type): boolean {
  return type.kind === 'any' || type.kind === 'null';
}

/** Whether some value of the one type equals some value of the other. */
export function canBeEqual(left: Type, right: Type): boolean {
  if (isNumberLike(left) && isNumberLike(right)) return true;
  if (left.kind === 'array' && right.kind === 'array') return canBeEqual(left.item, right.item);
  if (left.kind === 'map' && right.kind === 'map') return canBeEqual(left.value, right.value);
  if (left.kind === 'record' && right.kind === 'record') return true;
  return isAssignable(left, right) || isAssignable(right, left);
}

/** Whether a comparison of values of these types may give an order. */
export function canOrder(left: Type, right: Type): boolean {
  if (isUnknown(left)) return isUnknown(right) || isOrdered(right);
  if (isUnknown(right)) return isOrdered(left);
  if (isNumberLike(left) && isNumberLike(right)) return true;
  return left.kind === right.kind && isOrdered(left);
}

/** Whether `compareValues` orders the values of the type. */
export function isOrdered(type: Type): boolean {
  return isNumberLike(type) || type.kind === 'str' || type.kind === 'bool' || type.kind === 'timestamp';
}

/** A duration next to a number counts as milliseconds. */
function isNumberLike(type: Type): boolean {
  return isNumeric(type) || type.kind === 'duration';
}

/** Two of these types whose values are always of different kinds; numbers are of one, and of `any` nothing is known. */
export function differingKinds(types: readonly Type[]): readonly [Type, Type] | undefined {
  const [first, ...others] = types.filter((type) => !isUnknown(type));
  const other = first && others.find((type) => kindName(type) !== kindName(first));
  return first && other && [first, other];
}

function kindName(type: Type): string {
  if (isNumeric(type)) return 'number';
  return type.kind === 'record' ? 'map' : type.kind;
}

/** Whether what is known of values of the one type is known of those of the other. */
export function promiseSame(left: Type, right: Type): boolean {
  return (isNumeric(left) && isNumeric(right)) || printType(left) === printType(right);
}

/** Why nothing of the one type is ever in something of the other. */
export function membershipProblem(item: Type, container: Type): TypeProblem | undefined {
  if (isUnknown(container)) return undefined;
  const never = `${printType(item)} is never in ${printType(container)}`;
  if (container.kind === 'array') {
    return canBeEqual(item, container.item) ? undefined : { problem: never, ...conversionHint(item, container.item) };
  }
  const isText = item.kind === 'str' || isUnknown(item);
  if (container.kind === 'str' || container.kind === 'map' || container.kind === 'record') return isText ? undefined : { problem: never };
  const hint = isNumeric(container) ? { hint: 'a range stands in parentheses: `x in (1..5)`' } : {};
  return { problem: `\`in\` looks in an array, a map or a str, not in ${printType(container)}`, ...hint };
}

/** How values of the one type are made comparable with those of the other. */
export function conversionHint(left: Type, right: Type): { readonly hint?: string } {
  const kinds = [left.kind, right.kind];
  const mixes = (kind: Type['kind'], other: Type['kind']): boolean => kinds.includes(kind) && kinds.includes(other);
  if (mixes('timestamp', 'str')) return { hint: 'write a timestamp as @2026-01-31T10:00:00Z, or to_timestamp(x)' };
  if (mixes('timestamp', 'int') || mixes('timestamp', 'float')) return { hint: 'write to_timestamp(x) for epoch milliseconds' };
  if (mixes('str', 'int') || mixes('str', 'float')) return { hint: 'convert with to_string(x), to_int(x) or to_float(x)' };
  return {};
}
