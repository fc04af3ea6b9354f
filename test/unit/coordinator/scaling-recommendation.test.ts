import { describe, expect, it } from 'vitest';
import { scalingRecommendation } from '../../../coordinator/scaling/recommendation.ts';
import { type ClusterState, emptyState } from '../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../coordinator/state/commands.ts';
import { step } from './state/commands.ts';

const policy = { workersMin: 2, workersMax: 4, upThreshold: 5, downThreshold: 1 };

/** So many workers that are ready, one that is not, and so many placements. */
function cluster(ready: number, placements: number): ClusterState {
  const registered = Array.from({ length: ready + 1 }, (_, at): Command => {
    const [id, address] = [`w${at}`, 'http://w'];
    return { type: 'RegisterWorker', payload: { id, address, incarnation: 'i', version: '1', cpuCores: 1, pipelinesMax: 99 } };
  });
  const readied = registered.slice(1).map((_, at): Command => {
    return { type: 'SetWorkerStatus', payload: { id: `w${at}`, incarnation: 'i', status: 'ready' } };
  });
  const pipelines = Array.from({ length: placements }, (_, at) => ({ name: `p${at}`, source: '', replicas: 1 }));
  const group: Command[] = placements === 0 ? [] : [{ type: 'CreateGroup', payload: { name: 'g', pipelines, routes: [] } }];
  return [...registered, ...readied, ...group].reduce(
    (state, command) => step(state, { command, request: undefined, atMs: 0 }).state,
    emptyState,
  );
}

describe('the scaling recommendation', () => {
  it.each([
    ['nothing while it is off', { ...policy, workersMin: 0 }, 1, 50, ['stable', 1, 'Load within thresholds']],
    ['the minimum where fewer are ready', policy, 1, 0, ['scale_up', 2, 'Below minimum workers: 1 < 2']],
    ['the minimum where none is ready', policy, 0, 3, ['scale_up', 2, 'Below minimum workers: 0 < 2']],
    ['more above the upper threshold', policy, 2, 11, ['scale_up', 3, 'Load 5.5 exceeds threshold 5.0']],
    ['no more than the maximum', policy, 3, 40, ['scale_up', 4, 'Load 13.3 exceeds threshold 5.0']],
    ['nothing once the maximum is reached', policy, 4, 40, ['stable', 4, 'Load within thresholds (maximum reached)']],
    ['nothing at the upper threshold', policy, 2, 10, ['stable', 2, 'Load within thresholds']],
    ['nothing at the lower threshold', policy, 3, 3, ['stable', 3, 'Load within thresholds']],
    ['fewer below the lower threshold', policy, 4, 3, ['scale_down', 2, 'Load 0.8 below threshold 1.0']],
    ['as many as the pipelines need', { ...policy, downThreshold: 4 }, 4, 14, ['scale_down', 3, 'Load 3.5 below threshold 4.0']],
    ['no fewer than the minimum', policy, 2, 0, ['stable', 2, 'Load within thresholds']],
    ['nothing where fewer would be too few', { ...policy, downThreshold: 4.9 }, 3, 14, ['stable', 3, 'Load within thresholds']],
  ] as const)('is %s', (_what, under, ready, placements, [action, target, reason]) => {
    const load = ready === 0 ? 0 : placements / ready;
    expect(scalingRecommendation(cluster(ready, placements), { policy: under, timestamp: 7 })).toEqual({
      ...{ action, current_workers: ready, target_workers: target, reason },
      ...{ avg_pipelines_per_worker: load, total_pipelines: placements, load, timestamp: 7 },
    });
  });
});
