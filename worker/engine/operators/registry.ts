import type { OperatorPlan, WindowOperatorPlan } from '../../../shared/language/plan/plan.ts';
import { Enrich } from '../analytics/enrich.ts';
import { Forecast } from '../analytics/forecast/forecast.ts';
import { Score } from '../analytics/score.ts';
import { CountWindow } from '../windows/count-window.ts';
import { RunningAggregate } from '../windows/running-aggregate.ts';
import { SessionWindow } from '../windows/session-window.ts';
import { SlidingTimeWindow, slidesOverTime } from '../windows/sliding-time-window.ts';
import { TimeWindow } from '../windows/time-window.ts';
import { WindowAggregate } from '../windows/window-aggregate.ts';
import { Alert } from './alert.ts';
import { ContextMark } from './context-mark.ts';
import { Distinct } from './distinct.ts';
import { Emit } from './emit.ts';
import { Filter } from './filter.ts';
import { Fork } from './fork.ts';
import { Last } from './last.ts';
import { Limit } from './limit.ts';
import { MapFields } from './map.ts';
import type { Next, Operator } from './operator.ts';
import { OrderBy } from './order-by.ts';
import { ProcessFunction } from './process-function.ts';
import { Select } from './select.ts';
import type { StreamEnvironment } from './stream-environment.ts';
import { Tap } from './tap.ts';
import { Throttle } from './throttle.ts';
import { ToConnector } from './to-connector.ts';
import { TrendMark } from './trend-mark.ts';

type Kind = OperatorPlan['kind'];
type PlanOf<K extends Kind> = Extract<OperatorPlan, { kind: K }>;

interface OperatorEntry<K extends Kind> {
  readonly create: (plan: PlanOf<K>, next: Next, environment: StreamEnvironment) => Operator;
  /** May hold a row back where another passes: what a trace calls BLOCK. */
  readonly holdsBack?: boolean;
  /** May have a deadline. */
  readonly waits?: boolean;
}

/** Every kind of operator and what makes it. Total: a new kind does not compile until it stands here. */
const operatorTable: { readonly [K in Kind]: OperatorEntry<K> } = {
  filter: { create: (plan, next, environment) => new Filter(plan, next, environment), holdsBack: true },
  select: { create: (plan, next, environment) => new Select(plan, next, environment) },
  map: { create: (plan, next, environment) => new MapFields(plan, next, environment) },
  emit: { create: (plan, next, environment) => new Emit(plan, next, environment) },
  window: { create: createWindow, waits: true },
  aggregate: { create: (plan, next, environment) => new RunningAggregate(plan, next, environment), waits: true },
  window_aggregate: { create: (plan, next, environment) => new WindowAggregate(plan, next, environment) },
  order_by: { create: (plan, next, environment) => new OrderBy(plan, next, environment) },
  limit: { create: (plan, next, environment) => new Limit(plan, next, environment), holdsBack: true, waits: true },
  last: { create: (plan, next) => new Last(plan, next) },
  distinct: { create: (plan, next, environment) => new Distinct(plan, next, environment), holdsBack: true, waits: true },
  dedupe: { create: (plan, next, environment) => new Distinct(plan, next, environment), holdsBack: true, waits: true },
  throttle: { create: (plan, next, environment) => new Throttle(plan, next, environment), holdsBack: true, waits: true },
  process: { create: (plan, next, environment) => new ProcessFunction(plan, next, environment) },
  tap: { create: (plan, next, environment) => new Tap(plan, next, environment) },
  alert: { create: (plan, next, environment) => new Alert(plan, next, environment) },
  to: { create: (plan, next, environment) => new ToConnector(plan, next, environment) },
  fork: { create: (plan, next, environment) => new Fork(plan, next, environment), waits: true },
  context: { create: (_plan, next) => new ContextMark(next) },
  trend_aggregate: { create: (_plan, next) => new TrendMark(next) },
  forecast: { create: (plan, next, environment) => new Forecast(plan, next, environment), waits: true },
  enrich: { create: (plan, next, environment) => new Enrich(plan, next, environment), waits: true },
  score: { create: (plan, next, environment) => new Score(plan, next, environment), waits: true },
};

export function createOperator(plan: OperatorPlan, next: Next, environment: StreamEnvironment): Operator {
  const { create } = operatorTable[plan.kind] as OperatorEntry<Kind>;
  return create(plan, next, environment);
}

/** Whether an operator may have a deadline. */
export function isWaiting(plan: OperatorPlan): boolean {
  return (operatorTable[plan.kind] as OperatorEntry<Kind>).waits === true;
}

/** Whether a row that comes to an operator may end there. */
export function isHoldingBack(plan: OperatorPlan): boolean {
  return (operatorTable[plan.kind] as OperatorEntry<Kind>).holdsBack === true;
}

function createWindow(plan: WindowOperatorPlan, next: Next, environment: StreamEnvironment): Operator {
  const { window } = plan;
  switch (window.kind) {
    case 'time':
      return plan.aggregate !== null && slidesOverTime(plan, window)
        ? new SlidingTimeWindow(plan, plan.aggregate, window, next, environment)
        : new TimeWindow(plan, window, next, environment);
    case 'count':
      return new CountWindow(plan, window, next, environment);
    case 'session':
      return new SessionWindow(plan, window, next, environment);
  }
}
