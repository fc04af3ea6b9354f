import type { OperatorPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';

/**
 * How far behind its own watermark (ms) a stream's results may still come, so that its followers wait for them. A session
 * ends only when the watermark lies past its end, and its result has the time `end - 1ms`: without the wait a window that
 * ends where the session does would close before it.
 */
export function passedOnLagMs(stream: StreamPlan): number {
  return stream.time.allowedLatenessMs + (stream.operators.some(hasSessions) ? 1 : 0);
}

function hasSessions(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some((branch) => branch.operators.some(hasSessions));
  return operator.kind === 'window' && operator.window.kind === 'session';
}
