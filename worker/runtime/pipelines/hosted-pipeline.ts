import { CepError } from '../../../shared/errors/error.ts';
import { decodeValue, encodeValue } from '../../../shared/events/stored-value.ts';
import type { LetterFilter } from '../../connectors/delivery/dead-letters.ts';
import type { ReplayCounts } from '../../connectors/delivery/letter-replays.ts';
import { PipelineSinks } from '../../connectors/delivery/pipeline-sinks.ts';
import { PipelineLookups } from '../../connectors/lookups/pipeline-lookups.ts';
import { PipelineSources } from '../../connectors/sources/pipeline-sources.ts';
import type { SourceFeed, SourceRunner, SourceStatus, TakenFeed } from '../../connectors/sources/source-runner.ts';
import type { RestoreReport } from '../../engine/engine.ts';
import { ArrivalClock } from '../arrival-clock.ts';
import type { Placing } from '../placed/placing.ts';
import { markOf, type Receipt, receivedOf } from '../placed/receipts.ts';
import type {
  CheckpointResult,
  ConnectorScrape,
  Follower,
  InjectRequest,
  InjectResult,
  OutputCursor,
  PastReload,
  Pipeline,
  PipelineConnector,
  PipelineCounts,
  PipelineMetrics,
  PipelineScrape,
  PipelineStatus,
  ProgramLogLine,
  RestoreResult,
  Topology,
} from '../service.ts';
import type { Admission } from '../tenants/event-meter.ts';
import {
  type AnswerMessage,
  type CheckReply,
  type CountersReply,
  END_OF_INPUT,
  type QuestionMessage,
  type RecordResult,
} from '../threads/messages.ts';
import type { WarmEngine } from '../threads/warm-engine.ts';
import { EngineSwitch, type ProgramReport } from './engine-switch.ts';
import { countEvents } from './event-count.ts';
import { IdempotencyWindow } from './idempotency-window.ts';
import { type Entry, Intake, type IntakeOwner } from './intake.ts';
import { OutputRing } from './output-ring.ts';
import { messagesMaxOf, PipelineConnectors } from './pipeline-connectors.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { PipelineEvents, type ReceivedBody } from './pipeline-events.ts';
import { type Leaving, PipelineLife } from './pipeline-life.ts';
import { PipelineRecord } from './pipeline-record.ts';
import { PipelineSaver } from './pipeline-saver.ts';
import { PipelineTally, type Refused } from './pipeline-tally.ts';
import { ProgramLog } from './program-log.ts';
import { ResultHandler } from './result-handler.ts';
import type { IdleTicks, LoggedRequest, PipelineCheckpoint, PipelineDefinition } from './runtime-storage.ts';
import { SourceMarks } from './source-marks.ts';
import { giveTick, TickRest } from './ticks.ts';

/** Of its program, that a change is for; undefined = any. */
type Versions = readonly number[] | undefined;
type CheckedProgram = NonNullable<CheckReply['program']>;

/** Changes of its program that are remembered. */
const PAST_RELOADS_MAX = 100;

export interface HostedOptions {
  readonly checkpoint?: PipelineCheckpoint | undefined;
  /** What came behind the checkpoint without effect. */
  readonly idle?: IdleTicks | undefined;
  readonly ephemeral?: boolean;
  /** It runs for a cluster, and is kept there. */
  readonly placing?: Placing;
  /** Of its program, and without a state. */
  readonly engine?: WarmEngine | undefined;
}

export interface ReloadOptions {
  readonly dryRun: boolean;
  readonly acceptReset: boolean;
  readonly versions?: Versions;
}

