import { createHash } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import type {
  CheckpointResult,
  Follower,
  InjectRequest,
  InjectResult,
  OutputCursor,
  Pipeline,
  PipelineMetrics,
  PipelineScrape,
  PipelineStatus,
  ProgramLogLine,
  ReloadReport,
  RestoreResult,
  RuntimeReport,
  Topology,
} from '../service.ts';
import type { EnginePool } from '../threads/engine-pool.ts';
import type { CheckReply, CountersReply, RecordResult, SwitchReply } from '../threads/messages.ts';
import { IdempotencyWindow } from './idempotency-window.ts';
import { type Entry, Intake, type IntakeOwner } from './intake.ts';
import { OutputRing } from './output-ring.ts';
import { ANSWER_OUTPUTS_MAX, deferred, digestOf, newEntry, tickEntry } from './pipeline-inputs.ts';
import { PipelineSaver } from './pipeline-saver.ts';
import { PipelineTally } from './pipeline-tally.ts';
import { ProgramLog } from './program-log.ts';
import { eventRefusal, outputsOf, resultOf, unreadableBody } from './record-answer.ts';
import type { LoggedRequest, PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from './runtime-storage.ts';
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
}

/** Counts as `accepted`: what the tenant's quota sees. */
export interface Admission {
  readonly events: number;
  /** The engine found another number of events in the request. */
  readonly correct: (difference: number) => void;
}

const STRIKE_WINDOW_MS = 600_000;
/** A pipeline of which an event was given up shows that for so long. */
const DEGRADED_MS = 60_000;

