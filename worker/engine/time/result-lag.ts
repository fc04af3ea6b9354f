import type { StreamPlan } from '../../../shared/language/plan/plan.ts';

/**
 * How far behind the watermark (ms) a row may lie that is not displaced: a window's result has the time `end - 1ms` and
 * comes when the watermark has reached `end` and the allowed lateness.
 */
export function resultLagMs(stream: StreamPlan): number {
  return 1 + stream.time.allowedLatenessMs;
}
