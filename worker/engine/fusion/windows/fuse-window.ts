import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import { isOrderSensitive } from '../../windows/aggregate-call.ts';
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
  const followsOrder = aggregate.calls.some(isOrderSensitive);
  if (followsOrder && place.stream.time.outOfOrderMs > 0)
    throw new CannotFuse('results follow the order of events, which may come out of order');
  if ('earlyMs' in window && window.earlyMs !== null) throw new CannotFuse('there are early results');
  switch (window.kind) {
    case 'count':
      if (window.slide !== null) throw new CannotFuse('windows of counts slide');
      fuseCountWindow(plan, window, place);
      return null;
    case 'time':
      if (window.slideMs < window.sizeMs) fuseSlidingWindow(plan, aggregate, window, place);
      else fuseTimeWindow(plan, window, place);
      return null;
    case 'session':
      if (followsOrder) throw new CannotFuse('results follow the order of events of a session');
      fuseSessionWindow(plan, aggregate, window, place);
      return null;
  }
}
