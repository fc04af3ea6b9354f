import type { OperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorFuser } from '../fusion-context.ts';
import { Refusal } from '../typed.ts';
import { fuseAggregate } from '../windows/fuse-aggregate.ts';
import { fuseWindow } from '../windows/fuse-window.ts';
import { fuseEmit } from './emit.ts';
import { fuseFilter } from './filter.ts';
import { fuseSelect } from './select.ts';

type Kind = OperatorPlan['kind'];

/** The operators that have a form in generated code. Those that have none, and all behind them, take rows one by one. */
const operatorFusers: { readonly [K in Kind]?: OperatorFuser<Extract<OperatorPlan, { kind: K }>> } = {
  filter: fuseFilter,
  select: fuseSelect,
  emit: fuseEmit,
  window: fuseWindow,
  aggregate: fuseAggregate,
  trend_aggregate: (_plan, context) => context.columns,
  context: (_plan, context) => context.columns,
};

export function fuserOf(plan: OperatorPlan): OperatorFuser | Refusal {
  const fuser = operatorFusers[plan.kind] as OperatorFuser | undefined;
  return fuser ?? new Refusal('it has no form in generated code');
}
