import { aggregates } from '../../../../shared/language/functions/index.ts';
import type { AggregatePlan, WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Place } from '../place.ts';
import { CannotFuse } from '../typed.ts';
import { fuseCountWindow } from './fuse-count-window.ts';
import { fuseSessionWindow } from './fuse-session-window.ts';
import { fuseSlidingWindow } from './fuse-sliding-window.ts';
import { fuseTimeWindow } from './fuse-time-window.ts';

/** `.window(..)` with its `.aggregate`. @throws CannotFuse where rows or what they gave are kept until the window closes */
export function fuseWindow(plan: WindowOperatorPlan, place: Place): void {
  const { window, aggregate, predicates } = plan;
  if (aggregate === null || predicates.length > 0) throw new CannotFuse();
  if (place.stream.time.outOfOrderMs > 0 && isOrderSensitive(aggregate)) throw new CannotFuse();
  if (window.kind === 'count' && window.slide === null) fuseCountWindow(plan, window.size, place);
  else if (window.kind === 'time' && window.slideMs < window.sizeMs) fuseSlidingWindow(plan, aggregate, window, place);
  else if (window.kind === 'time' && window.earlyMs === null) fuseTimeWindow(plan, window, place);
  else if (window.kind === 'session' && window.earlyMs === null && !isOrderSensitive(aggregate))
    fuseSessionWindow(plan, aggregate, window.gapMs, place);
  else throw new CannotFuse();
}

/** Some result follows the order of arrival, which is not that of event time. */
export function isOrderSensitive({ calls }: AggregatePlan): boolean {
  return calls.some((call) => aggregates.get(call.function)?.create(call.constants).merge === undefined);
}
