import { CepError } from '../../shared/errors/error.ts';
import { endIfHeld, endProcess } from '../../shared/lifecycle/end-process.ts';
import { ProcessSignals } from '../../shared/lifecycle/process-signals.ts';
import { CredentialsFile } from '../../shared/security/credentials/credentials.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { createLogger, type LoggerOptions } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { createRuntime } from '../../worker/runtime/runtime.ts';
import type { Output, Runtime, RuntimeReport } from '../../worker/runtime/service.ts';
import { SERVER_TENANT } from '../../worker/runtime/tenants/tenant-registry.ts';
import { readAgain } from '../connecting/credentials-again.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counts.ts';
import type { SentProgram } from '../program/program-to-send.ts';
import { RunScreen } from './run-screen.ts';
import { SaidLines } from './said-lines.ts';
import { serveWebhooks, type WebhookServing } from './serve-webhooks.ts';

/** Name of the one pipeline in the state directory of a run. */
const NAME = 'run';
const LOOK_MS = 50;
const STATUS_MS = 500;
const SHUTDOWN_MS_MAX = 30_000;
const gaveUpExitCode = new CepError('runtime_error', '').exitCode;

export interface RunSettings {
  readonly program: SentProgram;
  readonly strictEvents: boolean;
  readonly credentials: string | undefined;
  readonly masterKey: string | undefined;
  readonly logging: Pick<LoggerOptions, 'level' | 'format' | 'timestamps'>;
  /** Undefined: nothing outlives the process. */
  readonly stateDir: string | undefined;
  readonly checkpointIntervalMs: number;
  /** Certificates of mail servers are not looked at. */
  readonly isSmtpUnverified: boolean;
  /** What webhooks without a secret need. */
  readonly apiKey: string | undefined;
  /** Where webhooks are listened for; asked only when the program takes some. */
  readonly readPlace: () => Promise<WebhookServing>;
  readonly isQuiet: boolean;
  readonly isJson: boolean;
}

/** Runs a program until a signal ends it, or its sources have; gives the exit code. @throws CepError when it cannot start */
export async function runProgram(settings: RunSettings, context: CliContext): Promise<number> {
  const { stateDir, isQuiet, strictEvents, checkpointIntervalMs } = settings;
  const screen = new RunScreen(context, settings);
  const redactor = new Redactor();
  const level = isQuiet ? 'warn' : settings.logging.level;
  const metrics = new MetricRegistry();
  const logger = createLogger({ ...settings.logging, level, redactor, write: (line) => screen.note(line.trimEnd()), metrics });
  const credentials = settings.credentials === undefined ? undefined : await CredentialsFile.read(settings.credentials, settings.masterKey);
  const runtime = await createRuntime({
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(credentials === undefined ? {} : { profiles: credentials.profiles }),
    apiKey: settings.apiKey,
    isSmtpUnverified: settings.isSmtpUnverified,
    strictEvents,
    checkpointIntervalMs,
    engineThreads: 1,
    namesAnyFile: true,
    console: (line) => screen.said(line),
    outputs: { push: (output: Output) => screen.output(output), isFull: () => screen.isFull },
    report: ({ level, message, fields }: RuntimeReport) => logger.log(level, message, fields),
  });
  const telemetry = new Telemetry(logger, metrics);
  const signals = new ProcessSignals(process, () => {
    if (credentials !== undefined) void readAgain(credentials, { telemetry, redactor });
  });
  let isClean = false;
  let undelivered = 0;
  let said: SaidLines | undefined;
  let closeWebhooks = async (): Promise<void> => undefined;
  try {
    let id = '';
    // The program of the run before must not take what is meant for this one.
    await runtime.start(async () => {
      id = await placed(runtime, settings.program);
    });
    if (settings.isSmtpUnverified) telemetry.report('SmtpUnverified', {});
    closeWebhooks = await serveWebhooks({ runtime, id, telemetry, readPlace: settings.readPlace, note: (text) => screen.note(text) });
    said = new SaidLines((limit) => runtime.pipelines.programLog(SERVER_TENANT, id, limit), logger);
    const run = new ProgramInRuntime(runtime, id, { goesOnLater: stateDir !== undefined });
    undelivered = await run.until(Promise.race([signals.ended, screen.lost]), { screen, said });
  } finally {
    const ended = runtime.shutdown({ deadlineMs: SHUTDOWN_MS_MAX }).then(({ clean }) => clean);
    isClean = await Promise.race([ended, signals.endedAgain.then(() => false)]);
    said?.write();
    await closeWebhooks();
    signals.close();
  }
  await screen.end();
  if (isClean && screen.problem !== undefined) throw screen.problem;
  if (isClean) {
    endIfHeld(0);
    return 0;
  }
  if (undelivered > 0 && stateDir === undefined)
    screen.note(`${counted(undelivered, 'dead letter')} went with the process: with --checkpoint-dir they are kept in its dlq.jsonl.`);
  else screen.note('Something was given up: not all of what was taken in is delivered, or kept.');
  // What did not end by itself would keep the process alive.
  endProcess(gaveUpExitCode);
}

