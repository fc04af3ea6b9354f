import type { AnyNode, Expression } from '../ast/nodes.ts';

/** The nodes right below a node of the syntax tree, in written order of its properties. */
function childrenOf(node: object): AnyNode[] {
  const found: AnyNode[] = [];
  for (const value of Object.values(node)) collect(value, found);
  return found;
}

function collect(value: unknown, found: AnyNode[]): void {
  if (Array.isArray(value)) for (const item of value) collect(item, found);
  else if (isNode(value)) found.push(value);
  else if (value !== null && typeof value === 'object' && !isSpan(value)) for (const child of childrenOf(value)) found.push(child);
}

function isNode(value: unknown): value is AnyNode {
  return value !== null && typeof value === 'object' && typeof (value as { kind?: unknown }).kind === 'string';
}

function isSpan(value: object): boolean {
  return 'start' in value && 'end' in value && !('kind' in value);
}

/** Calls `visit` for a node and everything below it, outside in; below a node for which it gives false nothing is visited. */
export function walk(node: AnyNode, visit: (node: AnyNode) => boolean | undefined): void {
  const open: AnyNode[] = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    if (visit(next) === false) continue;
    // One by one: an array literal may have more items than a call takes arguments.
    for (const child of childrenOf(next).reverse()) open.push(child);
  }
}

/** The expression inside any parentheses. */
export function unwrapped(node: Expression): Expression {
  let inner = node;
  while (inner.kind === 'Parenthesized') inner = inner.expression;
  return inner;
}
