import type { Span } from '../ast/nodes.ts';

/** How deep a syntax tree may be: every pass behind the parser walks trees by recursion. */
export const depthMax = 1000;

/** The span of a node that has `depthMax` nodes around it, or undefined when there is none. Walks without recursion. */
export function tooDeepAt(root: unknown): Span | undefined {
  const waiting: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { value, depth } = item;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > depthMax && 'span' in value) return value.span as Span;
    const inner = Array.isArray(value) ? depth : depth + 1;
    for (const child of Object.values(value)) waiting.push({ value: child, depth: inner });
  }
  return undefined;
}