/** The pipeline of the program: that of the run before, or a new one. A changed program keeps the state that fits it. */
async function placed(runtime: Runtime, program: SentProgram): Promise<string> {
  const { pipelines } = runtime;
  const [known] = pipelines.list(SERVER_TENANT, { limit: 1, offset: 0 }).pipelines;
  if (known === undefined) return (await pipelines.deploy(SERVER_TENANT, { name: NAME, ...program })).pipeline.id;
  if (known.status === 'stopped' || known.status === 'failed') await pipelines.start(SERVER_TENANT, known.id);
  const isSame = known.source === program.source && JSON.stringify(known.files) === JSON.stringify(program.files ?? {});
  if (!isSame) await pipelines.reload(SERVER_TENANT, known.id, program);
  return known.id;
}

class ProgramInRuntime {
  readonly #runtime: Runtime;
  readonly #id: string;
  /** The next run goes on from its state, with what has come to its files by then. */
  readonly #goesOnLater: boolean;

  constructor(runtime: Runtime, id: string, { goesOnLater }: { readonly goesOnLater: boolean }) {
    this.#runtime = runtime;
    this.#id = id;
    this.#goesOnLater = goesOnLater;
  }

  /**
   * Resolves with the signal, or when the sources have given everything, what is open at the end of a run that is not gone on with is
   * complete, and the sinks have it, however long they take; gives how many outputs are dead letters. @throws CepError when a source cannot be reached at first
   */
  async until(signal: Promise<unknown>, { screen, said }: { readonly screen: RunScreen; readonly said: SaidLines }): Promise<number> {
    const { pipelines } = this.#runtime;
    if (this.#sources.length === 0) screen.note('The program reads from no connector: nothing comes in. Ctrl+C ends it.');
    let isEnded = false;
    void signal.then(() => {
      isEnded = true;
    });
    const waiting = new Set(this.#sources.map(({ id }) => id));
    let isInputEnded = this.#goesOnLater;
    for (let shownAt = 0; !isEnded; await pause(LOOK_MS, signal)) {
      this.#lookAtStart(waiting);
      said.write();
      const { status, error } = pipelines.get(SERVER_TENANT, this.#id);
      if (status === 'failed') throw new CepError('runtime_error', `the program failed: ${error ?? 'for an unknown reason'}`);
      if (performance.now() - shownAt >= STATUS_MS) {
        shownAt = performance.now();
        await this.#show(screen);
      }
      const isThrough = this.#sources.length > 0 && this.#sources.every((source) => source.isEnded) && (await this.#isThrough());
      if (isThrough && isInputEnded) break;
      if (!isThrough || isEnded) continue;
      await Promise.race([signal, pipelines.endInput(SERVER_TENANT, this.#id)]);
      isInputEnded = true;
    }
    return this.#show(screen);
  }

  /** All that came is worked through, and what it made is delivered or a dead letter. */
  async #isThrough(): Promise<boolean> {
    const { pipelines } = this.#runtime;
    const { eventsInFlight } = await pipelines.metrics(SERVER_TENANT, this.#id);
    return eventsInFlight === 0 && pipelines.connectors(SERVER_TENANT).every(({ end }) => !('sink' in end) || end.sink.pending === 0);
  }

  get #sources(): ReturnType<Runtime['pipelines']['sources']> {
    return this.#runtime.pipelines.sources(SERVER_TENANT, this.#id);
  }

  /** Each source has to be reached once; what is lost later comes back by itself. */
  #lookAtStart(waiting: Set<string>): void {
    for (const { id, isConnected, isEnded, problem } of this.#sources) {
      if (isConnected || isEnded) waiting.delete(id);
      else if (problem !== null && waiting.has(id)) {
        throw new CepError('connector_error', `cannot read from ${id}: ${problem}`, {
          hint: 'cep connector test -p PROGRAM says which step fails, and what to do',
        });
      }
    }
  }

  /** Gives how many outputs are dead letters. */
  async #show(screen: RunScreen): Promise<number> {
    const { eventsProcessed, eventsInvalid, outputEventsEmitted, dlqEvents } = await this.#runtime.pipelines.metrics(
      SERVER_TENANT,
      this.#id,
    );
    const sources = this.#sources;
    const unreadable = sources.reduce((sum, source) => sum + source.unreadable, 0);
    const away = sources.flatMap(({ id, problem }) => (problem === null ? [] : [id]));
    screen.status({ eventsProcessed, eventsInvalid, unreadable, outputs: outputEventsEmitted, deadLetters: dlqEvents, away });
    return dlqEvents - unreadable;
  }
}

function pause(ms: number, signal: Promise<unknown>): Promise<unknown> {
  return Promise.race([signal, new Promise((resolve) => setTimeout(resolve, ms))]);
}
