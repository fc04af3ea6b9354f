import type {
  AggregateOperatorPlan,
  OperatorPlan,
  StreamPlan,
  WindowOperatorPlan,
  WindowPlan,
} from '../../../../shared/language/plan/plan.ts';
import type { KernelNode } from '../../physical/physical-plan.ts';

/** What the physical plan says of the kernel of an operator, whatever form its rows have; null = it is no window and no running aggregate. */
export function windowNodeOf(plan: OperatorPlan, stream: StreamPlan): KernelNode | null {
  if (plan.kind !== 'window' && plan.kind !== 'aggregate') return null;
  const keys = (plan.partition ?? stream.partition).keys.map(({ name }) => name);
  return { name: plan.kind === 'window' ? nameOf(plan.window) : 'running aggregate', keys, keeps: keptBy(plan), sharedWith: [] };
}

function nameOf(window: WindowPlan): string {
  switch (window.kind) {
    case 'time':
      if (window.slideMs > window.sizeMs) return 'windows of time that lie apart';
      return window.slideMs < window.sizeMs ? 'windows of time that overlap' : 'tumbling windows of time';
    case 'count':
      return window.slide === null ? 'tumbling windows of events' : 'windows of events that slide';
    case 'session':
      return 'sessions';
  }
}

function keptBy(plan: WindowOperatorPlan | AggregateOperatorPlan): readonly string[] {
  const calls = plan.aggregate?.calls.map((call) => call.function) ?? [];
  const readsRows = plan.kind === 'window' && (plan.aggregate === null || plan.predicates.length > 0);
  return readsRows ? ['rows', ...calls] : calls;
}
