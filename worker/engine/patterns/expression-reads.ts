import type { PlanExpression } from '../../../shared/language/plan/plan.ts';

/** The slots of which expressions read more than the last capture: `count(b)`, `first(b).f`, `b[0].f`. */
export function slotsReadAsLists(expressions: readonly (PlanExpression | null)[]): ReadonlySet<number> {
  const slots = new Set<number>();
  visit(expressions, LIST_READS, slots);
  return slots;
}

/** Every slot that expressions look at. */
export function slotsRead(expressions: readonly (PlanExpression | null)[]): ReadonlySet<number> {
  const slots = new Set<number>();
  visit(expressions, ANY_READS, slots);
  return slots;
}

const LIST_READS: ReadonlySet<unknown> = new Set(['closure', 'item', 'items']);
const ANY_READS: ReadonlySet<unknown> = new Set([...LIST_READS, 'slot', 'unless_first']);

/** Plans are plain trees, so every part is looked at; only expression nodes carry what is looked for. */
function visit(part: unknown, kinds: ReadonlySet<unknown>, slots: Set<number>): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const item of part) visit(item, kinds, slots);
    return;
  }
  const { kind, slot } = part as { readonly kind?: unknown; readonly slot?: unknown };
  if (kinds.has(kind) && typeof slot === 'number') slots.add(slot);
  for (const child of Object.values(part)) visit(child, kinds, slots);
}
