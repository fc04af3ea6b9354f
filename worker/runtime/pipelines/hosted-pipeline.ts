import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { ConnectorEnvironment } from '../../connectors/connector.ts';
import type { DeadLetters } from '../../connectors/delivery/dead-letters.ts';
import { PipelineSinks, type SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import { canRead, settingsOf } from '../../connectors/registry.ts';
import type {
  CheckpointResult,
  ConnectorScrape,
  Follower,
  InjectRequest,
  InjectResult,
  OutputCursor,
  Pipeline,
  PipelineMetrics,
  PipelineScrape,
  PipelineStatus,
  ProgramLogLine,
  RestoreResult,
  RuntimeReport,
  Topology,
} from '../service.ts';
import type { EnginePool } from '../threads/engine-pool.ts';
import type { CheckReply, CountersReply, ProgramSummary, RecordResult } from '../threads/messages.ts';
import { EngineSwitch, type ProgramReport } from './engine-switch.ts';
import { IdempotencyWindow } from './idempotency-window.ts';
import { type Entry, Intake, type IntakeOwner } from './intake.ts';
import { OutputRing } from './output-ring.ts';
import { deferred, digestOf, newEntry, tickEntry } from './pipeline-inputs.ts';
import { PipelineSaver } from './pipeline-saver.ts';
import { PipelineTally } from './pipeline-tally.ts';
import { ProgramLog } from './program-log.ts';
import { eventRefusal } from './record-answer.ts';
import { type Admission, ResultHandler } from './result-handler.ts';
import type { LoggedRequest, PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from './runtime-storage.ts';
import { Strikes } from './strikes.ts';
import { requireTransition } from './transitions.ts';

export interface PipelineContext {
  readonly pool: EnginePool;
  readonly storage: RuntimeStorage | null;
  readonly workDir: string;
  readonly strictEvents: boolean;
  readonly checkpointIntervalMs: number;
  /** Numbers the inputs of all pipelines; never gives a number twice, in any process on the same state. */
  readonly nextSequence: () => number;
  readonly report: (report: RuntimeReport) => void;
  readonly deadLetters: DeadLetters;
  /** What connectors need of the process, on behalf of a tenant. */
  readonly environmentOf: (tenantId: string) => ConnectorEnvironment;
}

/** How long a pipeline that stops waits for its sinks; what is left then stays pending. */
const SINKS_FLUSH_MS = 5_000;
/** A thread that others have cost is soon replaced. */
const OPEN_ATTEMPTS_MAX = 5;
const OPEN_AGAIN_MS = 500;

type CheckedProgram = NonNullable<CheckReply['program']>;

/** A deployed program: its life, what comes in and what goes out. Engines live on threads, which it outlives. */
export class HostedPipeline implements IntakeOwner {
  readonly id: string;
  readonly tenantId: string;
  readonly isEphemeral: boolean;
  readonly #context: PipelineContext;
  readonly #storage: RuntimeStorage | null;
  readonly #intake: Intake;
  readonly #ring: OutputRing;
  readonly #answers = new IdempotencyWindow<InjectResult>(answerSize);
  readonly #tally: PipelineTally;
  readonly #log = new ProgramLog();
  readonly #sinks: PipelineSinks;
  readonly #results: ResultHandler;
  readonly #saver: PipelineSaver;
  readonly #switch: EngineSwitch;
  readonly #strikes = new Strikes();
  #definition: PipelineDefinition;
  #status: PipelineStatus = 'stopped';
  #error: string | null;
  #startedAt = 0;
  /** Operations of which only one may be under way. */
  #operation: Promise<unknown> = Promise.resolve();
  #isDeleted = false;
  #isDraining = false;
  /** Intake is held up because the sinks are. */
  #isHeld = false;
  /** What a checkpoint says is still to be delivered; null once the sinks have it. */
  #undelivered: SavedDeliveries | null;

  constructor(
    context: PipelineContext,
    definition: PipelineDefinition,
    options: { readonly checkpoint?: PipelineCheckpoint | undefined; readonly idleUpTo?: number; readonly ephemeral?: boolean },
  ) {
    const { checkpoint, idleUpTo } = options;
    this.id = definition.id;
    this.tenantId = definition.tenantId;
    this.isEphemeral = options.ephemeral ?? false;
    this.#context = context;
    this.#storage = this.isEphemeral ? null : context.storage;
    this.#definition = definition;
    this.#error = definition.error;
    this.#tally = new PipelineTally(checkpoint?.counts);
    this.#ring = new OutputRing(checkpoint?.counts.outputEventsEmitted ?? 0);
    this.#answers.load(checkpoint?.answers ?? []);
    this.#tally.stateBytes = checkpoint?.state.byteLength ?? 0;
    this.#intake = new Intake(this, context.pool, {
      sequence: Math.max(checkpoint?.sequence ?? 0, idleUpTo ?? 0),
      state: checkpoint?.state ?? null,
    });
    this.#undelivered = checkpoint?.deliveries ?? null;
    this.#sinks = this.#newSinks();
    const { id: pipelineId } = this;
    const [intake, tally, answers, sinks, ring, log] = [this.#intake, this.#tally, this.#answers, this.#sinks, this.#ring, this.#log];
    this.#results = new ResultHandler(pipelineId, { ring, tally, answers, log, sinks });
    this.#saver = new PipelineSaver(
      { pipelineId, storage: this.#storage, intervalMs: context.checkpointIntervalMs, report: context.report },
      { intake, tally, answers, sinks, definition: () => (this.#isDeleted ? null : this.#definition) },
      checkpoint?.sequence ?? 0,
    );
    this.#switch = new EngineSwitch({
      pipelineId,
      intake,
      tally,
      saver: this.#saver,
      definition: () => this.#definition,
      define: (change, saved) => this.#define(change, saved),
      connect: (summary) => this.#connect(summary),
    });
    if (definition.error !== null) this.#status = 'failed';
  }

  #newSinks(): PipelineSinks {
    const { report, deadLetters, environmentOf } = this.#context;
    const environment = environmentOf(this.tenantId);
    return new PipelineSinks({ pipelineId: this.id, environment, deadLetters, report, onChange: () => this.#lookAtSinks() });
  }

  /** Sinks that cannot keep up hold up what feeds them. */
  #lookAtSinks(): void {
    const { isFull } = this.#sinks;
    if (isFull !== this.#isHeld) {
      this.#isHeld = isFull;
      if (isFull) this.#intake.pause();
      else this.#intake.resume();
    }
    this.#showHealth();
  }

  /** Running, or degraded and why. */
  #showHealth(): void {
    if (!this.isRunning) return;
    const circuits = this.#sinks.openCircuits;
    const reason = circuits.length > 0 ? `the circuit breaker is open: ${circuits.join(', ')}` : this.#strikes.shown(performance.now());
    if (reason === undefined) this.#become('running');
    else this.#become('degraded', reason);
  }

  // ---------------------------------------------------------------------------------------------- what it is

  get name(): string {
    return this.#definition.name;
  }

  get status(): PipelineStatus {
    return this.#status;
  }

  get definition(): PipelineDefinition {
    return this.#definition;
  }

  get streams(): readonly string[] {
    return this.#definition.summary.streams;
  }

  get topology(): Topology {
    return this.#definition.summary.topology;
  }

  get stateBytes(): number {
    return this.#tally.stateBytes;
  }

  get eventsProcessed(): number {
    return this.#tally.eventsProcessed;
  }

  get outputEventsEmitted(): number {
    return this.#tally.outputEventsEmitted;
  }

  get isRunning(): boolean {
    return this.#status === 'running' || this.#status === 'degraded';
  }

  view(): Pipeline {
    const { id, name, program, version, labels, createdAt, updatedAt } = this.#definition;
    return {
      id,
      name,
      status: this.#status,
      source: program.source,
      version,
      labels,
      createdAt,
      updatedAt,
      uptimeSeconds: this.#uptime(),
      eventsProcessed: this.eventsProcessed,
      outputEventsEmitted: this.outputEventsEmitted,
      ...(this.#error === null ? {} : { error: this.#error }),
    };
  }

  #uptime(): number {
    return this.isRunning ? Math.floor((performance.now() - this.#startedAt) / 1000) : 0;
  }

  follow(follower: Follower): OutputCursor {
    return this.#ring.follow(follower);
  }

  programLog(limit: number): readonly ProgramLogLine[] {
    return this.#log.newest(limit);
  }

  // ---------------------------------------------------------------------------------------------- events

  /** @throws CepError, as `Pipelines.inject` */
  async inject(request: InjectRequest, admit: (events: number) => Admission, events: number): Promise<InjectResult> {
    const answer = await this.#answerTo(request, () => admit(events));
    const [problem] = answer.errors;
    if (problem !== undefined && (request.format === 'event' || request.format === 'flat')) throw eventRefusal(problem);
    return answer;
  }

  #answerTo(request: InjectRequest, admit: () => Admission): Promise<InjectResult> {
    const { idempotencyKey: key } = request;
    if (key === undefined) return this.#accept(request, admit(), null);
    const digest = digestOf(request);
    const known = this.#answers.find(key, digest, Date.now());
    if (known !== undefined) return known.then((answer) => ({ ...answer, repeated: true }));
    return this.#accept(request, admit(), { key, digest });
  }

  /** @throws CepError `pipeline_not_running` */
  requireRunning(): void {
    if (this.isRunning || this.#status === 'starting') return;
    throw new CepError('pipeline_not_running', `the pipeline is ${this.#status}${this.#error === null ? '' : `: ${this.#error}`}`, {
      hint: 'start it first',
    });
  }

  /** @throws CepError `queue_full` */
  requireRoom(bytes: number): void {
    this.#intake.requireRoom(bytes);
    if (!this.#isHeld) return;
    throw new CepError(
      'queue_full',
      `the sinks of the pipeline have ${this.#sinks.pending} events to deliver, and the pipeline waits for them`,
      {
        hint: 'send the same request again in a moment',
        retryAfterSeconds: 5,
      },
    );
  }

  #accept(request: InjectRequest, admission: Admission, idempotency: LoggedRequest['idempotency']): Promise<InjectResult> {
    const { promise, settle } = deferred<InjectResult>();
    const time = Date.now();
    const entry = newEntry(request, { sequence: this.#context.nextSequence(), time, settle, idempotencyKey: idempotency?.key ?? null });
    if (idempotency !== null) this.#answers.begin(idempotency.key, { digest: idempotency.digest, now: time }, promise);
    this.#results.enter(entry, admission);
    if (request.durable === true && this.#storage !== null) this.#keepOnDisk(entry, request, idempotency);
    this.#intake.accept(entry);
    return promise;
  }

  /** The entry waits for the log; when that fails it is refused, as if it had never come. */
  #keepOnDisk(entry: Entry, request: InjectRequest, idempotency: LoggedRequest['idempotency']): void {
    entry.isReady = false;
    const record: LoggedRequest = {
      kind: 'request',
      pipelineId: this.id,
      sequence: entry.sequence,
      format: request.format,
      time: entry.time,
      idempotency,
      outputs: request.outputs !== false,
      bytes: request.body,
    };
    (this.#storage as RuntimeStorage).append(record).then(
      () => this.#intake.release(entry, true),
      (error: Error) => {
        this.#results.leave(entry);
        entry.settle?.reject(error);
        this.#intake.release(entry, false);
      },
    );
  }

  /** Inputs up to this one are in the state, or were never more than ticks without effect. */
  get recoveredUpTo(): number {
    return this.#intake.base.sequence;
  }

  /** Bytes that were accepted and are not through. */
  get queuedBytes(): number {
    return this.#intake.queuedBytes;
  }

  /** Resolves when everything accepted is through; of a pipeline that does not run, at once. */
  async drained(): Promise<void> {
    if (this.isRunning) await this.#intake.drained();
  }

  /** A request that the log holds from before: nobody waits for its answer, but the idempotency key does. */
  recover(record: LoggedRequest, skip: readonly number[]): void {
    const { promise, settle } = deferred<InjectResult>();
    promise.catch(() => undefined); // Nobody asks for it any more.
    const { sequence, time, idempotency, format, outputs, bytes } = record;
    const request: InjectRequest = { body: bytes, format, outputs };
    if (idempotency !== null) this.#answers.begin(idempotency.key, { digest: idempotency.digest, now: time }, promise);
    const entry = newEntry(request, { sequence, time, settle, idempotencyKey: idempotency?.key ?? null });
    entry.skip.push(...skip);
    this.#intake.accept(entry);
  }

  recoverTick(sequence: number, time: number, isSkipped: boolean): void {
    const entry = tickEntry(sequence, time);
    if (isSkipped) entry.skip.push(-1);
    this.#intake.accept(entry);
  }

  /** Whether the clock matters to the program now. */
  get takesTicks(): boolean {
    return this.isRunning && this.#definition.summary.isTimed && !this.#intake.lastIsWaitingTick;
  }

  /** Whether the tick has to be in the log before it counts. */
  get isLogged(): boolean {
    return this.#storage !== null;
  }

  /** `logged`: resolves when the log has the tick, which counts only then. */
  tick(sequence: number, time: number, logged?: Promise<void>): void {
    const entry = tickEntry(sequence, time);
    entry.isReady = logged === undefined;
    this.#intake.accept(entry);
    void logged?.then(() => this.#intake.release(entry, true));
  }

  result(entry: Entry, result: RecordResult): void {
    this.#results.handle(entry, result, this.streams);
    this.#saver.note(result);
    this.#saver.saveWhenLong();
  }

  counters(counters: CountersReply): void {
    this.#tally.counters = counters;
  }

  // ---------------------------------------------------------------------------------------------- life

  #become(status: PipelineStatus, error: string | null = null): void {
    requireTransition(this.#status, status);
    if (status === this.#status && error === this.#error) return;
    if (status === 'running' && this.#status === 'starting') this.#startedAt = performance.now();
    this.#status = status;
    this.#error = error;
  }

  /** One after the other. */
  #exclusive<T>(action: () => Promise<T>): Promise<T> {
    const run = this.#operation.then(action, action);
    this.#operation = run.catch(() => undefined);
    return run;
  }

  /** Puts it on a thread with its last state. @throws CepError when the program does not start */
  start(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.isRunning) return;
      this.#become('starting');
      this.#strikes.forgive();
      try {
        this.#connect(this.#definition.summary);
        await this.#open();
      } catch (error) {
        this.#become('failed', messageOf(error));
        this.#refuseAll(new CepError('pipeline_not_running', `the pipeline did not start: ${messageOf(error)}`));
        throw error;
      }
      this.#become('running');
      await this.#define({ isStopped: false, error: null });
    });
  }

  /** @throws CepError `connector_error` */
  #connect({ connectors, sinks, sources }: ProgramSummary): void {
    const types = new Map(connectors.map(({ name, type }) => [name, type]));
    const unreadable = sources.find((name) => !canRead(types.get(name) ?? ''));
    if (unreadable !== undefined) {
      throw new CepError(
        'connector_error',
        `connector '${unreadable}': this build cannot read from connectors of type ${types.get(unreadable)}`,
      );
    }
    this.#sinks.configure(
      connectors.map(({ name, type, parameters }) => settingsOf(name, type, parameters)),
      sinks,
    );
    if (this.#undelivered !== null) this.#sinks.load(this.#undelivered);
    this.#undelivered = null;
  }

  /** @throws CepError `not_ready` when the program itself has cost the thread, and what the program's start says */
  async #open(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#openOnce();
        return;
      } catch (error) {
        const isInnocent = isThreadLost(error) && !this.#intake.hungAtOpening;
        if (!isInnocent || attempt === OPEN_ATTEMPTS_MAX) throw error;
        await sleep(OPEN_AGAIN_MS);
      }
    }
  }

  async #openOnce(): Promise<void> {
    const { workDir, strictEvents } = this.#context;
    const { program } = this.#definition;
    const state = this.#intake.base.state ?? (await this.#storedState());
    const { summary } = await this.#intake.open({ program, workDir, strictEvents }, { isSuspect: this.#strikes.isSuspect, state });
    this.#definition = { ...this.#definition, summary };
    if (this.#storage !== null) this.#intake.forgetState(this.#saver.storedSequence);
  }

  async #storedState(): Promise<Uint8Array | null> {
    const sequence = this.#saver.storedSequence;
    if (sequence === 0 || this.#storage === null) return null;
    const stored = await this.#storage.readState(this.id);
    if (stored?.sequence !== sequence) {
      throw new CepError('storage_unavailable', `the state of pipeline ${this.id} cannot be read back: expected that of input ${sequence}`);
    }
    return stored.state;
  }

  /** Finishes what was accepted, saves its state. */
  stop(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.#status === 'stopped') return;
      if (this.#status !== 'failed') await this.#drain();
      this.#become('stopped');
      await this.#define({ isStopped: true, error: null });
    });
  }

  async #drain(): Promise<void> {
    this.#become('draining');
    this.#isDraining = true;
    await this.#intake.drained();
    await this.#sinks.idle(SINKS_FLUSH_MS);
    await this.#saver.saveOrReport();
    this.#isDraining = false;
    this.#intake.close();
  }

  /** Ends with the process: as `stop`, but it will be running again after the next start. False when something is not delivered and not kept. */
  shutdown(): Promise<boolean> {
    return this.#exclusive(async () => {
      if (this.isRunning) {
        await this.#drain();
        this.#become('stopped');
      }
      this.#ring.end('shutdown');
      await this.#sinks.close();
      return this.#storage !== null || this.#sinks.pending === 0;
    });
  }

  delete(): Promise<void> {
    return this.#exclusive(async () => {
      this.#isDeleted = true;
      if (this.#storage !== null) await this.#storage.deletePipeline(this.id);
      this.#intake.close();
      this.#refuseAll(new CepError('pipeline_not_found', `there is no pipeline '${this.id}'`));
      this.#ring.end('deleted');
      await this.#sinks.close();
    });
  }

  async #define(change: Partial<PipelineDefinition>, checkpoint: PipelineCheckpoint | null = null): Promise<void> {
    const definition = { ...this.#definition, ...change };
    if (this.#storage !== null && !this.#isDeleted) await this.#storage.savePipeline(definition, checkpoint);
    this.#definition = definition;
  }

  lost(culprit: { readonly entry: Entry | undefined; readonly index: number } | undefined, reason: string): void {
    if (this.#isDeleted) return;
    // Who drains waits for what the lost thread had, so this must not wait for him.
    if (this.#isDraining) void this.#recoverFrom(culprit, reason);
    else void this.#exclusive(() => this.#recoverFrom(culprit, reason));
  }

  async #recoverFrom(culprit: Parameters<HostedPipeline['lost']>[0], reason: string): Promise<void> {
    const cause = reason.split('\n', 1)[0] ?? '';
    if (culprit !== undefined) await this.#strike(culprit, cause);
    const verdict = this.#strikes.verdict(performance.now());
    if (verdict !== undefined) {
      await this.#fail(verdict);
      return;
    }
    try {
      await this.#open();
      this.#showHealth();
    } catch (error) {
      if (isThreadLost(error)) await this.#recoverFrom({ entry: undefined, index: -1 }, reason);
      else await this.#fail(messageOf(error));
    }
  }

  async #strike({ entry, index }: NonNullable<Parameters<HostedPipeline['lost']>[0]>, reason: string): Promise<void> {
    this.#strikes.add(performance.now(), reason);
    this.#context.report({ level: 'error', message: 'Event given up', fields: { pipeline: this.id, index, reason } });
    if (entry) await this.#logSkip(entry, index);
  }

  /** After a crash the event is not to be tried again. */
  async #logSkip({ sequence }: Entry, index: number): Promise<void> {
    if (this.#storage === null) return;
    try {
      await this.#storage.append({ kind: 'skip', pipelineId: this.id, sequence, index });
    } catch (error) {
      this.#context.report({
        level: 'error',
        message: 'Event given up was not recorded',
        fields: { pipeline: this.id, reason: messageOf(error) },
      });
    }
  }

  async #fail(error: string): Promise<void> {
    this.#intake.close();
    this.#become('failed', error);
    this.#context.report({ level: 'error', message: 'Pipeline failed', fields: { pipeline: this.id, name: this.name, error } });
    const refused = this.#refuseAll(new CepError('pipeline_not_running', `the pipeline failed: ${error}`));
    for (const { sequence } of refused)
      void this.#storage?.append({ kind: 'skip', pipelineId: this.id, sequence, index: -1 }).catch(() => undefined);
    await this.#define({ error }).catch((cause) => this.#saver.report(cause));
  }

  #refuseAll(error: CepError): readonly Entry[] {
    const refused = this.#intake.refuseAll(error);
    for (const entry of refused) this.#results.leave(entry);
    return refused;
  }

  // ---------------------------------------------------------------------------------------------- state

  /** Called about every second: saves when it is time, forgets what is long past. */
  maintain(): void {
    this.#showHealth();
    if (this.isRunning) this.#saver.saveWhenDue();
  }

  async checkpoint(): Promise<CheckpointResult> {
    this.requireRunning();
    return this.#switch.checkpoint();
  }

  async restore(document: Uint8Array): Promise<RestoreResult> {
    this.requireRunning();
    return this.#exclusive(async () => {
      this.requireRunning();
      return this.#switch.restore(document);
    });
  }

  /** The program has been checked. */
  async reload(program: CheckedProgram, options: { readonly dryRun: boolean; readonly acceptReset: boolean }): Promise<ProgramReport> {
    this.requireRunning();
    return this.#exclusive(async () => {
      this.requireRunning();
      const report = await this.#switch.reload(program, options);
      const fields = { pipeline: this.id, version: this.#definition.version };
      if (report.reloaded) this.#context.report({ level: 'info', message: 'Pipeline reloaded', fields });
      return report;
    });
  }

  explain(stream: string, key: string | null): Promise<string> {
    this.requireRunning();
    return this.#intake.call<string>((slot) => ({ kind: 'explain', slot, stream, key }));
  }

  // ---------------------------------------------------------------------------------------------- numbers

  /** Asks the engine, for at most `waitMs`. */
  async metrics(waitMs: number): Promise<PipelineMetrics> {
    if (this.isRunning) {
      const asked = this.#intake
        .call<CountersReply>((slot) => ({ kind: 'counters', slot }))
        .then(
          (counters) => this.counters(counters),
          () => undefined, // The thread is being replaced: what was last heard has to do.
        );
      await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, waitMs).unref())]);
    }
    return this.#metrics();
  }

  #metrics(): PipelineMetrics {
    return { pipelineId: this.id, uptimeSeconds: this.#uptime(), dlqEvents: this.#sinks.dlqEvents, ...this.#tally.metrics() };
  }

  connectors(): readonly ConnectorScrape[] {
    const { dropped } = this.#context.deadLetters;
    return this.#sinks.status().map((status) => ({ ...status, pipelineId: this.id, dlqDropped: dropped.of(this.id, status.connector) }));
  }

  /** Dead letters, each to the sink that did not take it. */
  replayDeadLetters(): Promise<{ readonly replayed: number; readonly failed: number }> {
    return this.#sinks.replay();
  }

  scrape(): PipelineScrape {
    return {
      ...this.#metrics(),
      ...this.#tally.scrape(),
      tenantId: this.tenantId,
      name: this.name,
      status: this.#status,
      checkpointAgeSeconds: this.#saver.ageSeconds,
    };
  }
}

function answerSize({ outputs, errors }: InjectResult): number {
  return outputs.reduce((sum, { fieldsJson }) => sum + fieldsJson.length + 100, 0) + errors.length * 200;
}

/** The thread was replaced while it loaded the program. */
function isThreadLost(error: unknown): boolean {
  return error instanceof CepError && error.code === 'not_ready';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
