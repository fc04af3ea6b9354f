import type { PlanExpression } from '../../../shared/language/plan/plan.ts';

/** Notes the slots of which an expression reads more than the last capture: `count(b)`, `first(b).f`, `b[0].f`. */
export function noteListReads(expression: PlanExpression | null, note: (slot: number) => void): void {
  if (expression !== null) visit(expression, note);
}

/** Plans are plain trees, so every part is looked at; only expression nodes carry what is looked for. */
function visit(part: unknown, note: (slot: number) => void): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const item of part) visit(item, note);
    return;
  }
  const { kind, slot } = part as { readonly kind?: unknown; readonly slot?: unknown };
  if ((kind === 'closure' || kind === 'item' || kind === 'items') && typeof slot === 'number') note(slot);
  for (const child of Object.values(part)) visit(child, note);
}
