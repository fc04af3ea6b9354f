import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { Enrich } from '../analytics/enrich.ts';
import { Forecast } from '../analytics/forecast/forecast.ts';
import { Score } from '../analytics/score.ts';
import { createWindow } from '../fusion/windows/create-window.ts';
import { RunningKernel } from '../fusion/windows/running-kernel.ts';
import { WindowAggregate } from '../windows/window-aggregate.ts';
import { Alert } from './alert.ts';
import { PassedOn } from './basic-operator.ts';
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

type Kind = OperatorPlan['kind'];
type PlanOf<K extends Kind> = Extract<OperatorPlan, { kind: K }>;

type Create<K extends Kind> = (plan: PlanOf<K>, next: Next, environment: StreamEnvironment) => Operator;

/** Every kind of operator and what makes it. Total: a new kind does not compile until it stands here. */
const operatorTable: { readonly [K in Kind]: Create<K> } = {
  filter: (plan, next, environment) => new Filter(plan, next, environment),
  select: (plan, next, environment) => new Select(plan, next, environment),
  map: (plan, next, environment) => new MapFields(plan, next, environment),
  emit: (plan, next, environment) => new Emit(plan, next, environment),
  window: createWindow,
  aggregate: (plan, next, environment) => new RunningKernel(plan, next, environment),
  window_aggregate: (plan, next, environment) => new WindowAggregate(plan, next, environment),
  order_by: (plan, next, environment) => new OrderBy(plan, next, environment),
  limit: (plan, next, environment) => new Limit(plan, next, environment),
  last: (plan, next) => new Last(plan, next),
  distinct: (plan, next, environment) => new Distinct(plan, next, environment),
  dedupe: (plan, next, environment) => new Distinct(plan, next, environment),
  throttle: (plan, next, environment) => new Throttle(plan, next, environment),
  process: (plan, next, environment) => new ProcessFunction(plan, next, environment),
  tap: (plan, next, environment) => new Tap(plan, next, environment),
  alert: (plan, next, environment) => new Alert(plan, next, environment),
  to: (plan, next, environment) => new ToConnector(plan, next, environment),
  fork: (plan, next, environment) => new Fork(plan, next, environment),
  context: (_plan, next) => new PassedOn(next),
  trend_aggregate: (_plan, next) => new PassedOn(next),
  forecast: (plan, next, environment) => new Forecast(plan, next, environment),
  enrich: (plan, next, environment) => new Enrich(plan, next, environment),
  score: (plan, next, environment) => new Score(plan, next, environment),
};

export function createOperator(plan: OperatorPlan, next: Next, environment: StreamEnvironment): Operator {
  const create = operatorTable[plan.kind] as Create<Kind>;
  return create(plan, next, environment);
}
