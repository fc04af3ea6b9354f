import manifest from '../../package.json' with { type: 'json' };
import { Certificates } from '../../shared/http/certificates.ts';
import { listen } from '../../shared/http/listen.ts';
import type { Profiles } from '../../shared/security/credentials/credentials.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import type { TlsFiles } from '../../shared/security/tls-files.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { createLogger, type LogLevel } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { createRuntime } from '../runtime/runtime.ts';
import type { Runtime } from '../runtime/service.ts';
import { openTracing, type Tracing } from './open-tracing.ts';
import type { Settings } from './routes/settings.ts';
import { createServer, type Server } from './server.ts';
import { type ClusterOptions, newClusterWorker } from './start-cluster-worker.ts';

/** What a server is started with. */
export interface StartServerOptions {
  /** Address to listen on. @default 127.0.0.1 */
  readonly bind?: string;
  /** 0 takes any free one. @default 9000 */
  readonly port?: number;
  /** What requests must carry. @default without a key everybody who can reach the port may do everything */
  readonly apiKey?: string | undefined;
  /** PEM files. @default the server speaks plain HTTP */
  readonly tls?: TlsFiles | undefined;
  /** Requests per second of a client, 0 is no limit. @default 0 */
  readonly rateLimit?: number;
  /** Origins whose pages may use the API. @default none */
  readonly corsOrigins?: readonly string[];
  /** Names by which requests may ask for the server besides those of this machine. @default none */
  readonly allowedHosts?: readonly string[];
  /** Proxies whose `X-Forwarded-For` is believed. @default none */
  readonly trustedProxies?: readonly string[];
  /** Networks that are not public and that tenants may send to. @default none */
  readonly tenantNetworks?: readonly string[];
  /** What connectors name by `profile:`. @default none */
  readonly profiles?: Profiles | undefined;
  /** The only directory in which programs of the server key may name files. @default the current directory */
  readonly workDir?: string;
  /** Holds a folder for each tenant, in which its programs may name files. @default they may name none */
  readonly tenantWorkDir?: string | undefined;
  /** Files that no program may read. @default none but the state directory */
  readonly privateFiles?: readonly string[];
  /** Where everything that must outlive the process is kept. @default in memory */
  readonly stateDir?: string | undefined;
  /** Milliseconds. @default 10,000 */
  readonly checkpointIntervalMs?: number;
  /** Copies of the state directory that stay, the newest ones. @default 5 */
  readonly keepBackups?: number;
  /** Events that lack a declared field are invalid. @default false */
  readonly strictEvents?: boolean;
  /** Makes it a worker of a cluster, whose key `apiKey` is. @default it is on its own */
  readonly cluster?: ClusterOptions | undefined;
  /** Certificates of mail servers are not looked at: for development. @default they are */
  readonly isSmtpUnverified?: boolean;
  /** For the pipelines of the server's own tenant, at most; a thread is started when a pipeline needs it. @default one for each core, and two at least */
  readonly engineThreads?: number | undefined;
  /** Port of the metrics. @default there are none */
  readonly metricsPort?: number | undefined;
  /** The metrics ask for the server's key too. @default false */
  readonly metricsNeedKey?: boolean;
  /** The collector that takes traces as OTLP over HTTP, and the share of them that is recorded. @default no traces */
  readonly tracing?: { readonly endpoint: string; readonly ratio: number } | undefined;
  /** What it was started with, as `GET /api/v1/settings` shows it to the server's key; no secrets. @default nothing */
  readonly settings?: Settings | undefined;
  /** @default lines of text with severity `info` and above */
  readonly logging?: { readonly level: LogLevel; readonly format: 'text' | 'json'; readonly timestamps: boolean };
  /** Takes whole lines of the log. @default standard error */
  readonly writeLog?: (line: string) => void;
  /** Takes the lines of the console connector, without line end. @default standard output */
  readonly writeConsole?: (line: string) => void;
}

interface Urls {
  /** Where it listens, with the port it has. */
  readonly url: string;
  /** Undefined without metrics. */
  readonly metricsUrl: string | undefined;
}

export interface RunningServer extends Urls {
  /** Reads the certificate again; connections that are open keep theirs. What fails is logged, and the old one stays. */
  reloadCertificates(): Promise<void>;
  /**
   * Ends it within a time, ms: what was accepted is finished or made safe while new requests are refused. Gives whether all of it
   * was; what was given up is in the log. The second call waits for the first.
   */
  close(deadlineMs?: number): Promise<boolean>;
}

const deadlineMsDefault = 30_000;
/** What of it is left for clients that are being served when the runtime is done. */
const farewellMs = 3_000;
/** What of that is left for traces that are not sent yet. */
const tracesMs = 1_000;
const loggingDefault = { level: 'info', format: 'text', timestamps: true } as const;

