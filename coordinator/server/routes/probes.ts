import type { Static } from 'typebox';
import { CepError, type CepErrorOptions } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { envelopeOf, errorHeaders } from '../../../shared/http/error-envelope.ts';
import { clusterHealthSchema, clusterIndexSchema, clusterNotReadySchema, clusterReadySchema } from '../../../shared/protocol/cluster.ts';
import type { GroupMember } from '../../cluster/group-member.ts';
import { countsOf } from '../../state/queries.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { raftStatusWire } from '../wire.ts';

const tag = 'probes';

export interface ProbeOptions {
  readonly group: GroupMember;
  readonly version: string;
  readonly isGroup: boolean;
  readonly startedAtMs: number;
  /** Why no requests should be sent here at the moment. */
  readonly refusal: () => CepError | undefined;
  /** The text of all metrics. */
  readonly metrics: () => Promise<string>;
}

/** What there is, whether the process lives and takes requests, and what it has counted. */
export function probeRoutes({ group, version, isGroup, startedAtMs, refusal, metrics }: ProbeOptions): readonly ClusterRoute[] {
  return [
    clusterRoute({
      method: 'GET',
      path: '/',
      operation: 'getIndex',
      summary: 'Say what is served here, and where it is described',
      tag,
      access: 'open',
      success: { 200: clusterIndexSchema },
      handle: () => ({
        ...{ name: 'cep', role: 'coordinator', version, console: '/console', docs: '/docs', openapi: '/openapi.json', api: clusterPath },
        ...{ health: '/health', ready: '/ready', metrics: '/metrics' },
      }),
    }),
    clusterRoute({
      method: 'GET',
      path: '/health',
      operation: 'getHealth',
      summary: 'Say that the process lives, and how the cluster is as it knows it',
      tag,
      access: 'open',
      isProbe: true,
      success: { 200: clusterHealthSchema },
      handle: () => {
        const { role, leader_id, term, recovering, removed } = raftStatusWire(group.status(), isGroup, group.state.format);
        const uptime = (performance.now() - startedAtMs) / 1_000;
        return {
          ...{ status: healthOf(group), role: 'coordinator', version, uptime_seconds: uptime },
          ...(isGroup ? { raft: { role, leader_id, term, recovering, ...(removed && { removed }) } } : {}),
          ...countsOf(group.state),
        };
      },
    }),
    clusterRoute({
      method: 'GET',
      path: '/ready',
      operation: 'getReadiness',
      summary: 'Say whether requests should be sent to this member',
      tag,
      access: 'open',
      isProbe: true,
      success: { 200: clusterReadySchema },
      errors: ['not_ready'],
      errorBodies: { 503: clusterNotReadySchema },
      handle: ({ requestId }) => {
        const draining = refusal();
        const unready = draining ? ({ reason: 'draining', error: draining } as const) : unreadyOf(group);
        if (!unready) return { status: 'ready', applied_index: group.state.index };
        const { reason, error } = unready;
        return new Answer(error.status, { status: 'not_ready', reason, ...envelopeOf(error, requestId) }, errorHeaders(error));
      },
    }),
    clusterRoute({
      method: 'GET',
      path: '/metrics',
      operation: 'getMetrics',
      summary: 'Show all metrics in the Prometheus format',
      tag,
      access: 'admin',
      isProbe: true,
      success: { 200: 'Prometheus text exposition' },
      textType: 'text/plain',
      handle: async () => new Answer(200, await metrics(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
    }),
  ];
}

interface Unready {
  readonly reason: Static<typeof clusterNotReadySchema>['reason'];
  readonly error: CepError;
}

/** A member without a leader cannot change anything, and does not know what others have. */
function unreadyOf(group: GroupMember): Unready | undefined {
  const { leader, isRecovering, isRemoved } = group.status();
  const unready = (reason: Unready['reason'], message: string, more?: CepErrorOptions): Unready => ({
    reason,
    error: new CepError('not_ready', message, more),
  });
  if (isRemoved) return unready('removed', 'this member was removed from the group: stop it');
  if (isRecovering) return unready('recovering', 'the member gets back what its disk has lost', { retryAfterSeconds: 1 });
  if (leader !== 0) return undefined;
  return unready('no_leader', 'the group has no leader that this member knows of', { retryAfterSeconds: 1 });
}

function healthOf(group: GroupMember): string {
  const { leader, peers, isRecovering } = group.status();
  const { workers } = countsOf(group.state);
  if (leader === 0) return 'critical';
  if (workers.total === 0) return 'no_workers';
  if (isRecovering || workers.unhealthy > 0 || peers.some(({ isReachable }) => !isReachable)) return 'degraded';
  return 'healthy';
}
