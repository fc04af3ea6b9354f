import type { PlanExpression } from '../../../shared/language/plan/plan.ts';

const making: ReadonlySet<unknown> = new Set(['array', 'map', 'template', 'range', 'slice', 'row', 'closure', 'invoke', 'lambda', 'block']);
/** Types of values that are no arrays, maps or texts. */
const small: ReadonlySet<unknown> = new Set(['int', 'float', 'bool', 'timestamp', 'duration', 'null']);

/** Whether an expression may make arrays, maps or texts, so that what it makes is to be counted from its beginning. */
export function makesValues(plan: PlanExpression): boolean {
  const open: unknown[] = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const { kind, operator, type } = next as { kind?: unknown; operator?: unknown; type?: { readonly kind: unknown } };
    if (kind === 'constant') continue;
    if (making.has(kind)) return true;
    if ((kind === 'call' || (kind === 'binary' && operator === '+')) && !small.has(type?.kind)) return true;
    for (const [name, part] of Object.entries(next)) if (name !== 'type' && name !== 'origin') open.push(part);
  }
  return false;
}
