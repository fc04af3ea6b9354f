import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { TraceContext, Tracer } from '../../../shared/telemetry/tracing.ts';
import type { ConnectorEnvironment, ConnectorSettings, Sink } from '../connector.ts';
import {
  durationParameter,
  flagParameter,
  numberParameter,
  type Parameters,
  redactorOf,
  settingsText,
  textParameter,
} from '../parameters.ts';
import { withProfile } from '../profiles.ts';
import { type KnownSend, openSink, requireSend } from '../registry.ts';
import { type PipelineReplica, sinkSettingsOfReplica } from '../sources/replica.ts';
import { ALERT_SERVERS_MAX, alertTarget, isAlert, openAlertSink } from './alert-sinks.ts';
import type { BreakerState } from './circuit-breaker.ts';
import type { DeadLetter, DeadLetters, LetterFilter } from './dead-letters.ts';
import type { SavedLedger } from './ledger.ts';
import { LetterReplays, type ReplayCounts } from './letter-replays.ts';
import { LetterReports } from './letter-reports.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import { SinkQueue, type SinkQueueOptions } from './sink-queue.ts';
import { type SavedLetterCounts, SinkTallies } from './sink-tallies.ts';

const RETRIES_DEFAULT = 3;
const FAILURE_THRESHOLD_DEFAULT = 5;
const RESET_TIMEOUT_MS_DEFAULT = 30_000;
/** Above this the pipeline takes in nothing more until some of it is out. */
const PENDING_BYTES_MAX = 16 * 1_048_576;
const PENDING_EVENTS_MAX = 10_000;
/** How often it is looked whether everything is out, ms. */
const IDLE_LOOK_MS = 10;
/** What dead letters of rows that a stream could not evaluate name in a connector's place. */
const LETTERS_OF_ROWS = 'on_error';
/** How long to wait before a dead letter that cannot be written is tried again, ms. */
const LETTER_RETRY_MS = 1_000;

export interface PipelineSinksOptions {
  readonly pipelineId: string;
  readonly environment: ConnectorEnvironment;
  readonly deadLetters: DeadLetters;
  readonly report: SinkQueueOptions['report'];
  readonly tracer?: Tracer | undefined;
  /** A breaker changed, or how much is pending. */
  readonly onChange: () => void;
  /** Asked before each request and each letter; `resume` says that it may have changed. @default always */
  readonly mayDeliver?: (() => boolean) | undefined;
  /** What is taken now waits until a checkpoint has it, or this is over; `resume` says that it may have changed. @default never */
  readonly isHeld?: (() => boolean) | undefined;
  /** The replica that they send for; undefined where the pipeline is one. Asked when sinks are configured. */
  readonly replica?: (() => PipelineReplica | undefined) | undefined;
}

/** What `.to` or `.alert` hands out. */
export interface DeliveryOrder {
  readonly id: string;
  readonly connector: string | null;
  readonly url: string | null;
  readonly topic: string | null;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fieldsJson: string;
  readonly message: string | null;
  readonly parameters: Parameters;
  /** The part of a trace that made it. */
  readonly trace?: TraceContext | null;
}

/** What is pending, and how many dead letters there were, as a checkpoint keeps it. */
export interface SavedDeliveries {
  readonly sinks: readonly (readonly [sink: string, events: readonly OutgoingEvent[]])[];
  readonly letters: readonly DeadLetter[];
  /** Of sinks that await checkpoints; absent in those of earlier versions. */
  readonly ledgers?: readonly (readonly [sink: string, ledger: SavedLedger])[];
  /** Absent in those of earlier versions. */
  readonly letterCounts?: SavedLetterCounts;
}

export interface SinkStatus {
  readonly connector: string;
  readonly state: BreakerState;
  /** Why nothing is sent for now, without secrets; null while the circuit is closed. */
  readonly problem: string | null;
  /** How often the breaker has become each state. */
  readonly transitions: Readonly<Record<BreakerState, number>>;
  readonly delivered: number;
  readonly dlqEvents: number;
  readonly pending: number;
}

