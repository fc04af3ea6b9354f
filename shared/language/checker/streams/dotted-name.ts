import type { Expression } from '../../ast/nodes.ts';

/** `X` and `common.X` written where an expression may stand, as one name; undefined for anything else. */
export function dottedName(node: Expression): string | undefined {
  if (node.kind === 'Name') return node.name;
  if (node.kind === 'StringLiteral') return node.value;
  if (node.kind !== 'Member' || node.optional) return undefined;
  const object = dottedName(node.object);
  return object && `${object}.${node.name.text}`;
}
