import type { FilterPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { FusionContext } from '../fusion-context.ts';
import { guarded } from '../guarded.ts';
import { conditionOf } from '../print-typed.ts';
import { Refusal } from '../typed.ts';

/** `.where`: the row ends here unless the condition is true. */
export function fuseFilter(plan: FilterPlan, context: FusionContext): Columns | Refusal {
  const { body, columns, module, fusion } = context;
  const condition = conditionOf(leftOf(plan.condition, fusion.found), { module, body, readable: columns });
  if (condition instanceof Refusal) return condition;
  if (!condition.canFail) {
    const isAlways = plan.condition.kind === 'constant' && plan.condition.value === true;
    if (!isAlways) body.addEnd(() => `if(!${condition.text})return;`);
    return columns;
  }
  const names = guarded([condition], plan, context);
  if (names instanceof Refusal) return names;
  body.addEnd(`if(!${names[0]})return;`);
  return columns;
}

/** What is left to ask of a condition of which a part is known to hold. */
function leftOf(condition: PlanExpression, known: PlanExpression | null): PlanExpression {
  if (known === null || condition.kind !== 'logical' || condition.operator !== 'and') return condition;
  if (condition.left === known) return condition.right;
  if (condition.right === known) return condition.left;
  const [left, right] = [leftOf(condition.left, known), leftOf(condition.right, known)];
  return left === condition.left && right === condition.right ? condition : { ...condition, left, right };
}
