import type { FastifyInstance } from 'fastify';
import type { Callers } from '../../shared/http/callers.ts';
import { createHttpApp } from '../../shared/http/http-app.ts';
import type { HttpAppOptions } from '../../shared/http/http-app-options.ts';
import { RequestShares } from '../../shared/http/request-shares.ts';
import type { Route } from '../../shared/http/route.ts';
import { limits } from '../../shared/limits.ts';
import type { TlsPair } from '../../shared/security/tls-files.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { ProcessMetrics } from '../../shared/telemetry/process-metrics.ts';
import type { ClusterWorker } from '../placements/cluster-worker.ts';
import type { Access, Runtime } from '../runtime/service.ts';
import { collectClusterWorker } from './cluster-metrics.ts';
import { backupRoutes } from './routes/backups.ts';
import { eventRoutes } from './routes/events.ts';
import { outputRoutes } from './routes/outputs.ts';
import { overviewRoutes } from './routes/overview.ts';
import { pipelineRoutes } from './routes/pipelines.ts';
import { placementRoutes } from './routes/placements.ts';
import { probeRoutes, refusalOf } from './routes/probes.ts';
import { scrapeRoute } from './routes/scrape.ts';
import { type Settings, settingsRoute } from './routes/settings.ts';
import { stateRoutes } from './routes/state.ts';
import { tenantRoutes } from './routes/tenants.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { webSocketRoute } from './routes/websocket.ts';
import { collectRuntime } from './runtime-metrics.ts';
import type { Connection } from './streaming/connection.ts';
import type { EventStream } from './streaming/event-stream.ts';
import { StreamClients } from './streaming/stream-clients.ts';

export interface ServerOptions {
  readonly runtime: Runtime;
  /** What the server is for a cluster. @default it is on its own */
  readonly cluster?: ClusterWorker | undefined;
  readonly telemetry: Telemetry;
  readonly version: string;
  /** Requests per second of a client; 0 = no limit. */
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly tls?: TlsPair | undefined;
  /** Serve `/metrics`. @default false */
  readonly hasMetrics?: boolean;
  /** `/metrics` on a port of its own asks for the server's key too. @default false */
  readonly metricsNeedKey?: boolean;
  /** What it was started with. @default nothing is shown */
  readonly settings?: Settings | undefined;
  /** Time between two signs of life to clients that follow outputs. @default 15 s */
  readonly beatEveryMs?: number;
  /** The same for WebSocket clients. @default 30 s */
  readonly pingEveryMs?: number;
  /** Clients of a tenant that follow outputs at a time, of each transport. @default as in the table of limits */
  readonly streamClientsPerTenantMax?: number;
}

const beatEveryMsDefault = 15_000;
const pingEveryMsDefault = 30_000;

/** The HTTP side of a server: the API, and with metrics a second app for their own port. Neither listens yet. */
export interface Server {
  readonly api: FastifyInstance;
  readonly metrics: FastifyInstance | undefined;
  /** Everything that it serves. */
  readonly routes: readonly Route<Access>[];
  /** Requests that wait for their turn are asked again whether they may come in, and no longer wait. */
  endWaiting(): void;
  /** Sends clients that stay away: what they can still have they get. */
  endStreams(): void;
  /** Stops listening; waits for requests under way. */
  close(): Promise<void>;
}

