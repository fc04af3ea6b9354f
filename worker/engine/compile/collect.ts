import type { Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';

/** Every expression of the streams, globals and loads of a plan, each once; those within other expressions are not listed. */
export function collectExpressions(plan: Plan): PlanExpression[] {
  const found = new Set<PlanExpression>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isExpression(value)) found.add(value);
    else for (const part of partsOf(value)) visit(part);
  };
  visit([plan.globals, plan.loads, plan.streams]);
  return [...found];
}

/** All slots of locals that occur in an expression or body, those of lambdas included. */
export function collectSlots(value: unknown): number[] {
  const slots = new Set<number>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { kind, slot } = node as { kind?: unknown; slot?: unknown };
    if ((kind === 'local' || kind === 'set_local' || kind === 'for') && typeof slot === 'number') slots.add(slot);
    for (const part of partsOf(node)) visit(part);
  };
  visit(value);
  return [...slots].sort((a, b) => a - b);
}

/** The expressions that stand directly in another one. */
export function partsOfExpression(plan: PlanExpression): readonly PlanExpression[] {
  const found: PlanExpression[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isExpression(value)) found.push(value);
    else for (const part of partsOf(value)) visit(part);
  };
  for (const part of partsOf(plan)) visit(part);
  return found;
}

function isExpression(value: object): value is PlanExpression {
  const { kind, type } = value as { kind?: unknown; type?: unknown };
  return typeof kind === 'string' && typeof type === 'object' && type !== null && 'kind' in type;
}

/** What stands in a part of the plan, but positions and types, which are no meaning, and constants, which are values. */
function partsOf(value: object): unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [];
  return Object.entries(value)
    .filter(([name]) => name !== 'origin' && name !== 'type')
    .map(([, part]) => part);
}
