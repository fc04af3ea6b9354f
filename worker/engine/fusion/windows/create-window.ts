import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment } from '../../operators/operator.ts';
import { SlidingTimeWindow, slidesOverTime } from '../../windows/sliding-time-window.ts';
import { CountWindowKernel } from './count-window-kernel.ts';
import { SessionKernel } from './session-kernel.ts';
import type { SlotField } from './slot-fields.ts';
import { TimeWindowKernel, type TimeWindowPlan } from './time-window-kernel.ts';
import { WholeRows, type WholeUse } from './whole-rows.ts';

/** A window that takes whole rows. */
export function createWindow(plan: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): Operator {
  const { window, aggregate } = plan;
  const whole = (use: WholeUse): WholeRows => new WholeRows(plan, next, environment, use);
  switch (window.kind) {
    case 'time':
      return aggregate !== null && slidesOverTime(plan, window)
        ? new SlidingTimeWindow(plan, aggregate, window, next, environment)
        : new TimeWindowKernel(whole(useOfTime(window)), window, next, environment);
    case 'count':
      return new CountWindowKernel(whole({ ...USE_OF_COUNT, takesOut: window.slide !== null }), window, next, environment);
    case 'session':
      return new SessionKernel(whole(USE_OF_SESSION), aggregate, window, next, environment);
  }
}

/** Of windows that overlap a key has many open. */
function useOfTime({ slideMs, sizeMs }: TimeWindowPlan): WholeUse {
  const linkedBack: readonly SlotField[] = slideMs < sizeMs ? ['before'] : [];
  return { hot: ['start', 'end'], cold: ['firstOrder', 'next', 'owner', 'origin', ...linkedBack] };
}

const USE_OF_COUNT: WholeUse = { hot: ['minTime', 'maxTime', 'since', 'hasGiven'], cold: ['firstOrder', 'lastOrder'] };
const USE_OF_SESSION: WholeUse = { hot: ['minTime', 'maxTime'], cold: ['firstOrder', 'next', 'owner', 'closedLast'], merges: true };