type InFlight = Map<Entry, { readonly events: number; readonly correct: (difference: number) => void }>;

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
  readonly #saver: PipelineSaver;
  readonly #inFlight: InFlight = new Map();
  #definition: PipelineDefinition;
  #status: PipelineStatus = 'stopped';
  #error: string | null;
  #startedAt = 0;
  #strikes: number[] = [];
  /** Operations of which only one may be under way. */
  #operation: Promise<unknown> = Promise.resolve();
  #isDeleted = false;

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
    this.#intake = new Intake(this, context.pool, { sequence: Math.max(checkpoint?.sequence ?? 0, idleUpTo ?? 0), state: checkpoint?.state ?? null });
    this.#saver = new PipelineSaver(
      { pipelineId: this.id, storage: this.#storage, intervalMs: context.checkpointIntervalMs, report: context.report },
      { intake: this.#intake, tally: this.#tally, answers: this.#answers, definition: () => (this.#isDeleted ? null : this.#definition) },
      checkpoint?.sequence ?? 0,
    );
    if (definition.error !== null) this.#status = 'failed';
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
  inject(request: InjectRequest, admit: (events: number) => Admission, events: number): Promise<InjectResult> {
    const { idempotencyKey: key } = request;
    if (key === undefined) return this.#accept(request, admit(events), null);
    const digest = digestOf(request);
    const known = this.#answers.find(key, digest, Date.now());
    if (known !== undefined) return known.then((answer) => ({ ...answer, repeated: true }));
    this.requireRunning();
    return this.#accept(request, admit(events), { key, digest });
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
  }

  async #accept(request: InjectRequest, admission: Admission, idempotency: LoggedRequest['idempotency']): Promise<InjectResult> {
    const { promise, settle } = deferred<InjectResult>();
    const time = Date.now();
    const entry = newEntry(request, { sequence: this.#context.nextSequence(), time, settle, idempotencyKey: idempotency?.key ?? null });
    if (idempotency !== null) this.#answers.begin(idempotency.key, { digest: idempotency.digest, now: time }, promise);
    this.#tally.eventsInFlight += admission.events;
    this.#inFlight.set(entry, admission);
    if (request.durable === true && this.#storage !== null) this.#keepOnDisk(entry, request, idempotency);
    this.#intake.accept(entry);
    const result = await promise;
    const [problem] = result.errors;
    if (problem !== undefined && (request.format === 'event' || request.format === 'flat')) throw eventRefusal(problem);
    return result;
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
        this.#leaveFlight(entry);
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
    this.#leaveFlight(entry, result.events);
    const { pipelineId, streams, last } = { pipelineId: this.id, streams: this.#definition.summary.streams, last: this.#ring.last };
    const outputs = outputsOf(result, { pipelineId, streams, last });
    const elapsedMs = performance.now() - entry.acceptedAt;
    this.#count(entry, result, elapsedMs);
    this.#ring.skip(result.outputs.skipped);
    for (const output of outputs) {
      this.#ring.push(output);
      this.#tally.output(output.stream, output.eventType, elapsedMs / 1000);
    }
    if (result.log.length > 0) this.#log.add(result.log);
    this.#answer(entry, result, outputs);
    this.#saver.note(result);
    this.#saver.saveWhenLong();
  }

  #answer(entry: Entry, result: RecordResult, outputs: Parameters<typeof resultOf>[1]): void {
    if (result.unreadable !== null) {
      entry.settle?.reject(unreadableBody(result.unreadable));
      return;
    }
    const answer = resultOf(result, outputs, { wanted: entry.outputsMax === ANSWER_OUTPUTS_MAX });
    if (entry.idempotencyKey !== null) this.#answers.complete(entry.idempotencyKey, answer);
    entry.settle?.resolve(answer);
  }

  #count(entry: Entry, result: RecordResult, elapsedMs: number): void {
    const tally = this.#tally;
    tally.eventsProcessed += result.processed;
    tally.outputEventsEmitted += result.outputs.skipped + result.outputs.time.length;
    for (const { code } of result.problems) {
      if (code === 'invalid_event') tally.eventsInvalid++;
      else tally.eventsRefused++;
    }
    if (entry.format !== null && result.processed > 0) tally.latency.add(elapsedMs * 1000, result.processed);
  }

  #leaveFlight(entry: Entry, events?: number): void {
    const flight = this.#inFlight.get(entry);
    if (flight === undefined) return;
    this.#inFlight.delete(entry);
    this.#tally.eventsInFlight -= flight.events;
    if (events !== undefined && events !== flight.events) flight.correct(events - flight.events);
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
      try {
        await this.#open(this.#strikes.length > 0);
      } catch (error) {
        this.#become('failed', messageOf(error));
        throw error;
      }
      this.#become('running');
      await this.#define({ isStopped: false, error: null });
    });
  }

  async #open(isSuspect: boolean): Promise<void> {
    const { workDir, strictEvents } = this.#context;
    const { program } = this.#definition;
    const state = this.#intake.base.state ?? (await this.#storedState());
    const { summary } = await this.#intake.open({ program, workDir, strictEvents }, { isSuspect, state });
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
    await this.#intake.drained();
    await this.#saver.saveOrReport();
    this.#intake.close();
  }

  /** Ends with the process: as `stop`, but it will be running again after the next start. */
  shutdown(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.isRunning) {
        await this.#drain();
        this.#become('stopped');
      }
      this.#ring.end('shutdown');
    });
  }

  delete(): Promise<void> {
    return this.#exclusive(async () => {
      this.#isDeleted = true;
      if (this.#storage !== null) await this.#storage.deletePipeline(this.id);
      this.#intake.close();
      this.#refuseAll(new CepError('pipeline_not_found', `there is no pipeline '${this.id}'`));
      this.#ring.end('deleted');
    });
  }

  async #define(change: Partial<PipelineDefinition>, checkpoint: PipelineCheckpoint | null = null): Promise<void> {
    const definition = { ...this.#definition, ...change };
    if (this.#storage !== null && !this.#isDeleted) await this.#storage.savePipeline(definition, checkpoint);
    this.#definition = definition;
  }

  lost(culprit: { readonly entry: Entry | undefined; readonly index: number } | undefined, reason: string): void {
    if (this.#isDeleted) return;
    void this.#exclusive(() => this.#recoverFrom(culprit, reason));
  }

  async #recoverFrom(culprit: Parameters<HostedPipeline['lost']>[0], reason: string): Promise<void> {
    if (culprit !== undefined) {
      this.#strikes = [...this.#strikes.filter((at) => at > performance.now() - STRIKE_WINDOW_MS), performance.now()];
      this.#context.report({
        level: 'error',
        message: 'Event given up',
        fields: { pipeline: this.id, index: culprit.index, reason: firstLine(reason) },
      });
      if (culprit.entry) await this.#logSkip(culprit.entry, culprit.index);
    }
    if (this.#strikes.length >= limits.pipelineStrikesMax) {
      await this.#fail(`${this.#strikes.length} events were given up within ten minutes, the last because ${firstLine(reason)}`);
      return;
    }
    try {
      await this.#open(this.#strikes.length > 0);
      if (culprit !== undefined && this.isRunning) this.#become('degraded', `an event was given up: ${firstLine(reason)}`);
    } catch (error) {
      if (this.#strikes.length === 0 && error instanceof CepError && error.code === 'not_ready')
        return this.#recoverFrom({ entry: undefined, index: -1 }, reason);
      await this.#fail(messageOf(error));
    }
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
    for (const entry of refused) this.#leaveFlight(entry);
    return refused;
  }

  // ---------------------------------------------------------------------------------------------- state

  /** Called about every second: saves when it is time, forgets what is long past. */
  maintain(): void {
    const now = performance.now();
    this.#strikes = this.#strikes.filter((at) => at > now - STRIKE_WINDOW_MS);
    const isOver = this.#status === 'degraded' && !this.#strikes.some((at) => at > now - DEGRADED_MS);
    if (isOver) this.#become('running');
    if (this.isRunning) this.#saver.saveWhenDue();
  }

  async checkpoint(): Promise<CheckpointResult> {
    this.requireRunning();
    const { program } = this.#definition;
    const counts = this.#tally.counts();
    const counters = {
      events_processed: counts.eventsProcessed,
      events_invalid: counts.eventsInvalid,
      events_refused: counts.eventsRefused,
      output_events_emitted: counts.outputEventsEmitted,
    };
    const sourceHash = createHash('sha256').update(program.source).digest('hex');
    const call = { kind: 'document', pipelineId: this.id, sourceHash, createdAt: Date.now(), counters } as const;
    const checkpointJson = await this.#intake.call<string>((slot) => ({ ...call, slot }));
    return { pipelineId: this.id, checkpointJson, eventsProcessed: counts.eventsProcessed };
  }

  restore(document: Uint8Array): Promise<RestoreResult> {
    this.requireRunning();
    return this.#exclusive(async () => {
      this.requireRunning();
      const reply = await this.#switch(
        () => this.#intake.call<SwitchReply>((slot) => ({ kind: 'restore', slot, document })),
        (given) => {
          this.#tally.restore(given.counters);
          return {};
        },
      );
      const { preserved, reset, changed, added } = reply;
      return {
        pipelineId: this.id,
        eventsRestored: reply.counters['events_processed'] ?? 0,
        preserved,
        reset: [...reset, ...changed, ...added],
      };
    });
  }

  /** The program has been checked. */
  reload(
    program: NonNullable<CheckReply['program']>,
    options: { readonly dryRun: boolean; readonly acceptReset: boolean },
  ): Promise<Omit<ReloadReport, 'warnings'>> {
    this.requireRunning();
    return this.#exclusive(async () => {
      this.requireRunning();
      const refusal = { report: undefined as Omit<ReloadReport, 'warnings'> | undefined };
      const reply = await this.#switch(
        () => this.#intake.call<SwitchReply>((slot) => ({ kind: 'reload', slot, program: program.text })),
        (given) => {
          if (options.dryRun) return null;
          if (!options.acceptReset && given.reset.length + given.changed.length > 0) {
            refusal.report = reportOf(given, false);
            return null;
          }
          return { program: program.text, summary: given.summary, version: this.#definition.version + 1, updatedAt: Date.now() };
        },
      );
      if (refusal.report !== undefined) throw wouldReset(refusal.report);
      if (!options.dryRun)
        this.#context.report({
          level: 'info',
          message: 'Pipeline reloaded',
          fields: { pipeline: this.id, version: this.#definition.version },
        });
      return reportOf(reply, !options.dryRun);
    });
  }

  /**
   * Makes another engine, and puts it in the place of the one that runs once that is on disk. While this is under way nothing is
   * sent. `decide`: what changes in the definition, or null to go on as before.
   */
  async #switch(
    make: () => Promise<SwitchReply>,
    decide: (reply: SwitchReply) => Partial<PipelineDefinition> | null,
  ): Promise<SwitchReply> {
    this.#intake.pause();
    try {
      const sequence = this.#intake.lastSent;
      const reply = await make();
      const change = decide(reply);
      if (change === null) this.#intake.settle(false);
      else await this.#take(reply, sequence, change);
      return reply;
    } finally {
      this.#intake.resume();
    }
  }

  async #take(reply: SwitchReply, sequence: number, change: Partial<PipelineDefinition>): Promise<void> {
    try {
      await this.#define(change, this.#saver.checkpointOf(sequence, reply.state));
    } catch (error) {
      this.#intake.settle(false);
      throw error;
    }
    this.#intake.settle(true);
    this.#intake.rebase({ sequence, state: reply.state });
    if (this.#storage !== null) this.#saver.isStored(sequence);
    this.#tally.stateBytes = reply.state.byteLength;
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
    return { pipelineId: this.id, uptimeSeconds: this.#uptime(), dlqEvents: 0, ...this.#tally.metrics() };
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

function reportOf({ added, removed, preserved, reset, changed }: SwitchReply, reloaded: boolean): Omit<ReloadReport, 'warnings'> {
  return { reloaded, added, removed, preserved, reset, changed };
}

function wouldReset(report: Omit<ReloadReport, 'warnings'>): CepError {
  const streams = [...report.reset, ...report.changed].join(', ');
  return new CepError('state_would_reset', `these streams would lose state: ${streams}`, {
    hint: 'repeat the request with accept_reset, or keep their operators as they are',
    details: report,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
