import type { ClusterState, ScalingPolicy } from '../state/cluster-state.ts';

export interface Recommendation {
  readonly action: 'scale_up' | 'scale_down' | 'stable';
  readonly current_workers: number;
  readonly target_workers: number;
  readonly reason: string;
  readonly avg_pipelines_per_worker: number;
  readonly total_pipelines: number;
  readonly load: number;
  /** Epoch ms. */
  readonly timestamp: number;
}

/** Whether more workers, or fewer, are recommended: by the pipelines of each that is ready. */
export function scalingRecommendation(
  state: ClusterState,
  { policy, timestamp }: { readonly policy: ScalingPolicy; readonly timestamp: number },
): Recommendation {
  const ready = [...state.workers.values()].filter(({ status }) => status === 'ready').length;
  const pipelines = state.placements.size;
  const load = ready === 0 ? 0 : pipelines / ready;
  const { action, target, reason } = decision(policy, { ready, pipelines, load });
  return {
    ...{ action, current_workers: ready, target_workers: target, reason },
    ...{ avg_pipelines_per_worker: load, total_pipelines: pipelines, load, timestamp },
  };
}

type Decision = { readonly action: Recommendation['action']; readonly target: number; readonly reason: string };

function decision(
  { workersMin: min, workersMax: max, upThreshold: up, downThreshold: down }: ScalingPolicy,
  { ready, pipelines, load }: { readonly ready: number; readonly pipelines: number; readonly load: number },
): Decision {
  const stable = (reason = 'Load within thresholds'): Decision => ({ action: 'stable', target: ready, reason });
  if (min === 0) return stable();
  const needed = Math.ceil(pipelines / up);
  if (ready < min) return { action: 'scale_up', target: min, reason: `Below minimum workers: ${ready} < ${min}` };
  if (load > up) {
    const target = Math.min(needed, max);
    if (target <= ready) return stable('Load within thresholds (maximum reached)');
    return { action: 'scale_up', target, reason: `Load ${load.toFixed(1)} exceeds threshold ${up.toFixed(1)}` };
  }
  const target = Math.max(needed, min);
  if (load >= down || ready <= min || target >= ready) return stable();
  return { action: 'scale_down', target, reason: `Load ${load.toFixed(1)} below threshold ${down.toFixed(1)}` };
}
