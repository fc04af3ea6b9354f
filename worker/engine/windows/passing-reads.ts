import type { AggregatePlan, PlanExpression } from '../../../shared/language/plan/plan.ts';

/** Types of values in which no array can be. */
const scalar: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'str', 'timestamp', 'duration', 'null']);
/** Functions that give an item of their array, whatever that is. */
const giveItems: ReadonlySet<string> = new Set(['first', 'last']);

/**
 * Positions of the calls whose results are only looked at where they are read (`len(collect(v))`, `collect(v)[-1]`): nothing of such a
 * result is left when the row of the aggregate has been made, so an array need not be a copy.
 */
export function callsReadInPassing({ calls, items }: AggregatePlan): ReadonlySet<number> {
  const found = new Set(calls.keys());
  const open: { readonly part: unknown; readonly isLookedAt: boolean }[] = items.map(({ value }) => ({ part: value, isLookedAt: false }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { part, isLookedAt } = next;
    if (typeof part !== 'object' || part === null) continue;
    const { kind, index } = part as { readonly kind?: unknown; readonly index?: unknown };
    if (kind === 'constant') continue;
    if (kind === 'aggregate' && !isLookedAt) found.delete(index as number);
    const looks = Array.isArray(part) ? isLookedAt : onlyLooks(part as PlanExpression);
    for (const [name, inner] of Object.entries(part))
      if (name !== 'type' && name !== 'origin') open.push({ part: inner, isLookedAt: looks });
  }
  return found;
}

/** Its value holds none of the arrays that it is made from. */
function onlyLooks(node: PlanExpression): boolean {
  switch (node.kind) {
    case 'index':
    case 'slice':
    case 'is_null':
    case 'template':
      return true;
    case 'call':
      return scalar.has(node.type.kind) || giveItems.has(node.function);
    case 'binary':
      return scalar.has(node.type.kind);
    default:
      return false;
  }
}