interface OpenSink {
  readonly queue: SinkQueue;
  readonly settings: ConnectorSettings | null;
  /** Of events that say nothing else. */
  readonly format: OutgoingEvent['format'];
  readonly omitNull: boolean;
}

/** The sinks of one pipeline: the connectors its program sends to, and the webhooks of its alerts. Each has its own order and its own breaker. */
export class PipelineSinks {
  readonly #options: PipelineSinksOptions;
  readonly #sinks = new Map<string, OpenSink>();
  /** Sinks of an earlier program that still have something to send. */
  readonly #leaving = new Set<SinkQueue>();
  /** Dead letters of rows that a stream could not evaluate, not yet written. */
  /** By what was given to a checkpoint, how many each queue had been given then. */
  readonly #pushedAt = new WeakMap<SavedDeliveries, readonly (readonly [SinkQueue, number])[]>();
  readonly #letters: DeadLetter[] = [];
  #isWriting = false;
  #isClosed = false;
  #isHurried = false;
  readonly #tallies = new SinkTallies();
  readonly #letterReports: LetterReports;
  readonly #replays: LetterReplays;

  constructor(options: PipelineSinksOptions) {
    this.#options = options;
    this.#letterReports = new LetterReports(options);
    this.#replays = new LetterReplays({
      pipelineId: options.pipelineId,
      deadLetters: options.deadLetters,
      send: async (letter) => (await this.#queueOf(letter)?.replay(letter)) ?? 'ended',
      isOpen: (letter) => this.#queueOf(letter)?.state === 'open',
      onUnwritten: (error) => this.#lettersUnwritten(error),
    });
  }

  /**
   * The connectors of the program, of which those named in `used` are sent to. A sink whose declaration did not change stays as it is, with
   * its breaker. `sends`: what is known of what they will get. @throws CepError `connector_error`, `validation_error`; nothing has changed then
   */
  configure(connectors: readonly ConnectorSettings[], used: readonly string[], sends: readonly KnownSend[] = []): void {
    const { environment, replica } = this.#options;
    const next = new Map(connectors.map((settings) => [settings.name, settings]));
    const opened = new Map<string, Sink>();
    for (const name of used) {
      const declared = next.get(name);
      if (declared === undefined) throw new CepError('connector_error', `connector '${name}' is not declared by the program`);
      const settings = sinkSettingsOfReplica(withProfile(declared, environment), replica?.()?.index ?? 0);
      next.set(name, settings);
      for (const send of sends) if (send.connector === name) requireSend(settings, send, environment);
      if (!this.#isAsBefore(settings)) opened.set(name, openSink(settings, environment));
    }
    for (const [name, { queue, settings }] of this.#sinks) {
      if (settings !== null && (opened.has(name) || !next.has(name))) this.#retire(name, queue);
    }
    for (const [name, sink] of opened) this.#add(name, sink, next.get(name) as ConnectorSettings);
  }

  #isAsBefore(settings: ConnectorSettings): boolean {
    const known = this.#sinks.get(settings.name)?.settings;
    return known !== null && known !== undefined && settingsText(known) === settingsText(settings);
  }

  #add(name: string, sink: Sink, settings: ConnectorSettings | null): OpenSink {
    const parameters: Parameters = settings?.parameters ?? new Map();
    const { pipelineId, deadLetters, report, tracer, onChange, mayDeliver, isHeld } = this.#options;
    const queue = new SinkQueue({
      pipelineId,
      name,
      sink,
      deadLetters,
      report,
      tracer,
      onChange,
      mayDeliver,
      isHeld,
      redact: redactorOf(settings),
      tally: this.#tallies.of(name),
      retries: numberParameter(parameters, 'retries', RETRIES_DEFAULT),
      failureThreshold: numberParameter(parameters, 'failure_threshold', FAILURE_THRESHOLD_DEFAULT),
      lingerMs: numberParameter(parameters, 'linger_ms', 0),
      resetTimeoutMs: durationParameter(parameters, 'reset_timeout', RESET_TIMEOUT_MS_DEFAULT),
    });
    const open: OpenSink = { queue, settings, format: formatIn(parameters), omitNull: flagParameter(parameters, 'omit_null') };
    this.#sinks.set(name, open);
    return open;
  }

  #retire(name: string, queue: SinkQueue): void {
    this.#sinks.delete(name);
    this.#leaving.add(queue);
    void queue.idle().then(async () => {
      this.#leaving.delete(queue);
      this.#tallies.forget(new Set(this.#queues.map((each) => each.name)));
      await queue.close();
    });
  }

  /** Sends it, in its turn. */
  take(order: DeliveryOrder): void {
    const { id, stream, type, time, fieldsJson, message, parameters, trace } = order;
    const { name, topic } = order.connector === null ? alertTarget(order.url) : { name: order.connector, topic: order.topic };
    const open = this.#sinks.get(name) ?? this.#openAlert(name);
    const format = parameters.has('format') ? formatIn(parameters) : open.format;
    const omitNull = parameters.has('omit_null') ? flagParameter(parameters, 'omit_null') : open.omitNull;
    const event: OutgoingEvent = { id, stream, type, time, fieldsJson, message, topic, format, omitNull };
    open.queue.push(trace ? { ...event, trace: { traceId: trace.traceId, spanId: trace.spanId } } : event);
    this.#options.onChange();
  }

  #openAlert(name: string): OpenSink {
    const alerts = [...this.#sinks].filter(([, { settings }]) => settings === null);
    const idle = alerts.find(([, { queue }]) => queue.pending.length === 0);
    if (alerts.length >= ALERT_SERVERS_MAX && idle !== undefined) this.#retire(idle[0], idle[1].queue);
    return this.#add(name, openAlertSink(name, this.#options.environment), null);
  }

  /** A row that a stream could not evaluate goes to the dead letters; so does what came from a source and is no event of the program, which says where it is from. */
  takeDeadLetter(letter: Pick<DeadLetter, 'id' | 'stream' | 'event' | 'error'> & Partial<DeadLetter>): void {
    const { pipelineId } = this.#options;
    const common = {
      timestamp: new Date().toISOString(),
      connector: LETTERS_OF_ROWS,
      pipeline_id: pipelineId,
      attempts: 0,
      code: 'evaluation_failed',
    };
    this.#letters.push({ ...common, ...letter });
    if (!this.#isWriting) void this.#writeLetters();
  }

  get #isHeld(): boolean {
    return this.#isClosed || this.#options.mayDeliver?.() === false || this.#options.isHeld?.() === true;
  }

  /** Goes on after a time in which nothing could be delivered. */
  resume(): void {
    for (const queue of this.#queues) queue.resume();
    if (!this.#isWriting) void this.#writeLetters();
  }

  /** Resolves when nothing is under way: to be asked once nothing may be delivered. */
  async settled(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.settled()));
    while (this.#isWriting) await sleep(IDLE_LOOK_MS);
  }

  /** One that cannot be written holds up those behind it: none is lost. */
  async #writeLetters(): Promise<void> {
    const { deadLetters, pipelineId, report, onChange } = this.#options;
    this.#isWriting = true;
    for (let letter = this.#letters[0]; letter !== undefined && !this.#isHeld; letter = this.#letters[0]) {
      const fields = { connector: letter.connector, pipeline: pipelineId, code: letter.code };
      try {
        await deadLetters.add(letter);
        this.#letters.shift();
        this.#tallies.countUnsent(letter.connector);
        this.#letterReports.count(letter);
      } catch (error) {
        report({
          level: 'error',
          message: 'DLQ cannot be written',
          fields: { ...fields, reason: error instanceof Error ? error.message : String(error) },
        });
        await sleep(LETTER_RETRY_MS);
      }
      onChange();
    }
    this.#isWriting = false;
  }

  get #queues(): SinkQueue[] {
    return [...this.#leaving, ...Array.from(this.#sinks.values(), ({ queue }) => queue)];
  }

  get isFull(): boolean {
    let [events, bytes] = [this.#letters.length, 0];
    for (const { pending, pendingBytes } of this.#leaving) {
      events += pending.length;
      bytes += pendingBytes;
    }
    for (const { queue } of this.#sinks.values()) {
      events += queue.pending.length;
      bytes += queue.pendingBytes;
    }
    return events > PENDING_EVENTS_MAX || bytes > PENDING_BYTES_MAX;
  }

  /** Connectors that are not sent to for now. */
  get openCircuits(): readonly string[] {
    return Array.from(this.#sinks.values()).flatMap(({ queue: { name, state } }) => (state === 'closed' ? [] : [name]));
  }

  get dlqEvents(): number {
    return this.#tallies.deadLetters;
  }

  /** By connector, those of sources included; of each sink that there is, and of rows, there is a number from the start. */
  get lettersByConnector(): Map<string, number> {
    return this.#tallies.lettersOf([LETTERS_OF_ROWS, ...this.#queues.map(({ name }) => name)]);
  }

  /** A source wrote a dead letter. */
  countSourceLetter(connector: string): void {
    this.#tallies.countUnsent(connector);
  }

  status(): readonly SinkStatus[] {
    const pending = new Map<string, number>();
    for (const queue of this.#queues) pending.set(queue.name, (pending.get(queue.name) ?? 0) + queue.pending.length);
    // Of those of one name the last is the one that is sent to.
    const latest = new Map(this.#queues.map((queue) => [queue.name, queue]));
    return Array.from(latest, ([connector, { state, problem, tally }]) => ({
      connector,
      state,
      problem,
      transitions: { ...tally.transitions },
      delivered: tally.delivered,
      dlqEvents: tally.deadLetters,
      pending: pending.get(connector) ?? 0,
    }));
  }

  /** Sends dead letters again, each to the sink that did not take it. Those that are taken now are gone, the others say how often they were sent, and what went wrong last. */
  replay(filter: LetterFilter = {}): Promise<ReplayCounts> {
    return this.#replays.replay(filter);
  }

  /** Where it can be sent again. */
  #queueOf({ stream, connector }: DeadLetter): SinkQueue | undefined {
    // What no stream has sent came in by a source, which may be of the same connector: no sink is to get it.
    return stream === '' ? undefined : (this.#sinks.get(connector)?.queue ?? this.#alertOf(connector));
  }

  #alertOf(connector: string): SinkQueue | undefined {
    return isAlert(connector) ? this.#openAlert(connector).queue : undefined;
  }

  save(): SavedDeliveries {
    const sinks = this.#queues.flatMap(({ name, pending }) => (pending.length === 0 ? [] : [[name, [...pending]] as const]));
    // Those that leave come first: whoever loads them keeps the last of a name.
    const ledgers = this.#queues.map((queue) => [queue.name, queue.saveLedger()] as const);
    const kept = ledgers.flatMap(([name, ledger]) => (ledger === undefined ? [] : [[name, ledger] as const]));
    const saved = {
      sinks,
      letters: [...this.#letters],
      letterCounts: this.#tallies.saveLetters(),
      ...(kept.length === 0 ? {} : { ledgers: kept }),
    };
    const pushed = this.#queues.map((queue) => [queue, queue.pushed] as const);
    this.#pushedAt.set(saved, pushed);
    return saved;
  }

  /** Goes on counting dead letters from where a checkpoint stands. */
  countOn({ letterCounts }: SavedDeliveries): void {
    if (letterCounts !== undefined) this.#tallies.loadLetters(letterCounts);
  }

  /** Something waits for a checkpoint that has it. */
  get awaitCheckpoint(): boolean {
    return this.#queues.some((queue) => queue.awaitsCheckpoint);
  }

  /** A checkpoint with this, which `save` gave, is safe. */
  checkpointed(saved: SavedDeliveries): void {
    const { ledgers = [] } = saved;
    for (const [queue, pushed] of this.#pushedAt.get(saved) ?? []) queue.kept(pushed);
    for (const queue of this.#queues) for (const [name, ledger] of ledgers) if (name === queue.name) queue.checkpointed(ledger);
  }

  /** After `configure`. What a connector was to get that there is no more goes to the dead letters. */
  load({ sinks, letters, ledgers = [] }: SavedDeliveries): void {
    for (const [name, ledger] of ledgers) this.#sinks.get(name)?.queue.loadLedger(ledger);
    for (const [name, events] of sinks) {
      const queue = this.#sinks.get(name)?.queue ?? this.#alertOf(name);
      for (const event of events) {
        if (queue !== undefined) queue.push(event);
        else this.takeDeadLetter({ id: event.id, stream: event.stream, error: `connector '${name}' is gone`, event: eventOf(event) });
      }
    }
    for (const queue of this.#queues) queue.kept(queue.pushed);
    for (const letter of letters) this.takeDeadLetter(letter);
  }

  get pending(): number {
    return this.#queues.reduce((sum, { pending }) => sum + pending.length, this.#letters.length);
  }

  /** Resolves when nothing is pending, what comes meanwhile included, or the time is over, or `hurry` was called, or the signal is aborted. */
  async idle(ms: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + ms;
    const isOver = (): boolean => this.#isHurried || signal?.aborted === true || performance.now() >= end;
    while (this.pending > 0 && !isOver()) await sleep(Math.min(IDLE_LOOK_MS, ms));
  }

  /** From now on nobody waits for a sink, until what it returns is called. */
  hurry(): () => void {
    this.#isHurried = true;
    return () => {
      this.#isHurried = false;
    };
  }

  /** Ends what is under way. What is pending stays so. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#queues.map((queue) => queue.close()));
    this.#letterReports.close();
  }

  /**
   * Ends what is under way for good: what is pending becomes dead letters, which stay for whoever runs the server. Those from before are
   * gone, as nobody can ask for them any more. All is done even if nobody waits for it.
   */
  async giveUp(): Promise<void> {
    const { deadLetters, pipelineId } = this.#options;
    await Promise.all(this.#queues.map((queue) => queue.close()));
    await deadLetters.remove(pipelineId, () => true).catch((error: unknown) => this.#lettersUnwritten(error));
    await Promise.all(this.#queues.map((queue) => queue.giveUp()));
    this.#letterReports.close();
  }

  /** Ends what is under way for good: what is pending becomes dead letters, beside those from before. */
  async bury(): Promise<void> {
    this.#isClosed = true;
    // The first one may be on its way.
    const letters = this.#letters.splice(this.#isWriting ? 1 : 0);
    const written = letters.map(async (letter) => {
      await this.#options.deadLetters.add(letter).catch((error: unknown) => this.#lettersUnwritten(error));
    });
    await Promise.all([...written, ...this.#queues.map((queue) => queue.giveUp())]);
    this.#letterReports.close();
  }

  #lettersUnwritten(error: unknown): void {
    const { pipelineId, report } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    report({ level: 'error', message: 'DLQ cannot be written', fields: { pipeline: pipelineId, reason } });
  }
}

function formatIn(parameters: Parameters): OutgoingEvent['format'] {
  return textParameter(parameters, 'format') === 'flat' ? 'flat' : 'envelope';
}

function eventOf({ type, time, fieldsJson }: OutgoingEvent): DeadLetter['event'] {
  return { event_type: type, timestamp: time, data: JSON.parse(fieldsJson) };
}
