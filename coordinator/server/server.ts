import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CepError } from '../../shared/errors/error.ts';
import { createHttpApp } from '../../shared/http/http-app.ts';
import type { Route } from '../../shared/http/route.ts';
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import type { WebDoor } from '../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import type { TlsPair } from '../../shared/security/tls-files.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { ProcessMetrics } from '../../shared/telemetry/process-metrics.ts';
import { type CheckpointStore, checkpointStore } from '../checkpoints/checkpoint-store.ts';
import { Checkpoints } from '../checkpoints/checkpoints.ts';
import { ClusterJournal } from '../cluster/cluster-journal.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { memberUrl } from '../cluster/raft-address.ts';
import { Deliveries } from '../ingress/deliveries.ts';
import { Injection } from '../ingress/injection.ts';
import { ClockWatch } from '../liveness/clock-watch.ts';
import { ClusterClock } from '../liveness/cluster-clock.ts';
import { Heartbeats } from '../liveness/heartbeats.ts';
import { ScalingWebhook, type ScalingWebhookTarget } from '../notices/scaling-webhook.ts';
import type { PlacementStrategy } from '../placement/choose-worker.ts';
import { ChangeReports } from '../reconcile/change-reports.ts';
import { Controller } from '../reconcile/controller.ts';
import { scalingRecommendation } from '../scaling/recommendation.ts';
import type { ScalingPolicy, Worker } from '../state/cluster-state.ts';
import { workersOf } from '../state/queries.ts';
import { WorkerClient } from '../workers-client/worker-client.ts';
import { WorkerWatches } from '../workers-client/worker-watches.ts';
import { collectCluster } from './cluster-metrics.ts';
import { ClusterRequests } from './cluster-requests.ts';
import type { Operator } from './cluster-route.ts';
import { LeaderForwarding } from './leader-forwarding.ts';
import { operatorsWith } from './operators.ts';
import { checkpointRoutes } from './routes/checkpoints.ts';
import { connectorRoutes } from './routes/connectors.ts';
import { groupRoutes } from './routes/groups.ts';
import { injectRoutes } from './routes/inject.ts';
import { migrationRoutes } from './routes/migrations.ts';
import { overviewRoutes } from './routes/overview.ts';
import { probeRoutes } from './routes/probes.ts';
import { programRoutes, type ValidateProgram } from './routes/programs.ts';
import { raftRoutes } from './routes/raft.ts';
import { workerRoutes } from './routes/workers.ts';

export interface CoordinatorServerOptions {
  readonly group: GroupMember;
  /** False: the coordinator is on its own. */
  readonly isGroup: boolean;
  /** What time it is for events that say none, epoch ms. @default by the clock of this machine */
  readonly clock?: () => number;
  readonly apiKey: string | undefined;
  /** Reaches workers. */
  readonly web: WebDoor;
  /** Reaches other members. @default as `web` */
  readonly memberWeb?: WebDoor;
  /** Over which requests are handed on to the leader. @default as `web` */
  readonly leaderWeb?: WebDoor;
  readonly validate: ValidateProgram;
  readonly telemetry: Telemetry;
  readonly version: string;
  /** Requests per second of a client; 0 = no limit. */
  readonly rateLimit: number;
  /** When more workers, or fewer, are recommended. @default never */
  readonly scaling?: ScalingPolicy | undefined;
  /** Who is told of that. @default nobody */
  readonly scalingWebhook?: ScalingWebhookTarget | undefined;
  /** Where checkpoints of pipelines are kept. @default in memory */
  readonly checkpointFolder?: string | undefined;
  /** What all members keep checkpoints in instead. */
  readonly sharedCheckpoints?: CheckpointStore | undefined;
  /** @default every 5 s, lost after 15 s without one, the least loaded first */
  readonly workers?: WorkerSettings | undefined;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts?: readonly string[] | undefined;
  readonly trustedProxies?: readonly string[];
  readonly tls?: TlsPair | undefined;
}

/** How workers are kept. */
export interface WorkerSettings {
  readonly heartbeatIntervalMs: number;
  /** A worker that is silent for so long is lost. */
  readonly heartbeatTimeoutMs: number;
  readonly strategy: PlacementStrategy;
}

const usualWorkers: WorkerSettings = { heartbeatIntervalMs: 5_000, heartbeatTimeoutMs: 15_000, strategy: 'least-loaded' };

/** The HTTP side of a coordinator. It does not listen yet. */
export interface CoordinatorServer {
  readonly api: FastifyInstance;
  /** Everything that it serves. */
  readonly routes: readonly Route<Operator>[];
  /** What time it is in the cluster, epoch ms; undefined while that is not known. */
  clusterTime(): number | undefined;
  /** From now on new requests are refused, but for probes. */
  drain(): void;
  /** Stops listening; waits for requests under way. */
  close(): Promise<void>;
}

