import type { FilterPlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import { guarded } from '../guarded.ts';
import type { Place } from '../place.ts';
import { printTypedCondition } from '../print-typed.ts';

/** `.where`: the row ends here unless the condition is true. */
export function fuseFilter(plan: FilterPlan, place: Place): Columns {
  const { body, columns, module } = place;
  const condition = printTypedCondition(plan.condition, { module, body, readable: columns });
  const test = condition.canFail ? guarded([condition], plan, place)[0] : condition.text;
  if (test !== 'true') body.addEnd(`if(!${test})return;`);
  return columns;
}
