import { aggregates } from '../../../../shared/language/functions/index.ts';
import type { AggregatePlan, WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Place } from '../place.ts';
import { CannotFuse } from '../typed.ts';
import { fuseCountWindow } from './fuse-count-window.ts';
import { fuseSessionWindow } from './fuse-session-window.ts';
import { fuseSlidingWindow } from './fuse-sliding-window.ts';
import { fuseTimeWindow } from './fuse-time-window.ts';

/** `.window(..)` with its `.aggregate`. @throws CannotFuse where rows or what they gave are kept until the window closes */
export function fuseWindow(plan: WindowOperatorPlan, place: Place): null {
  const { window, aggregate, predicates } = plan;
  if (aggregate === null) throw new CannotFuse('rows are kept until the window closes');
  if (predicates.length > 0) throw new CannotFuse('`.pattern` reads all rows of the window');
  if (place.stream.time.outOfOrderMs > 0 && isOrderSensitive(aggregate))
    throw new CannotFuse('results follow the order of events, which may come out of order');
  if (window.kind === 'count' && window.slide === null) fuseCountWindow(plan, window, place);
  else if (window.kind === 'time' && window.slideMs < window.sizeMs) fuseSlidingWindow(plan, aggregate, window, place);
  else if (window.kind === 'time' && window.earlyMs === null) fuseTimeWindow(plan, window, place);
  else if (window.kind === 'session' && window.earlyMs === null && !isOrderSensitive(aggregate))
    fuseSessionWindow(plan, aggregate, window, place);
  else throw new CannotFuse(whyNot(plan, aggregate));
  return null;
}

function whyNot({ window }: WindowOperatorPlan, aggregate: AggregatePlan): string {
  if (window.kind === 'count') return 'windows of counts slide';
  return window.kind === 'session' && isOrderSensitive(aggregate)
    ? 'results follow the order of events of a session'
    : 'there are early results';
}

/** Some result follows the order of arrival, which is not that of event time. */
export function isOrderSensitive({ calls }: AggregatePlan): boolean {
  return calls.some((call) => aggregates.get(call.function)?.create(call.constants).merge === undefined);
}