/** What a server tells of itself: the log, metrics, and traces where they are sent. */
export interface OpenTelemetry {
  readonly telemetry: Telemetry;
  readonly tracing: Tracing | undefined;
  /** Of everything that is logged. */
  readonly redactor: Redactor;
}

/** What is open of a server, which may not have got further. */
interface Parts {
  runtime?: Runtime;
  cluster?: ReturnType<typeof newClusterWorker>;
  server?: Server;
  readonly tracing: Tracing | undefined;
}

/** Opens the log and the way of traces, for those who have something to say before the server starts. */
export async function openTelemetry(options: StartServerOptions): Promise<OpenTelemetry> {
  const { apiKey, profiles = new Map<string, never>(), logging = loggingDefault, writeLog: write = toStandardError } = options;
  const redactor = new Redactor();
  if (apiKey !== undefined) redactor.add(apiKey);
  for (const secret of Array.from(profiles.values(), ({ secrets }) => secrets).flat()) redactor.add(secret);
  const tracing = options.tracing && (await openTracing({ ...options.tracing, version: manifest.version }));
  const metrics = new MetricRegistry();
  const telemetry = new Telemetry(createLogger({ ...logging, redactor, write, metrics }), metrics, tracing?.tracer);
  tracing?.reportTo(telemetry);
  return { telemetry, tracing, redactor };
}

function toStandardError(line: string): void {
  process.stderr.write(line);
}

/**
 * Starts a server and waits until it serves, with what its state directory holds brought back.
 * @throws CepError of what cannot be started; nothing is left running then
 */
export async function startServer(options: StartServerOptions = {}, opened?: OpenTelemetry): Promise<RunningServer> {
  const { telemetry, tracing } = opened ?? (await openTelemetry(options));
  const parts: Parts = { tracing };
  try {
    const { tls, metricsPort, rateLimit = 0, corsOrigins = [] } = options;
    const certificates = tls && (await Certificates.read(tls, telemetry));
    telemetry.metrics.collect('cep_smtp_unverified', () => [{ labels: [], value: options.isSmtpUnverified === true ? 1 : 0 }]);
    const runtime = await createRuntime({
      ...options,
      tracer: telemetry.tracer,
      console: options.writeConsole ?? ((line) => process.stdout.write(`${line}\n`)),
      report: ({ level, message, fields }) => telemetry.log.log(level, message, fields),
    });
    parts.runtime = runtime;
    if (options.cluster !== undefined) parts.cluster = newClusterWorker(options.cluster, { apiKey: options.apiKey, runtime, telemetry });
    const server = await createServer({
      ...options,
      ...{
        runtime,
        telemetry,
        cluster: parts.cluster?.worker,
        version: manifest.version,
        rateLimit,
        corsOrigins,
        tls: certificates?.pair,
        hasMetrics: metricsPort !== undefined,
      },
    });
    parts.server = server;
    const urls = await open(server, options, telemetry);
    await runtime.start();
    certificates?.watch();
    telemetry.report('ServerReady', {});
    parts.cluster?.worker.start();
    let closed: Promise<boolean> | undefined;
    return {
      ...urls,
      reloadCertificates: async () => void (await certificates?.reload(server.metrics ? [server.api, server.metrics] : [server.api])),
      close: (deadlineMs = deadlineMsDefault) => {
        certificates?.close();
        closed ??= close(parts, deadlineMs);
        return closed;
      },
    };
  } catch (error) {
    await close(parts, deadlineMsDefault);
    throw error;
  }
}

async function open({ api, metrics }: Server, options: StartServerOptions, telemetry: Telemetry): Promise<Urls> {
  const { bind = '127.0.0.1', port = 9000, metricsPort } = options;
  const url = await listen(api, { bind, port, what: 'the server' });
  telemetry.report('ServerListening', { url, version: manifest.version });
  if (metrics === undefined || metricsPort === undefined) return { url, metricsUrl: undefined };
  const metricsUrl = await listen(metrics, { bind, port: metricsPort, what: 'the metrics endpoint' });
  telemetry.report('MetricsListening', { url: metricsUrl });
  return { url, metricsUrl };
}

/** Ends the runtime, which finishes what it has accepted, while requests are refused; then the connections. A worker gives away what it runs first. */
async function close({ runtime, cluster, server, tracing }: Parts, deadlineMs: number): Promise<boolean> {
  const startedAtMs = performance.now();
  await cluster?.worker.drain();
  await cluster?.close();
  const leftMs = deadlineMs - (performance.now() - startedAtMs);
  const ended = runtime?.shutdown({ deadlineMs: Math.max(0, leftMs - farewellMs) });
  server?.endWaiting();
  const isClean = (await ended)?.clean ?? true;
  await server?.close();
  await tracing?.close(tracesMs);
  return isClean;
}
