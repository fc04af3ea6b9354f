import type { FilterPlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { FusionContext } from '../fusion-context.ts';
import { guarded } from '../guarded.ts';
import { conditionOf } from '../print-typed.ts';
import { Refusal } from '../typed.ts';

/** `.where`: the row ends here unless the condition is true. */
export function fuseFilter(plan: FilterPlan, context: FusionContext): Columns | Refusal {
  const { body, columns, module } = context;
  const condition = conditionOf(plan.condition, { module, body, readable: columns });
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
