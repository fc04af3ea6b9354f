import type { Writable } from 'node:stream';
import { CepError } from '../../shared/errors/error.ts';
import { isLoopback } from '../../shared/http/listen.ts';
import { endIfHeld, endProcess } from '../../shared/lifecycle/end-process.ts';
import { ProcessSignals, type SignalSource, withDeadline } from '../../shared/lifecycle/process-signals.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { openTelemetry, type RunningServer, startServer } from '../../worker/server/start-server.ts';
import { readAgain } from '../connecting/credentials-again.ts';
import type { HttpSettings } from './http-settings.ts';
import type { ServerSettings } from './server-settings.ts';

/** Time from the signal to the end of the process. */
const shutdownMsMax = 30_000;
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
export async function serve(settings: ServerSettings, { stdout, stderr, signals: source }: ServingWorld): Promise<number> {
  const options = {
    ...settings,
    writeLog: (line: string) => void stderr.write(line),
    writeConsole: (line: string) => void stdout.write(`${line}\n`),
  };
  const opened = await openTelemetry(options);
  const { telemetry } = opened;
  // Whoever keeps files of the state, the embedded database included, makes them for their owner alone.
  process.umask(process.umask() | forOthers);
  let server: RunningServer | undefined;
  const signals = new ProcessSignals(source, () => {
    void server?.reloadCertificates();
    if (settings.credentials !== undefined) void readAgain(settings.credentials, opened);
  });
  warn(settings, telemetry);
  process.once('uncaughtException', (error) => {
    telemetry.report('ServerCrashed', crashOf(error));
    endProcess(runtimeErrorExitCode);
  });
  try {
    server = await unlessEnded(startServer(options, opened), signals, telemetry);
  } catch (error) {
    signals.close();
    throw error;
  }
  return await closeOnSignal(server, signals, telemetry);
}

function warn(settings: ServerSettings, telemetry: Telemetry): void {
  warnOfAccess(settings, telemetry);
  if (settings.isSmtpUnverified) telemetry.report('SmtpUnverified', {});
  if (settings.stateDir !== undefined) return;
  telemetry.report('StateInMemory', {});
  telemetry.report('DeadLettersInMemory', {});
}

/** Says who else could come in, or read what is secret. */
export function warnOfAccess(settings: HttpSettings & { readonly bind: string }, telemetry: Telemetry): void {
  const { apiKey, bind, isInsecureAccepted, isKeyOnCommandLine, openSecrets } = settings;
  if (apiKey === undefined && !isLoopback(bind) && !isInsecureAccepted) telemetry.report('AuthenticationOff', { bind });
  if (isKeyOnCommandLine) telemetry.report('KeyOnCommandLine', {});
  for (const file of openSecrets) telemetry.report('SecretReadableByOthers', { ...file });
}

/**
 * What has started. A signal that comes before ends the process, as a kill would, which loses nothing: a start may wait for a disk or for what
 * is to be done again, and nobody was told anything yet.
 */
export async function unlessEnded<T>(starting: Promise<T>, signals: ProcessSignals, telemetry: Telemetry): Promise<T> {
  const ended = signals.ended.then((signal) => ({ signal }));
  const first = await Promise.race([starting.then((started) => ({ started })), ended]);
  if ('started' in first) return first.started;
  telemetry.report('ServerStopping', { signal: first.signal });
  endProcess(0);
}

async function closeOnSignal(server: RunningServer, signals: ProcessSignals, telemetry: Telemetry): Promise<number> {
  const signal = await signals.ended;
  const startedAtMs = performance.now();
  telemetry.report('ServerStopping', { signal });
  const closed = withDeadline(
    server.close(shutdownMsMax).catch((error: unknown) => {
      telemetry.report('ServerCrashed', crashOf(error));
      return false;
    }),
    shutdownMsMax,
  );
  const isClean = await Promise.race([closed, signals.endedAgain.then(() => false)]);
  telemetry.report('ServerStopped', { seconds: Math.round(performance.now() - startedAtMs) / 1000, clean: isClean === true });
  signals.close();
  if (isClean) {
    endIfHeld(0);
    return 0;
  }
  // What did not end by itself would keep the process alive.
  endProcess(runtimeErrorExitCode);
}

export function crashOf(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) };
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) };
}
