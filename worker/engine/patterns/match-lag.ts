import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import { Completion } from './completion.ts';
import { buildPatternTree } from './pattern-tree.ts';

/**
 * How far (ms) behind the watermark a match may lie: it has the time of its last event, and one of a closure that ends the pattern comes
 * when its run is over. 0 where nothing bounds that.
 */
export function matchLagMs(plan: PatternPlan): number {
  if (!new Completion(plan, buildPatternTree(plan), () => undefined).waitsForTheEnd) return 0;
  return plan.withinMs ?? Math.max(...plan.steps.map(({ withinMs }) => withinMs ?? 0));
}
