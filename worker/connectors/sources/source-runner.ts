import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { Source, SourceBatch, SourceMessage, SourcePosition, SourceSettings, Webhook } from '../connector.ts';
import type { DeadLetter, DeadLetters } from '../delivery/dead-letters.ts';
import { LetterReports } from '../delivery/letter-reports.ts';
import { inTime } from '../in-time.ts';
import { textParameter } from '../parameters.ts';
import { eventLine, type TypeNaming } from './event-line.ts';
import { rawEvent } from './raw-message.ts';
import type { OwnShare } from './replica.ts';

/** How long to wait before what was not taken is offered again, ms. */
const FULL_PAUSE_MS = 10;
const REFUSED_PAUSE_MS = 250;
const FAILED_PAUSE_MS = 1_000;
/** How long a source may take to close once what it handed over is taken, ms. */
const CLOSE_MS_MAX = 5_000;

/** What was read, on its way into the pipeline. */
export interface SourceFeed {
  /** One event per line. */
  readonly body: Uint8Array;
  readonly timeField: string | undefined;
  readonly mark: { readonly id: string } & Pick<SourceBatch, 'position' | 'partition' | 'awaited'>;
  /** The other side is told that it was taken, and does not give it again. */
  readonly isTold: boolean;
  /** What comes again with the same key is not taken again. */
  readonly idempotencyKey?: string;
}

/** What was taken before it was safe. */
export interface TakenFeed {
  /** Resolves when it is worked through; rejects when it never will be. */
  readonly through: Promise<unknown>;
}

export interface SourceRunnerOptions {
  readonly pipelineId: string;
  /** The subscription, as the plan names it. */
  readonly id: string;
  readonly settings: SourceSettings;
  /** Of the events that the program binds to it. */
  readonly eventTypes: readonly string[];
  readonly source: Source;
  /** Resolves when it is taken, or safe where the other side is told. @throws CepError when it is not taken now */
  readonly feed: (feed: SourceFeed) => Promise<TakenFeed | undefined>;
  /** Resolves when everything that was taken is safe. @throws CepError when the pipeline has ended before */
  readonly safe: () => Promise<void>;
  readonly position: () => SourcePosition | null;
  readonly deadLetters: DeadLetters;
  /** A message that is no event has become a dead letter. */
  readonly onLetter: (connector: string) => void;
  readonly report: (report: {
    readonly level: 'info' | 'warn' | 'error';
    readonly message: string;
    readonly fields: Record<string, string | number | boolean>;
  }) => void;
  /** It was connected, or lost its connection. */
  readonly onChange: () => void;
  /** Takes secrets out of what is said of the other side. */
  readonly redact: (text: string) => string;
  /** It reads what is for all replicas, and takes this of it. @default it takes all that it reads */
  readonly share?: OwnShare | undefined;
}

export interface SourceStatus {
  readonly id: string;
  readonly connector: string;
  readonly isConnected: boolean;
  /** It has given everything that it had. */
  readonly isEnded: boolean;
  /** Why it is not; null before the first try has ended, and while it is. */
  readonly problem: string | null;
  /** Messages that were taken. */
  readonly received: number;
  /** Those among them that are no events. */
  readonly unreadable: number;
  /** Messages that were dropped, as they came faster than they were taken and nobody holds up who sends them. */
  readonly dropped: number;
  /** Others send to it; null where it reads by itself. */
  readonly webhook: { readonly topic: string | null; readonly isSigned: boolean } | null;
}

/** One subscription at work: makes lines of messages, and offers them until they are taken. */
export class SourceRunner {
  readonly settings: SourceSettings;
  readonly #options: SourceRunnerOptions;
  readonly #naming: TypeNaming;
  readonly #letterReports: LetterReports;
  readonly #end = new AbortController();
  /** What is being taken, or was last. */
  #taking: Promise<unknown> = Promise.resolve();
  /** Batches that are being taken. */
  #offered = 0;
  #isConnected = false;
  #isEnded = false;
  #problem: string | null = null;
  /** Behind what was taken last. */
  #behind: SourcePosition | null = null;
  #received = 0;
  #unreadable = 0;