/** A deployed program: its life, what comes in and what goes out. Engines live on threads, which it outlives. */
export class HostedPipeline implements IntakeOwner {
  readonly id: string;
  readonly tenantId: string;
  readonly isEphemeral: boolean;
  /** When what comes now arrives; never behind what is in its state. */
  readonly clock: ArrivalClock;
  readonly #context: PipelineContext;
  readonly #record: PipelineRecord;
  readonly #intake: Intake;
  readonly #ring: OutputRing;
  readonly #tally: PipelineTally;
  readonly #log = new ProgramLog();
  readonly #pastReloads: PastReload[] = [];
  readonly #sinks: PipelineSinks;
  readonly #sources: PipelineSources;
  readonly #lookups: PipelineLookups;
  readonly #results: ResultHandler;
  readonly #saver: PipelineSaver;
  readonly #events: PipelineEvents;
  readonly #answers: IdempotencyWindow<InjectResult>;
  readonly #life: PipelineLife;
  readonly #switch: EngineSwitch;
  readonly #placing: Placing | undefined;
  readonly #marks: SourceMarks;
  readonly #rest = new TickRest();

  constructor(context: PipelineContext, definition: PipelineDefinition, options: HostedOptions) {
    const { checkpoint, idle, placing } = options;
    const { id: pipelineId, tenantId } = definition;
    const { pool, report, deadLetters, environmentOf, checkpointIntervalMs, nextSequence, tracer } = context;
    const outputs = placing?.outputs ?? context.outputs;
    this.id = pipelineId;
    this.tenantId = tenantId;
    this.isEphemeral = options.ephemeral ?? false;
    this.#context = context;
    const clock = new ArrivalClock({ wallMs: placing?.now ?? context.arrivalTime, elapsedMs: context.elapsedMs });
    if (checkpoint !== undefined) clock.notBefore(checkpoint.savedAt);
    this.clock = clock;
    const storage = this.isEphemeral || placing ? null : context.storage;
    const answers = new IdempotencyWindow<InjectResult>(answerSize);
    answers.load(checkpoint?.answers ?? [], context.elapsedMs());
    const record = new PipelineRecord(definition, placing?.storage ?? storage);
    const tally = new PipelineTally(checkpoint?.counts, () => this.#life.showHealth());
    const ring = new OutputRing(tally.outputEventsEmitted + tally.outputsTakenOff);
    if (definition.counters) tally.counters = definition.counters;
    tally.stateBytes = checkpoint?.state.byteLength ?? 0;
    const sequence = Math.max(checkpoint?.sequence ?? 0, idle?.upTo ?? 0);
    const intake = new Intake(this, pool, { sequence, state: checkpoint?.state ?? null, ticked: idle?.ticked }, options.engine);
    const sinks = new PipelineSinks({
      pipelineId,
      environment: { ...environmentOf(tenantId), mayDeliver: placing?.mayDeliver },
      deadLetters: deadLetters.of(tenantId),
      report,
      tracer,
      mayDeliver: placing?.mayDeliver,
      isHeld: placing?.isHeld,
      onChange: () => this.#lookAtSinks(),
      replica: placing?.replica,
    });
    if (checkpoint) sinks.countOn(checkpoint.deliveries);
    const marks = new SourceMarks(checkpoint?.sources);
    const sources = new PipelineSources({
      pipelineId,
      environment: environmentOf(tenantId),
      deadLetters: deadLetters.of(tenantId),
      onLetter: (connector) => sinks.countSourceLetter(connector),
      report,
      feed: (feed) => this.#feed(feed),
      safe: async () => placing?.safe(),
      position: (id) => marks.next(id),
      onChange: () => this.#life.showHealth(),
      replica: placing?.replica,
      ready: context.recovered,
    });
    const lookups = new PipelineLookups(environmentOf(tenantId));
    const { connect } = new PipelineConnectors({ sinks, sources, lookups }, checkpoint?.deliveries ?? null);
    const results = new ResultHandler(pipelineId, { ring, tally, answers, log: this.#log, sinks, marks, outputs, ids: placing?.ids });
    const saver = new PipelineSaver(
      { pipelineId, intervalMs: checkpointIntervalMs, arrivalTime: () => clock.now(), report, placed: placing },
      { intake, tally, answers: { save: () => answers.save(context.elapsedMs()) }, sinks, marks, record, lookups },
      checkpoint,
    );
    const events = new PipelineEvents(
      {
        pipelineId,
        nextSequence,
        clock,
        storage,
        tracer,
        outputs,
        isHeldUp: placing?.outputs.isFull,
        beforeInput: () => this.#catchUp(),
        isLookingUp: () => messagesMaxOf(this.definition.summary) !== undefined,
      },
      { intake, results, answers, sinks, marks },
    );
    this.#life = new PipelineLife(context, { record, intake, events, sinks, sources, lookups, saver, tally, ring, connect });
    this.#switch = new EngineSwitch({ pipelineId, clock, intake, tally, saver, record, sources, marks, connect });
    [this.#record, this.#intake, this.#ring, this.#tally, this.#answers] = [record, intake, ring, tally, answers];
    [this.#sinks, this.#results, this.#saver, this.#events] = [sinks, results, saver, events];
    [this.#sources, this.#lookups, this.#marks, this.#placing] = [sources, lookups, marks, placing];
  }

  get takesOutputs(): boolean {
    return this.#placing === undefined ? this.#context.outputs !== undefined : this.#placing.outputs.isWanted();
  }

  #saveForSinks(): void {
    this.#saver.saveWhenAwaited(() => this.#life.isOpen);
  }

  #lookAtSinks(): void {
    this.#saveForSinks();
    this.#events.holdWhenFull();
    this.#life.showHealth();
  }

  // ---------------------------------------------------------------------------------------------- what it is

  get name(): string {
    return this.definition.name;
  }

  get status(): PipelineStatus {
    return this.#life.status;
  }

  get definition(): PipelineDefinition {
    return this.#record.definition;
  }

  get streams(): readonly string[] {
    return this.definition.summary.streams;
  }

  get topology(): Topology {
    return this.definition.summary.topology;
  }

  get stateBytes(): number {
    return this.#tally.stateBytes;
  }

  get eventsProcessed(): number {
    return this.#tally.eventsProcessed;
  }

  /** With those that a restore took off the count. */
  get eventsEverProcessed(): number {
    return this.#tally.eventsProcessed + this.#tally.eventsTakenOff;
  }

  get outputEventsEmitted(): number {
    return this.#tally.outputEventsEmitted;
  }

  /** The same of outputs. */
  get outputsEverEmitted(): number {
    return this.#tally.outputEventsEmitted + this.#tally.outputsTakenOff;
  }

  get isRunning(): boolean {
    return this.#life.isRunning;
  }

  view(): Pipeline {
    const { id, name, program, version, labels, isWatched = false, createdAt, updatedAt } = this.definition;
    const { status, uptimeSeconds, error, failingConnectors } = this.#life;
    const { eventsProcessed, outputEventsEmitted } = this;
    const { source, path } = program;
    const files = Object.fromEntries(Object.entries(program.files).map(([name, { text }]) => [name, text]));
    const facts = { id, name, status, source, files, version, labels, isWatched, createdAt, updatedAt, uptimeSeconds };
    return {
      ...facts,
      ...(path === undefined ? {} : { path }),
      eventsProcessed,
      outputEventsEmitted,
      ...(error === null ? {} : { error }),
      ...(failingConnectors.length > 0 && { failingConnectors }),
    };
  }

  follow(follower: Follower): OutputCursor {
    return this.#ring.follow(follower);
  }

  /** The newest first. */
  get pastReloads(): readonly PastReload[] {
    return this.#pastReloads.toReversed();
  }

  programLog(limit: number): readonly ProgramLogLine[] {
    return this.#log.newest(limit);
  }

  // ---------------------------------------------------------------------------------------------- events

  /** Whether a request with this key was taken in before. */
  isRepeat(key: string): boolean {
    return this.#events.isRepeat(key);
  }

  /** @throws CepError, as `Pipelines.inject` */
  inject(request: InjectRequest, admit: (events: number) => Admission, events: number): Promise<InjectResult> {
    const { idempotencyKey: key, durable } = request;
    const answer = this.#events.inject(request, () => admit(events));
    return key === undefined || durable !== true || !this.isLogged ? answer : this.#onDisk(answer, key);
  }

  /** A repetition asks that what the first request brought is on disk, which may not have asked for that. @throws CepError `storage_unavailable` */
  async #onDisk(answering: Promise<InjectResult>, key: string): Promise<InjectResult> {
    const answer = await answering;
    if (answer.repeated === true && !this.#answers.isKept(key) && !(await this.#saver.saveAll())) {
      throw new CepError('storage_unavailable', 'the events were taken before with this Idempotency-Key, and are not on disk yet', {
        hint: 'send the same request again in a moment',
        retryAfterSeconds: 5,
      });
    }
    this.#answers.kept(key);
    return answer;
  }

  /** What a source has read. @throws CepError, as `PipelineEvents.feed` */
  async #feed(feed: SourceFeed): Promise<TakenFeed | undefined> {
    this.requireRunning();
    const taken = await this.#events.feed(feed, () => this.#context.admit(this.tenantId, countEvents(feed.body, 'ndjson')));
    await this.#placing?.taken(feed.mark, feed.isTold);
    return taken;
  }

  // ---------------------------------------------------------------------------------------------- for a cluster

  /** A batch of events: taken, or refused, before it returns. @throws CepError `pipeline_not_running`, `queue_full`, `quota_exceeded` */
  receive({ body, format }: ReceivedBody, receipt: () => Receipt, answer: 'whole' | 'receipt'): Promise<InjectResult> {
    this.requireRunning();
    this.requireRoom(body.byteLength);
    const admission = this.#context.admit(this.tenantId, countEvents(body, format));
    const taken = receipt();
    const { id, position } = markOf(taken);
    const { isMoved, time } = taken;
    return this.#events.receive({ body, format, mark: { id, position, answer, isMoved }, time }, () => admission);
  }

  /** How far the batches of each source are in its state. */
  get received(): Readonly<Record<string, number>> {
    return receivedOf(this.#marks.save());
  }

  /** Of whatever takes its outputs and deliveries: it may take more, or less, than before. */
  outputsChanged(): void {
    this.#sinks.resume();
    this.#lookAtSinks();
  }

  /** Saves its state now, whatever came through. False when that failed, which is reported. */
  saveNow(): Promise<boolean> {
    return this.#saver.saveWhole();
  }

  /** Ends with everything in its state, what is not delivered included. `silence`: from here on it may say nothing, and resolves when it says nothing. False when its state could not be saved. */
  close(silence: () => void | Promise<void>, leaving?: Leaving): Promise<boolean> {
    return this.#life.close(silence, leaving);
  }

  /** Resolves when its sources are read up to what there is, as far as can be told, or that takes too long. */
  caughtUp(): Promise<void> {
    return this.#sources.caughtUp();
  }

  /** Nobody goes on with it: what it has not said becomes dead letters. */
  bury(): Promise<void> {
    return this.#life.bury();
  }

  /** It has no right to run any more: what it has not said is never said. Waits for nobody. */
  abandon(reason: CepError): void {
    this.#life.abandon(reason);
  }

  /** The time of the next tick; undefined while it takes none. */
  tickTime(): number | undefined {
    return this.#placing?.tickTime();
  }

  get isPlaced(): boolean {
    return this.#placing !== undefined;
  }

  nextSequence(): number {
    return this.#context.nextSequence();
  }

  /** What takes requests to this connector; undefined where the program reads from no such. */
  webhook(connector: string, topic: string | null): SourceRunner | undefined {
    return this.#sources.webhook(connector, topic);
  }

  /** What the program reads with `.from`. */
  sources(): readonly SourceStatus[] {
    return this.#sources.status();
  }

  /** @throws CepError `pipeline_not_running` */
  requireRunning(): void {
    this.#life.requireRunning();
  }

  /** @throws CepError `queue_full` */
  requireRoom(bytes: number): void {
    this.#events.requireRoom(bytes);
  }

  /** Inputs up to this one are in the state, or were never more than ticks without effect. */
  get recoveredUpTo(): number {
    return this.#intake.base.sequence;
  }

  /** Before it took any of it. */
  countRefused(what: Refused): void {
    this.#tally.refused(what);
  }

  /** Bytes that were accepted and are not through. */
  get queuedBytes(): number {
    return this.#intake.queuedBytes;
  }

  /** Resolves when everything accepted is through; of a pipeline that does not run, at once. */
  async drained(): Promise<void> {
    if (this.isRunning) await this.#intake.drained();
  }

  /** All that is open completes. Resolves when that is through. */
  async endInput(): Promise<void> {
    giveTick([this], { sequence: this.nextSequence(), time: END_OF_INPUT, storage: null });
    await this.drained();
  }

  /** While it does what the log has again, that goes through whatever its sinks do. */
  finishing(isFinishing: boolean): void {
    this.#events.finishing(isFinishing);
  }

  recover(record: LoggedRequest, skip: readonly number[]): void {
    this.#events.recover(record, skip);
  }

  recoverTick(sequence: number, time: number, isSkipped: boolean): void {
    this.#events.recoverTick(sequence, time, isSkipped);
  }

  /** Whether the clock matters to the program now. */
  get takesTicks(): boolean {
    return this.isRunning && this.definition.summary.isTimed && !this.#intake.lastIsWaitingTick;
  }

  /** Whether a tick of this time would do nothing; it is left out then. */
  rests(time: number): boolean {
    return this.#rest.leavesOut(time);
  }

  /** Gives the tick that was left out last, so that what comes next finds the time where all of them would have brought it. */
  #catchUp(): void {
    const time = this.#rest.end();
    if (time === undefined || !this.isRunning) return;
    giveTick([this], { sequence: this.nextSequence(), time, storage: this.#context.storage });
  }

  /** Whether the tick has to be in the log before it counts. */
  get isLogged(): boolean {
    return this.#record.storage !== null && !this.isPlaced;
  }

  /** `logged`: resolves when the log has the tick, which counts only then. */
  tick(sequence: number, time: number, logged?: Promise<void>): void {
    this.#events.tick(sequence, time, logged);
  }

  result(entry: Entry, result: RecordResult): void {
    if (this.#placing !== undefined) {
      const speaks = saysSomething(result);
      if (isUnlike(entry, result, speaks)) this.#placing.unlike(entry.sequence);
      if (speaks) this.#placing.speaks();
    }
    this.#results.handle(entry, result, this.streams);
    this.#saver.note(entry, result);
    this.#saver.saveWhenLong();
    if (entry.format === null && !this.#intake.hasWork) this.#rest.begin(entry.time, result.restMs);
    if (this.isPlaced) this.#events.holdWhenFull();
  }

  counters(counters: CountersReply): void {
    this.#tally.counters = counters;
  }

  question({ connector, key, timeoutMs }: QuestionMessage, answer: (found: AnswerMessage['found']) => void): void {
    this.#lookups.find(connector, decodeValue(key), AbortSignal.timeout(Math.ceil(timeoutMs))).then(
      (value) => answer({ value: encodeValue(value) }),
      (error: Error) => answer({ problem: error.message }),
    );
  }

  lost(...[culprit, reason]: Parameters<IntakeOwner['lost']>): void {
    this.#rest.end();
    this.#life.lost(culprit, reason);
  }

  // ---------------------------------------------------------------------------------------------- life

  /** Puts it on a thread with its last state. @throws CepError when the program does not start */
  async start(versions?: Versions): Promise<void> {
    await this.#life.start({ before: () => this.#requireVersion(versions) });
  }

  /** Starts it for the first time. @throws CepError when the program does not start, or is not kept: then nothing was read */
  async launch(): Promise<void> {
    await this.#life.start({ isNew: true });
  }

  /** Finishes what was accepted, saves its state. */
  stop(versions?: Versions): Promise<void> {
    return this.#life.stop(() => this.#requireVersion(versions));
  }

  /** Ends with the process: as `stop`, but it will be running again after the next start. False when something is not delivered and not kept. */
  async shutdown(): Promise<boolean> {
    const isKept = await this.#life.shutdown();
    return isKept && this.#context.deadLetters.endingWithProcess(this.tenantId, this.id) === 0;
  }

  delete(versions?: Versions): Promise<void> {
    return this.#life.delete(() => this.#requireVersion(versions));
  }

  /** Called about every second: saves when it is time, forgets what is long past. */
  maintain(): void {
    this.#life.showHealth();
    this.#events.answerLate();
    this.#answers.forget(this.#context.elapsedMs());
    if (!this.isRunning) return;
    this.#saver.saveWhenDue();
    this.#saveForSinks();
  }

  // ---------------------------------------------------------------------------------------------- state

  async checkpoint(): Promise<CheckpointResult> {
    this.requireRunning();
    return this.#switch.checkpoint();
  }

  restore(document: Uint8Array, versions?: Versions): Promise<RestoreResult> {
    return this.#whileRunning(async () => {
      this.#requireVersion(versions);
      return this.#switch.restore(document, () => this.#life.finish());
    });
  }

  /** The program has been checked. */
  async reload(program: CheckedProgram, options: ReloadOptions): Promise<ProgramReport> {
    if (this.#isReplaceable(options)) return this.#reloaded(await this.#startWith(program, options));
    return this.#whileRunning(async () => {
      this.#requireVersion(options.versions);
      return this.#reloaded(await this.#switch.reload(program, options));
    });
  }

  #reloaded(report: ProgramReport): ProgramReport {
    if (!report.reloaded) return report;
    const { version } = this.definition;
    this.#context.report({ level: 'info', message: 'Pipeline reloaded', fields: { pipeline: this.id, version } });
    this.#pastReloads.push({ version, time: Date.now(), report });
    if (this.#pastReloads.length > PAST_RELOADS_MAX) this.#pastReloads.shift();
    return report;
  }

  /** @throws CepError `pipeline_not_running` */
  requireReloadable(options: ReloadOptions): void {
    if (this.#isReplaceable(options)) return;
    if (!this.#isReplaceable({ dryRun: false, acceptReset: true })) this.requireRunning();
    else
      throw new CepError('pipeline_not_running', `the pipeline is failed: ${this.#life.error}`, {
        hint: 'what its program has of state cannot be looked at: reload it without `dry_run`, and with `accept_reset`',
      });
  }

  /** Of a program that does not start nobody can say what of its state another one keeps. In a cluster it is placed anew instead. */
  #isReplaceable({ dryRun, acceptReset }: ReloadOptions): boolean {
    return this.status === 'failed' && this.#placing === undefined && !dryRun && acceptReset;
  }

  /** In the place of a program that does not start, with its last state; what waits in the log comes to this one. */
  async #startWith({ text, summary }: CheckedProgram, { versions }: ReloadOptions): Promise<ProgramReport> {
    const restored = await this.#life.start({
      before: () => {
        this.#requireVersion(versions);
        if (this.status !== 'failed')
          throw new CepError('not_ready', 'the pipeline was started meanwhile', { hint: 'send the request again' });
      },
      change: () => ({ program: text, summary, version: this.definition.version + 1, updatedAt: Date.now() }),
    });
    const none: RestoreReport = { preserved: [], changed: [], reset: [], lostState: [], added: summary.streams, removed: [] };
    return { ...(restored ?? none), reloaded: true };
  }

  get isWatched(): boolean {
    return this.definition.isWatched ?? false;
  }

  watch(isWatched: boolean, versions?: Versions): Promise<void> {
    return this.#whileRunning(async () => {
      this.#requireVersion(versions);
      if (isWatched !== this.isWatched) await this.#switch.watch(isWatched);
    });
  }

  #requireVersion(versions: Versions): void {
    const { version, updatedAt } = this.definition;
    if (versions === undefined || versions.includes(version)) return;
    const made = versions.length === 1 ? `version ${versions[0]}` : 'another version';
    throw new CepError('version_conflict', `the change was made for ${made}, and the pipeline is at version ${version} now`, {
      hint: 'look at what has changed, and make the change again',
      details: { version, updated_at: updatedAt },
    });
  }

  /** One after the other; it may have stopped by the time that it is the action's turn. */
  async #whileRunning<T>(action: () => Promise<T>): Promise<T> {
    this.requireRunning();
    return this.#life.exclusive(async () => {
      if (this.#record.isDeleted) throw new CepError('pipeline_not_found', `the pipeline '${this.id}' was deleted meanwhile`);
      this.requireRunning();
      this.#catchUp();
      return action().finally(() => this.#catchUp());
    });
  }

  async explain(stream: string, key: string | null): Promise<string> {
    this.requireRunning();
    return this.#intake.call<string>((slot) => ({ kind: 'explain', slot, stream, key }));
  }

  /** Dead letters, each to the sink that did not take it. */
  replayDeadLetters(filter: LetterFilter): Promise<ReplayCounts> {
    return this.#sinks.replay(filter);
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

  /** What was last heard of the engine. */
  get counts(): PipelineCounts {
    return { pipeline: this.view(), metrics: this.#metrics() };
  }

  /** Every end of the program that runs. */
  ends(): readonly PipelineConnector[] {
    const { id: pipelineId, name: pipelineName } = this;
    const types = new Map(this.topology.nodes.map(({ label, config }) => [label, config['type']]));
    const end = (name: string, of: PipelineConnector['end']): PipelineConnector => {
      const type = types.get(name);
      return { pipelineId, pipelineName, name, type: typeof type === 'string' ? type : null, end: of };
    };
    const sources = this.sources().map((source) => end(source.connector, { source }));
    return [...sources, ...this.connectors().map((sink) => end(sink.connector, { sink }))];
  }

  #metrics(): PipelineMetrics {
    const { uptimeSeconds } = this.#life;
    return { pipelineId: this.id, uptimeSeconds, dlqEvents: this.#sinks.dlqEvents, ...this.#tally.metrics() };
  }

  connectors(): readonly ConnectorScrape[] {
    const { dropped } = this.#context.deadLetters.of(this.tenantId);
    return this.#sinks.status().map((status) => ({ ...status, pipelineId: this.id, dlqDropped: dropped.of(this.id, status.connector) }));
  }

  scrape(): PipelineScrape {
    const { tenantId, name, status } = this;
    return {
      ...this.#metrics(),
      ...this.#tally.scrape(),
      tenantId,
      name,
      status,
      checkpointAgeSeconds: this.isRunning ? this.#saver.ageSeconds : null,
      checkpointWaitSeconds: this.#saver.waitingSeconds,
      lookups: this.#lookups.counts,
      lookupsUnderWay: this.#lookups.underWay,
      sources: this.#sources.status().map(({ id, dropped }) => ({ source: id, dropped })),
      deadLetters: this.#lettersByConnector(),
    };
  }

  /** Of each connector there is a number from the start, so that the first step is seen. */
  #lettersByConnector(): NonNullable<PipelineScrape['deadLetters']> {
    const { dropped } = this.#context.deadLetters.of(this.tenantId);
    const none = this.#sources.status().map(({ connector }) => [connector, 0] as const);
    const written = new Map([...none, ...this.#sinks.lettersByConnector]);
    return Array.from(written, ([connector, count]) => ({ connector, written: count, dropped: dropped.of(this.id, connector) }));
  }
}

/** Whether whoever goes on from an earlier checkpoint would take the input in otherwise. Nobody keeps ticks; those that say nothing are many. */
function isUnlike(entry: Entry, { isUntimed, isLookedUp }: RecordResult, speaks: boolean): boolean {
  if (entry.format === null) return speaks || isLookedUp;
  const { isGivenAgain, source } = entry;
  // A cluster keeps the time at which a batch came.
  const isKept = source?.answer !== undefined;
  return source?.isMoved === true || (isLookedUp && (isGivenAgain || isKept)) || (isUntimed && isGivenAgain);
}

function saysSomething({ outputs, deliveries, deadLetters }: RecordResult): boolean {
  return outputs.skipped + outputs.time.length + deliveries.length + deadLetters.length > 0;
}

function answerSize({ outputs, errors }: InjectResult): number {
  return (
    outputs.reduce((sum, { fieldsJson }) => sum + fieldsJson.length + 100, 0) +
    errors.reduce((sum, { message }) => sum + message.length + 200, 0)
  );
}
