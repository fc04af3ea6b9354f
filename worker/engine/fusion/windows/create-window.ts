import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment } from '../../operators/operator.ts';
import { takesAnyOfItsType } from '../../windows/aggregate-call.ts';
import { type ContentUse, WindowContents } from '../../windows/window-content.ts';
import type { WholeWindows } from './content-kernel.ts';
import { CountWindowKernel } from './count-window-kernel.ts';
import { RingKernel } from './ring-kernel.ts';
import { SessionKernel } from './session-kernel.ts';
import type { TimeWindowPlan } from './time-grid.ts';
import { TimeWindowKernel } from './time-window-kernel.ts';
import { WholeRows } from './whole-rows.ts';

/** A window that takes whole rows. */
export function createWindow(plan: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): Operator {
  const { window, aggregate } = plan;
  const whole = (fields: ConstructorParameters<typeof WholeRows>[2], use?: ContentUse): WholeWindows =>
    new WholeRows(environment, new WindowContents(plan, next, environment, use), fields);
  switch (window.kind) {
    case 'time':
      if (aggregate !== null && slidesOverTime(plan, window)) return new RingKernel(aggregate, window, next, environment);
      return new TimeWindowKernel(whole(TimeWindowKernel.wholeFields), window, next, environment);
    case 'count':
      return new CountWindowKernel(
        whole(CountWindowKernel.wholeFields, { takesOut: window.slide !== null, keepsRefused: true }),
        plan,
        next,
        environment,
      );
    case 'session':
      return new SessionKernel(whole(SessionKernel.wholeFields, { merges: true }), aggregate, window, next, environment);
  }
}

/** Whether each event of windows of time that overlap is held once, whatever number of windows it belongs to. */
export function slidesOverTime({ aggregate, predicates }: WindowOperatorPlan, { slideMs, sizeMs, earlyMs }: TimeWindowPlan): boolean {
  const takesAll = aggregate?.calls.every(takesAnyOfItsType) ?? false;
  return takesAll && slideMs < sizeMs && earlyMs === null && predicates.length === 0;
}
