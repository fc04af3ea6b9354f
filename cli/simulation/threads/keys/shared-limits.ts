import type { Plan, SourcePlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { limits } from '../../../../shared/limits.ts';

/**
 * The plan for one of several engines that share the events: what all streams may remember is divided among them, so that none of them goes
 * over a bound without saying so that one engine alone would not have reached.
 */
export function withSharedLimits(plan: Plan, count: number): Plan {
  return count === 1 ? plan : { ...plan, streams: plan.streams.map((stream) => sharedStream(stream, count)) };
}

function sharedStream(stream: StreamPlan, count: number): StreamPlan {
  const source = sharedSource(stream.source, count);
  return source === stream.source ? stream : { ...stream, source };
}

function sharedSource(source: SourcePlan, count: number): SourcePlan {
  switch (source.kind) {
    case 'pattern':
      return { ...source, pattern: { ...source.pattern, runsMax: Math.floor(source.pattern.runsMax / count) } };
    case 'join':
      return { ...source, waitingMax: Math.floor((source.waitingMax ?? limits.patternRunsDefault) / count) };
    default:
      return source;
  }
}