/** Builds the HTTP side of a server upon a runtime, which it neither starts nor stops. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { runtime, cluster, telemetry, hasMetrics = false, metricsNeedKey = false } = options;
  const perTenantMax = options.streamClientsPerTenantMax ?? limits.streamClientsPerTenantMax;
  const followers = new StreamClients<EventStream>({
    transport: 'sse',
    beatEveryMs: options.beatEveryMs ?? beatEveryMsDefault,
    perTenantMax,
    telemetry,
  });
  const connections = new StreamClients<Connection>({
    transport: 'websocket',
    beatEveryMs: options.pingEveryMs ?? pingEveryMsDefault,
    perTenantMax,
    telemetry,
  });
  const shares = new RequestShares({ now: () => performance.now() });
  const ending = new AbortController();
  collectRuntime(telemetry.metrics, runtime);
  if (cluster !== undefined) collectClusterWorker(telemetry.metrics, cluster);
  const processMetrics = hasMetrics ? new ProcessMetrics(telemetry.metrics) : undefined;
  const render = async (): Promise<string> => `${await telemetry.metrics.render()}${(await processMetrics?.text()) ?? ''}`;
  const routes: Route<Access>[] = [
    ...probeRoutes(runtime, { version: options.version, startedAtMs: performance.now(), hasMetrics, cluster }),
    ...pipelineRoutes(runtime),
    ...overviewRoutes(runtime),
    ...eventRoutes(runtime),
    ...webhookRoutes(runtime),
    ...outputRoutes(runtime, followers, telemetry),
    ...stateRoutes(runtime),
    ...backupRoutes(runtime),
    ...tenantRoutes(runtime, (tenantId) => {
      for (const connection of connections.of(tenantId)) connection.dismiss();
    }),
    ...(cluster === undefined ? [] : placementRoutes(cluster, ending.signal)),
    settingsRoute(options.settings ?? {}),
    webSocketRoute(runtime, connections, {
      enter: (caller, weight) => shares.enter(nameOf(caller), weight),
      leave: (caller) => shares.leave(nameOf(caller)),
    }),
    ...(hasMetrics ? [scrapeRoute(render, 'admin')] : []),
  ];
  const apps: FastifyInstance[] = [];
  const endStreams = (): void => {
    followers.end();
    connections.end();
  };
  const close = async (): Promise<void> => {
    endStreams();
    await Promise.all(apps.map((app) => app.close()));
    processMetrics?.close();
  };
  try {
    const api = await createHttpApp({ ...appOptions(options, routes), shares, ending: ending.signal });
    apps.push(api);
    const metrics = hasMetrics
      ? await createHttpApp(metricsOptions(options, scrapeRoute(render, metricsNeedKey ? 'admin' : 'open')))
      : undefined;
    if (metrics !== undefined) apps.push(metrics);
    return { api, metrics, routes, endWaiting: () => ending.abort(), endStreams, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function appOptions(options: ServerOptions, routes: readonly Route<Access>[]): HttpAppOptions<Access> {
  const { runtime, telemetry, version, rateLimit, corsOrigins, allowedHosts, trustedProxies = [], tls } = options;
  return {
    routes,
    callers: callersOf(runtime),
    telemetry,
    about: { title: 'cep', version },
    rateLimit,
    now: () => performance.now(),
    corsOrigins,
    allowedHosts,
    trustedProxies,
    tls,
    refusal: () => refusalOf(runtime.readiness()),
    hasDocs: true,
    hasConsole: true,
  };
}

/** Metrics on their own port: nothing else is served there. With a key they go over TLS where the API does. */
function metricsOptions(options: ServerOptions, route: Route<Access>): HttpAppOptions<Access> {
  const tls = options.metricsNeedKey ? options.tls : undefined;
  return { ...appOptions({ ...options, tls, corsOrigins: [] }, [route]), hasDocs: false, hasConsole: false };
}

function nameOf({ tenantId, role }: Access): string {
  return `${role} ${tenantId}`;
}

/** Who has which key, by the tenants of the runtime. */
export function callersOf(runtime: Runtime): Callers<Access> {
  const { tenants } = runtime;
  return {
    get isAuthenticationOn() {
      return tenants.isAuthenticationOn;
    },
    authenticate: (key) => tenants.authenticate(key),
    isAdmin: ({ role }) => role === 'admin',
    nameOf,
    once: ({ caller, key, digest }, action) => runtime.once({ tenant: caller.tenantId, key, digest }, action),
  };
}
