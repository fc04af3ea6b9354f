import { aggregates } from '../../../shared/language/functions/index.ts';
import type { AggregateCall } from '../../../shared/language/plan/plan.ts';

/** How much a call takes, the choosiest first: those that may refuse a value come before others, so that what they refuse changes nothing. */
export function acceptanceRank({ function: name }: AggregateCall): number {
  const takes = aggregates.get(name)?.takes;
  return takes === 'anything' ? 2 : takes === 'one_kind' ? 1 : 0;
}

/** Whether its result follows event time, though it does not follow the order in which events are added. */
export function followsTime({ function: name }: AggregateCall): boolean {
  return aggregates.get(name)?.followsTime === true;
}

/** Whether a null is a value to it. */
export function takesNulls({ function: name }: AggregateCall): boolean {
  return aggregates.get(name)?.takesNulls === true;
}