  constructor(options: SourceRunnerOptions) {
    this.#options = options;
    this.settings = options.settings;
    const { id, pipelineId, report } = options;
    this.#letterReports = new LetterReports({
      pipelineId,
      report: ({ fields, ...rest }) => report({ ...rest, fields: { source: id, ...fields } }),
    });
    const [declared, ...others] = options.eventTypes;
    const connector = textParameter(options.settings.parameters, 'event_type');
    this.#naming = { connector, declared: others.length === 0 ? declared : undefined };
  }

  get status(): SourceStatus {
    const { id, settings } = this.#options;
    const [isConnected, isEnded, problem] = [this.#isConnected, this.#isEnded, this.#problem];
    const [received, unreadable] = [this.#received, this.#unreadable];
    const webhook = this.webhook === undefined ? null : { topic: settings.topic, isSigned: this.webhook.isSigned };
    const { dropped = 0 } = this.#options.source;
    return { id, connector: settings.name, isConnected, isEnded, problem, received, unreadable, dropped, webhook };
  }

  /** What it has handed over is not all taken yet. */
  get isTaking(): boolean {
    return this.#offered > 0;
  }

  /** Undefined where it reads by itself. */
  get webhook(): Webhook | undefined {
    return this.#options.source.webhook;
  }

  /** Takes the events of one request, all of them or none. @throws CepError `invalid_event`, and those of the feed */
  async receive(events: readonly Uint8Array[], idempotencyKey: string | undefined): Promise<void> {
    const lines = events.flatMap((bytes, index) => {
      const result = eventLine({ bytes, topicPart: this.settings.topic?.split('/').at(-1) }, this.#naming);
      if ('line' in result) return [result.line, newline];
      const where = events.length === 1 ? '' : `event ${index}: `;
      throw new CepError('invalid_event', `${where}${result.problem}`, { details: { index } });
    });
    const timeField = textParameter(this.settings.parameters, 'time_field');
    const mark = { id: this.#options.id, position: null };
    const feed = { body: Buffer.concat(lines), timeField, mark, isTold: true };
    await this.#options.feed({ ...feed, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
    this.#received += events.length;
  }

  start(): void {
    try {
      this.#read();
    } catch (error) {
      // A place in a checkpoint may have come from anywhere, and be none that the source knows.
      this.#become(false, `cannot read on from the place in the checkpoint: ${messageOf(error)}`);
    }
  }

  #read(): void {
    const { source, position } = this.#options;
    this.#behind = position();
    source.start({
      position: this.#behind,
      take: (batch) => {
        this.#offered++;
        const taking = this.#take(batch).finally(() => this.#offered--);
        this.#taking = taking.catch(() => undefined); // Whoever reads hears of it.
        return taking;
      },
      connected: () => this.#become(true, null),
      disconnected: (reason) => this.#become(false, reason),
      ended: () => {
        this.#isEnded = true;
        this.#say('info', 'Source ended', { messages: this.#received });
      },
    });
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#closed().catch((error: unknown) => this.#say('warn', 'Source not closed', { error: messageOf(error) }));
    this.#letterReports.close();
  }

  /** A source whose file system or library does not answer is left to itself; what it hands over from now on is not taken. */
  async #closed(): Promise<void> {
    const closing = this.#options.source.close();
    // It waits for what it has handed over, which takes as long as the pipeline takes.
    await Promise.race([closing, this.settled()]);
    await inTime(closing, CLOSE_MS_MAX);
  }

  /** Resolves when what was handed over is taken, with its position, or is not: where the pipeline is held up, that takes as long. */
  async settled(): Promise<void> {
    await this.#taking;
  }

  get #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  #become(isConnected: boolean, problem: string | null): void {
    if (this.#isClosed) return;
    const shown = problem === null ? null : this.#options.redact(problem);
    const isNews = isConnected !== this.#isConnected || (shown !== this.#problem && this.#problem === null);
    [this.#isConnected, this.#problem] = [isConnected, shown];
    if (!isNews) return;
    if (isConnected) this.#say('info', 'Source connected', {});
    else this.#say('warn', 'Source not connected', { error: shown ?? '' });
    this.#options.onChange();
  }

  #say(level: 'info' | 'warn' | 'error', message: string, fields: Record<string, string | number>): void {
    const { id, settings, pipelineId, report } = this.#options;
    report({ level, message, fields: { connector: settings.name, source: id, pipeline: pipelineId, ...fields } });
  }

  async #take(batch: SourceBatch): Promise<boolean> {
    const { messages, position, partition, awaited, isTold = false, onSafe } = batch;
    const lines: Uint8Array[] = [];
    const { share } = this.#options;
    for (const [index, message] of messages.entries()) {
      const result = eventLine(message, this.#naming);
      if (share?.takes('line' in result ? result.line : null) === false) continue;
      if ('line' in result) lines.push(result.line, newline);
      else if (!(await this.#bury(message, result.problem, this.#letterId(batch, index)))) return false;
    }
    const timeField = textParameter(this.settings.parameters, 'time_field');
    const mark = { id: this.#options.id, position, partition, awaited };
    const taken = await this.#offer({ body: Buffer.concat(lines), timeField, mark, isTold });
    if (taken === null) return false;
    this.#behind = position;
    this.#received += messages.length;
    // Where the pipeline ends before, whoever goes on with it takes them again.
    if (onSafe !== undefined) void Promise.all([this.#options.safe(), taken.through]).then(onSafe, () => undefined);
    return true;
  }

  /** Null: it was closed before that was taken. */
  async #offer(feed: SourceFeed): Promise<TakenFeed | null> {
    while (!this.#isClosed) {
      try {
        return (await this.#options.feed(feed)) ?? { through: Promise.resolve() };
      } catch (error) {
        const code = error instanceof CepError ? error.code : '';
        if (code === 'queue_full') await this.#pause(FULL_PAUSE_MS);
        else if (code === 'quota_exceeded' || code === 'pipeline_not_running') await this.#pause(REFUSED_PAUSE_MS);
        else await this.#failed('Source events not kept', error);
      }
    }
    return null;
  }

  /** The same for a message that comes again, as the letter was written before the place of the source was. */
  #letterId({ messages, position, partition = '', placeOf }: SourceBatch, index: number): string {
    const { pipelineId, id } = this.#options;
    const place = placeOf === undefined ? [this.#behind, index] : placeOf(index);
    if (position === null || place === undefined) return `${pipelineId}-${randomUUID()}`;
    const hash = createHash('sha256').update(JSON.stringify([id, partition, place]));
    return `${pipelineId}-${hash
      .update(messages[index]?.bytes ?? '')
      .digest('hex')
      .slice(0, 32)}`;
  }

  /** A letter is on disk before the source moves on. False when the source was closed meanwhile. */
  async #bury({ bytes }: SourceMessage, problem: string, id: string): Promise<boolean> {
    const { pipelineId, deadLetters } = this.#options;
    const letter: DeadLetter = {
      timestamp: new Date().toISOString(),
      connector: this.settings.name,
      error: problem,
      event: rawEvent(bytes, Date.now()),
      id,
      pipeline_id: pipelineId,
      stream: '',
      attempts: 0,
      code: 'unreadable_message',
    };
    while (!this.#isClosed) {
      try {
        await deadLetters.add(letter);
        this.#unreadable++;
        this.#options.onLetter(letter.connector);
        this.#letterReports.count(letter);
        return true;
      } catch (error) {
        await this.#failed('DLQ cannot be written', error);
      }
    }
    return false;
  }

  async #failed(message: string, error: unknown): Promise<void> {
    this.#say('error', message, { reason: messageOf(error) });
    await this.#pause(FAILED_PAUSE_MS);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#end.signal }).catch(() => undefined); // Closed: the caller sees that.
  }
}

const newline = Uint8Array.of(10);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