/** Builds the HTTP side of a coordinator upon a member of its group, which it neither starts nor stops. */
export async function createCoordinatorServer(options: CoordinatorServerOptions): Promise<CoordinatorServer> {
  const { group, isGroup, apiKey, web, validate, telemetry, version } = options;
  const requests = new ClusterRequests(group, new LeaderForwarding(options.leaderWeb ?? web, group.status().nodeId));
  const workers = options.workers ?? usualWorkers;
  const now = (): number => performance.now();
  const client = new WorkerClient(web, apiKey);
  const controller = new Controller({ group, client, telemetry, now, ...workers });
  new ChangeReports({ group, leases: controller.leases, telemetry });
  const clock = options.clock ?? Date.now;
  const clusterClock = new ClusterClock({ now, clock: Date.now });
  const workersNow = (): readonly Worker[] => workersOf(group.state).filter((worker) => controller.leases.isPresent(worker));
  const clusterTime = (): number | undefined => (controller.isLeading ? clusterClock.time(workersNow) : undefined);
  const heartbeats = new Heartbeats({ group, controller, now, clock: Date.now, clusterClock, clusterTime });
  new ClockWatch({ group, controller, clusterClock, now, telemetry });
  const watches = new WorkerWatches({ group, client, controller });
  const journal = new ClusterJournal(group);
  const deliveries = new Deliveries({ group, client, controller, telemetry, now });
  const injection = new Injection({ group, controller, deliveries, clock });
  const store = checkpointStore(options.checkpointFolder, (damage) => telemetry.report('CheckpointDamaged', damage));
  const checkpoints = new Checkpoints({
    group,
    store,
    shared: options.sharedCheckpoints,
    web: options.memberWeb ?? web,
    apiKey,
    telemetry,
  });
  const policy = options.scaling ?? group.state.scaling;
  const webhook = options.scalingWebhook && startScalingWebhook({ ...options, target: options.scalingWebhook, controller, policy });
  const coordinators = (request: FastifyRequest): string[] => (isGroup ? memberUrls(group) : [urlAskedFor(request)]);
  collectCluster(telemetry.metrics, group);
  const process = new ProcessMetrics(telemetry.metrics);
  let isDraining = false;
  const refusal = (): CepError | undefined =>
    isDraining ? new CepError('not_ready', 'the coordinator is draining', { retryAfterSeconds: 1 }) : undefined;
  const metrics = async (): Promise<string> => `${await telemetry.metrics.render()}${await process.text()}`;
  const routes = [
    ...probeRoutes({ group, version, isGroup, startedAtMs: performance.now(), refusal, metrics }),
    ...raftRoutes({ requests, isGroup, memberUrl, checkpoints }),
    ...workerRoutes({ requests, controller, heartbeats, coordinators, ...workers }),
    ...groupRoutes({ requests, controller, validate }),
    ...injectRoutes({ requests, injection, validate, clock }),
    ...migrationRoutes(requests, controller),
    ...overviewRoutes({ requests, controller, journal, scaling: policy }),
    ...checkpointRoutes(requests, checkpoints),
    ...connectorRoutes(requests, validate),
    ...programRoutes(requests, validate),
  ];
  const { rateLimit, corsOrigins, allowedHosts, trustedProxies = [], tls } = options;
  const api = await createHttpApp<Operator>({
    ...{ routes, callers: operatorsWith(apiKey), telemetry, about: { title: 'cep coordinator', version } },
    ...{ rateLimit, corsOrigins, allowedHosts, trustedProxies, tls, refusal },
    now: () => performance.now(),
    hasDocs: true,
    hasConsole: true,
  });
  const close = async (): Promise<void> => {
    await api.close();
    controller.close();
    watches.close();
    checkpoints.close();
    process.close();
    await webhook?.close();
  };
  return {
    api,
    routes,
    clusterTime,
    drain: () => {
      isDraining = true;
    },
    close,
  };
}

function memberUrls(group: GroupMember): string[] {
  const { peers } = group.status();
  return peers.map(({ url }) => url).filter((url) => url !== '');
}

/** Of a coordinator on its own: where it listens may mean nothing elsewhere (0.0.0.0), and where it was reached does. */
function urlAskedFor({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

interface StartScalingWebhookOptions extends Pick<CoordinatorServerOptions, 'group' | 'telemetry' | 'workers'> {
  readonly target: ScalingWebhookTarget;
  readonly controller: Controller;
  readonly policy: ScalingPolicy;
}

/** The record is looked at every heartbeat interval. */
function startScalingWebhook({ target, group, controller, policy, telemetry, workers = usualWorkers }: StartScalingWebhookOptions): {
  readonly close: () => Promise<void>;
} {
  const webhook = new ScalingWebhook({
    ...{ target, telemetry, door: new OutboundDoor(NetworkPolicy.everywhere), now: () => performance.now() },
    isLeading: () => controller.isLeading,
    recommendation: () => scalingRecommendation(group.state, { policy, timestamp: Date.now() }),
  });
  const timer = setInterval(() => void webhook.evaluate(), workers.heartbeatIntervalMs);
  const close = (): Promise<void> => {
    clearInterval(timer);
    return webhook.close();
  };
  return { close };
}
