import type { Writable } from 'node:stream';
import { type RunningCoordinator, startCoordinator } from '../../coordinator/index.ts';
import { CepError, InvariantError } from '../../shared/errors/error.ts';
import { endIfHeld, endProcess } from '../../shared/lifecycle/end-process.ts';
import { ProcessSignals, type SignalSource, withDeadline } from '../../shared/lifecycle/process-signals.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { ProgramValidation } from '../../worker/server/program-validation.ts';
import type { CoordinatorSettings } from './coordinator-settings.ts';
import { crashOf, unlessEnded, warnOfAccess } from './serve.ts';

/** Time from the signal to the end of the process. */
const shutdownMsMax = 30_000;
const forOthers = 0o077;
const runtimeErrorExitCode = new CepError('runtime_error', '').exitCode;

interface ServingWorld {
  readonly stderr: Writable;
  readonly signals: SignalSource;
}

/**
 * Runs a coordinator until a signal ends it, and gives the exit code: 0 when it has ended in order, 4 when its member has failed or it
 * did not end in time.
 * @throws CepError of what cannot be started
 */
export async function serveCoordinator(settings: CoordinatorSettings, { stderr, signals: source }: ServingWorld): Promise<number> {
  const redactor = new Redactor();
  const { apiKey, group, scalingWebhook, checkpoints } = settings;
  for (const secret of [
    apiKey,
    group?.key,
    scalingWebhook?.secret,
    checkpoints && 'bucket' in checkpoints ? checkpoints.bucket.secret : undefined,
  ])
    if (secret !== undefined) redactor.add(secret);
  const metrics = new MetricRegistry();
  const logger = createLogger({ ...settings.logging, redactor, write: (line) => void stderr.write(line), metrics });
  const telemetry = new Telemetry(logger, metrics);
  let coordinator: RunningCoordinator | undefined;
  const signals = new ProcessSignals(source, () => void coordinator?.reloadCertificates());
  warnOfAccess(settings, telemetry);
  if (settings.isGroupOpen) telemetry.report('GroupWithoutKey', {});
  // The log is for its owner alone.
  process.umask(process.umask() | forOthers);
  process.once('uncaughtException', (error) => {
    telemetry.report('ServerCrashed', crashOf(error));
    endProcess(runtimeErrorExitCode);
  });
  const validation = new ProgramValidation();
  try {
    const starting = startCoordinator({ ...settings, telemetry, validate: validation.validate });
    coordinator = await unlessEnded(starting, signals, telemetry);
    return await closeWhenAsked(coordinator, signals, telemetry);
  } finally {
    signals.close();
    validation.close();
  }
}

/** A log that contradicts the others' is a defect, or one that somebody put there. */
function hintOf(why: Error): string | undefined {
  if (why instanceof CepError) return why.hint;
  if (!(why instanceof InvariantError)) return undefined;
  return "where data directories of this group were put back, they may be copies of different moments, one newer than a majority's: docs/operations/disaster-recovery.md";
}

async function closeWhenAsked(coordinator: RunningCoordinator, signals: ProcessSignals, telemetry: Telemetry): Promise<number> {
  const why = await Promise.race([signals.ended, coordinator.failed]);
  if (why instanceof Error) {
    const hint = hintOf(why);
    telemetry.report('CoordinatorFailed', { error: why.message, ...(hint === undefined ? {} : { hint }) });
    endProcess(why instanceof CepError ? why.exitCode : runtimeErrorExitCode);
  }
  const startedAtMs = performance.now();
  telemetry.report('ServerStopping', { signal: why });
  const closed = withDeadline(
    coordinator.close().then(
      () => true,
      (error: unknown) => {
        telemetry.report('ServerCrashed', crashOf(error));
        return false;
      },
    ),
    shutdownMsMax,
  );
  const isClean = await Promise.race([closed, signals.endedAgain.then(() => false)]);
  telemetry.report('ServerStopped', { seconds: Math.round(performance.now() - startedAtMs) / 1000, clean: isClean === true });
  if (isClean) {
    endIfHeld(0);
    return 0;
  }
  // What did not end by itself would keep the process alive.
  endProcess(runtimeErrorExitCode);
}
