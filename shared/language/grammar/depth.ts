/** How deep a syntax tree may be: every pass behind the parser walks trees by recursion. */
export const depthMax = 1000;

/** Whether a node has more than `depthMax` nodes inside one another. Walks without recursion. */
export function isTooDeep(root: unknown): boolean {
  const waiting: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { value, depth } = item;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > depthMax) return true;
    const inner = Array.isArray(value) ? depth : depth + 1;
    for (const child of Object.values(value)) waiting.push({ value: child, depth: inner });
  }
  return false;
}
