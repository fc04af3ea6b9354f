import type { StreamPlan } from '../../../../../shared/language/plan/plan.ts';
import { CannotFuse } from '../../typed.ts';

/** What is kept of the last event of a step: the fields that the result, or what follows it, reads. */
export interface HeldSlot {
  readonly slot: number;
  readonly fields: readonly string[];
}

/** Parts of a match that no plain result has. */
const OF_MATCHES: ReadonlySet<unknown> = new Set(['item', 'items', 'closure', 'unless_first']);

/** The steps of which the operators of a stream read something; null = of none. @throws CannotFuse where whole events are read */
export function heldSlots({ operators }: StreamPlan): readonly HeldSlot[] | null {
  const held = new Map<number, Set<string>>();
  visit(operators, held);
  if (held.size === 0) return null;
  return [...held].map(([slot, fields]) => ({ slot, fields: [...fields] }));
}

function visit(part: unknown, held: Map<number, Set<string>>): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const item of part) visit(item, held);
    return;
  }
  const { kind, of, name } = part as { readonly kind?: unknown; readonly of?: unknown; readonly name?: unknown };
  if (OF_MATCHES.has(kind) || kind === 'slot') throw new CannotFuse('a result reads whole events of a step');
  const slot = slotOf(of);
  if (slot !== null && (kind === 'field' || kind === 'attribute')) {
    const fields = held.get(slot) ?? new Set();
    if (kind === 'field') fields.add(String(name));
    held.set(slot, fields);
    return;
  }
  for (const child of Object.values(part)) visit(child, held);
}

function slotOf(of: unknown): number | null {
  if (typeof of !== 'object' || of === null) return null;
  const { kind, slot } = of as { readonly kind?: unknown; readonly slot?: unknown };
  return kind === 'slot' && typeof slot === 'number' ? slot : null;
}
