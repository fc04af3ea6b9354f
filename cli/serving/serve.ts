import type { Writable } from 'node:stream';
import manifest from '../../package.json' with { type: 'json' };
import { CepError } from '../../shared/errors/error.ts';
import { isLoopback, listen } from '../../shared/http/listen.ts';
import { ProcessSignals, type SignalSource, withDeadline } from '../../shared/lifecycle/process-signals.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import { readTlsPair, type TlsFiles } from '../../shared/security/tls-files.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { createRuntime } from '../../worker/runtime/runtime.ts';
import type { Runtime } from '../../worker/runtime/service.ts';
import { createServer, type Server } from '../../worker/server/server.ts';
import { openTracing, type Tracing } from './open-tracing.ts';
import type { ServerSettings } from './server-settings.ts';

/** Time from the signal to the end of the process. */
const shutdownMsMax = 30_000;
/** What of it is left for clients that are being served when the runtime is done. */
const farewellMs = 3_000;
/** What of that is left for traces that are not sent yet. */
const tracesMs = 1_000;
const forOthers = 0o077;
const runtimeErrorExitCode = new CepError('runtime_error', '').exitCode;

export interface ServingWorld {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly signals: SignalSource;
}

/**
 * Runs a server until a signal ends it, and gives the exit code: 0 when everything that was accepted is done or safe, 4 when
 * something was given up.
 * @throws CepError of what cannot be started
 */
export async function serve(settings: ServerSettings, world: ServingWorld): Promise<number> {
  const redactor = new Redactor();
  for (const secret of secretsOf(settings)) redactor.add(secret);
  const log = createLogger({ ...settings.logging, redactor, write: (line) => world.stderr.write(line) });
  const tracing = settings.tracing && (await openTracing({ ...settings.tracing, version: manifest.version }));
  const telemetry = new Telemetry(log, new MetricRegistry(), tracing?.tracer);
  tracing?.reportTo(telemetry);
  const tls = settings.tls && (await readTlsPair(settings.tls));
  warn(settings, telemetry);
  // Whoever keeps files of the state, the embedded database included, makes them for their owner alone.
  process.umask(process.umask() | forOthers);
  const runtime = await createRuntime({
    ...runtimeOptions(settings),
    tracer: telemetry.tracer,
    console: (line) => world.stdout.write(`${line}\n`),
    report: ({ level, message, fields }) => log.log(level, message, fields),
  });
  const server = await createServer({
    runtime,
    telemetry,
    version: manifest.version,
    rateLimit: settings.rateLimit,
    corsOrigins: settings.corsOrigins,
    allowedHosts: settings.allowedHosts,
    trustedProxies: settings.trustedProxies,
    tls,
    hasMetrics: settings.metricsPort !== undefined,
    metricsNeedKey: settings.metricsNeedKey,
  });
  const signals = new ProcessSignals(world.signals, () => void reloadCertificates(server, settings.tls, telemetry));
  process.once('uncaughtException', (error) => {
    telemetry.report('ServerCrashed', crashOf(error));
    process.exit(runtimeErrorExitCode);
  });
  try {
    await open(server, settings, telemetry);
    await runtime.start();
    telemetry.report('ServerReady', {});
  } catch (error) {
    signals.close();
    await close({ runtime, server, telemetry, tracing });
    throw error;
  }
  return await closeOnSignal({ runtime, server, telemetry, tracing }, signals);
}

/** What no line of the log may show. */
function secretsOf({ apiKey, profiles = new Map() }: ServerSettings): readonly string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...Array.from(profiles.values(), ({ secrets }) => secrets).flat()];
}

function runtimeOptions(settings: ServerSettings): Omit<Parameters<typeof createRuntime>[0], 'report'> {
  const { apiKey, profiles, stateDir, engineThreads, workDir, checkpointIntervalMs, keepBackups, strictEvents, tenantNetworks } = settings;
  const { tenantWorkDir, privateFiles } = settings;
  return {
    tenantNetworks,
    workDir,
    privateFiles,
    ...(tenantWorkDir === undefined ? {} : { tenantWorkDir }),
    checkpointIntervalMs,
    keepBackups,
    strictEvents,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(profiles === undefined ? {} : { profiles }),
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(engineThreads === undefined ? {} : { engineThreads }),
  };
}

function warn(settings: ServerSettings, telemetry: Telemetry): void {
  const { apiKey, bind, isInsecureAccepted, isKeyOnCommandLine, openSecrets, stateDir } = settings;
  if (apiKey === undefined && !isLoopback(bind) && !isInsecureAccepted) telemetry.report('AuthenticationOff', { bind });
  if (isKeyOnCommandLine) telemetry.report('KeyOnCommandLine', {});
  for (const file of openSecrets) telemetry.report('SecretReadableByOthers', { ...file });
  if (stateDir !== undefined) return;
  telemetry.report('StateInMemory', {});
  telemetry.report('DeadLettersInMemory', {});
}

async function open({ api, metrics }: Server, { bind, port, metricsPort }: ServerSettings, telemetry: Telemetry): Promise<void> {
  telemetry.report('ServerListening', { url: await listen(api, { bind, port, what: 'the server' }), version: manifest.version });
  if (metrics === undefined || metricsPort === undefined) return;
  telemetry.report('MetricsListening', { url: await listen(metrics, { bind, port: metricsPort, what: 'the metrics endpoint' }) });
}

/** The certificates of new connections; those that are open keep theirs. */
async function reloadCertificates({ api, metrics }: Server, files: TlsFiles | undefined, telemetry: Telemetry): Promise<void> {
  if (files === undefined) return;
  try {
    const pair = await readTlsPair(files);
    for (const app of [api, metrics]) {
      if (app && 'setSecureContext' in app.server) (app.server as unknown as SecureServer).setSecureContext(pair);
    }
    telemetry.report('CertificatesReloaded', { cert: files.certPath });
  } catch (error) {
    telemetry.report('CertificatesNotReloaded', { error: error instanceof Error ? error.message : String(error) });
  }
}

interface SecureServer {
  setSecureContext(options: { readonly cert: string; readonly key: string; readonly minVersion: 'TLSv1.2' } | object): void;
}

interface Running {
  readonly runtime: Runtime;
  readonly server: Server;
  readonly telemetry: Telemetry;
  readonly tracing: Tracing | undefined;
}

async function closeOnSignal(running: Running, signals: ProcessSignals): Promise<number> {
  const signal = await signals.ended;
  const startedAtMs = performance.now();
  running.telemetry.report('ServerStopping', { signal });
  const closed = withDeadline(
    close(running).catch((error: unknown) => {
      running.telemetry.report('ServerCrashed', crashOf(error));
      return false;
    }),
    shutdownMsMax,
  );
  const isClean = await Promise.race([closed, signals.endedAgain.then(() => false)]);
  running.telemetry.report('ServerStopped', { seconds: Math.round(performance.now() - startedAtMs) / 1000, clean: isClean === true });
  signals.close();
  if (isClean) return 0;
  // What did not end by itself would keep the process alive.
  process.exit(runtimeErrorExitCode);
}

function crashOf(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) };
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) };
}

/** Ends the runtime, which finishes what it has accepted, while requests are refused; then the connections. */
async function close({ runtime, server, tracing }: Running): Promise<boolean> {
  const { clean } = await runtime.shutdown({ deadlineMs: shutdownMsMax - farewellMs });
  await server.close();
  await tracing?.close(tracesMs);
  return clean;
}
