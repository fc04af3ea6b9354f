import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import { isOrderSensitive } from '../../windows/aggregate-call.ts';
import type { FusionContext } from '../fusion-context.ts';
import { Refusal } from '../typed.ts';
import { fuseClosingWindow } from './closing-window.ts';
import { countWindow } from './fuse-count-window.ts';
import { sessionWindow } from './fuse-session-window.ts';
import { fuseSlidingWindow } from './fuse-sliding-window.ts';
import { timeWindow } from './fuse-time-window.ts';

/** `.window(..)` with its `.aggregate`, unless rows or what they gave are kept until the window closes. */
export function fuseWindow(plan: WindowOperatorPlan, context: FusionContext): null | Refusal {
  const { window, aggregate, predicates } = plan;
  if (aggregate === null) return new Refusal('rows are kept until the window closes');
  if (predicates.length > 0) return new Refusal('`.pattern` reads all rows of the window');
  const followsOrder = aggregate.calls.some(isOrderSensitive);
  if (followsOrder && context.stream.time.outOfOrderMs > 0)
    return new Refusal('results follow the order of events, which may come out of order');
  if ('earlyMs' in window && window.earlyMs !== null) return new Refusal('there are early results');
  switch (window.kind) {
    case 'count':
      return window.slide === null ? fuseClosingWindow(plan, countWindow(plan, window), context) : new Refusal('windows of counts slide');
    case 'time':
      if (window.slideMs < window.sizeMs) return fuseSlidingWindow(plan, aggregate, window, context);
      return window.slideMs === window.sizeMs ? fuseClosingWindow(plan, timeWindow(window), context) : new Refusal('windows lie apart');
    case 'session':
      if (followsOrder) return new Refusal('results follow the order of events of a session');
      return fuseClosingWindow(plan, sessionWindow(aggregate, window), context);
  }
}
