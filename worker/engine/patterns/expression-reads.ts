import type { PlanExpression } from '../../../shared/language/plan/plan.ts';

/** Notes the slots of which an expression reads more than the last capture: `count(b)`, `first(b).f`, `b[0].f`. */
export function noteListReads(expression: PlanExpression | null, note: (slot: number) => void): void {
  if (expression !== null) visit(expression, LIST_READS, note);
}

/** Notes every slot that an expression looks at. */
export function noteReads(expression: PlanExpression | null, note: (slot: number) => void): void {
  if (expression !== null) visit(expression, ANY_READS, note);
}

const LIST_READS: ReadonlySet<unknown> = new Set(['closure', 'item', 'items']);
const ANY_READS: ReadonlySet<unknown> = new Set([...LIST_READS, 'slot', 'unless_first']);

/** Plans are plain trees, so every part is looked at; only expression nodes carry what is looked for. */
function visit(part: unknown, kinds: ReadonlySet<unknown>, note: (slot: number) => void): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const item of part) visit(item, kinds, note);
    return;
  }
  const { kind, slot } = part as { readonly kind?: unknown; readonly slot?: unknown };
  if (kinds.has(kind) && typeof slot === 'number') note(slot);
  for (const child of Object.values(part)) visit(child, kinds, note);
}
