import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Place } from '../place.ts';
import { CannotFuse } from '../typed.ts';
import { fuseCountWindow } from './fuse-count-window.ts';

/** `.window(..)` with its `.aggregate`. */
export function fuseWindow(plan: WindowOperatorPlan, place: Place): void {
  if (plan.aggregate === null || plan.predicates.length > 0) throw new CannotFuse();
  if (plan.window.kind !== 'count' || plan.window.slide !== null) throw new CannotFuse();
  fuseCountWindow(plan, plan.window.size, place);
}
