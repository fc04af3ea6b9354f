import Type from 'typebox';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import { clusterMetricsSchema, scalingSchema, topologySchema } from '../../../shared/protocol/cluster.ts';
import type { ClusterJournal } from '../../cluster/cluster-journal.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { scalingRecommendation } from '../../scaling/recommendation.ts';
import type { ScalingPolicy } from '../../state/cluster-state.ts';
import { clusterMetricsWire } from '../cluster-metrics-wire.ts';
import { type ClusterRequests, consistencyParameter } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { topologyWire } from '../group-wire.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'cluster';
const fresh = { query: { consistency: consistencyParameter }, errors: ['validation_error', ...leaderErrors] } as const;

export interface OverviewOptions {
  readonly requests: ClusterRequests;
  readonly controller: Controller;
  readonly journal: ClusterJournal;
  readonly scaling: ScalingPolicy;
}

/** The cluster as a whole. */
export function overviewRoutes({ requests, controller, journal, scaling }: OverviewOptions): readonly ClusterRoute[] {
  const { group } = requests;
  return [
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/topology`,
      operation: 'getTopology',
      summary: 'Show who runs what, and what goes from where to where',
      tag,
      access: 'key',
      ...fresh,
      success: { 200: topologySchema },
      handle: (call) => requests.read(call, call.query.consistency, (state) => new Answer(200, topologyWire(state))),
    }),
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/metrics`,
      operation: 'getClusterMetrics',
      summary: 'Show what workers and pipelines have counted, as the leader has heard it',
      tag,
      access: 'key',
      ...fresh,
      success: { 200: clusterMetricsSchema },
      handle: (call) =>
        requests.observed(call, call.query.consistency, () => new Answer(200, clusterMetricsWire(group.state, controller.observations))),
    }),
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/scaling`,
      operation: 'getScaling',
      summary: 'Show whether more workers, or fewer, are recommended',
      tag,
      access: 'key',
      ...fresh,
      success: { 200: scalingSchema },
      handle: (call) =>
        requests.read(call, call.query.consistency, (state) => {
          return new Answer(200, scalingRecommendation(state, { policy: scaling, timestamp: Date.now() }));
        }),
    }),
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/events`,
      operation: 'listClusterEvents',
      summary: 'List what has happened in the cluster, the newest first, as the asked member has seen it since it started',
      tag,
      access: 'key',
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: {
        200: Type.Array(
          Type.Object(
            { index: Type.Integer(), type: Type.String(), id: Type.String(), timestamp: Type.Integer() },
            { additionalProperties: false },
          ),
        ),
      },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) => {
        const { limit, offset, consistency } = call.query;
        return requests.read(call, consistency, () => {
          const all = journal.newestFirst();
          return new Answer(200, all.slice(offset, offset + limit), { 'x-total-count': String(all.length) });
        });
      },
    }),
  ];
}
