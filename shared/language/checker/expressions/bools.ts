import type { Expression } from '../../ast/nodes.ts';
import { printType, type Type } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { unwrapped } from '../walk.ts';

/** Whether a condition may be of this type, else E060; `any` passes, and so does null, which counts as false. */
export function requireBool(node: Expression, type: Type, context: CheckContext): boolean {
  if (type.kind === 'bool' || type.kind === 'any' || type.kind === 'null') return true;
  context.report('E060', node.span, `a condition is a bool, not ${printType(type)}`, bitsHint(node));
  return false;
}

/** `a & b` as a condition is what other languages write for `and`. */
function bitsHint(written: Expression): string | undefined {
  const node = unwrapped(written);
  if (node.kind !== 'Binary' || (node.operator !== '&' && node.operator !== '|')) return undefined;
  return `\`${node.operator}\` works on the bits of ints: write \`${node.operator === '&' ? 'and' : 'or'}\``;
}
