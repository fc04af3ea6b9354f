import type { Static } from 'typebox';
import { timestampText } from '../../shared/events/time-text.ts';
import type { deliveryAnswerSchema, placementRouteSchema } from '../../shared/protocol/placements.ts';
import type { Unrepeated } from '../runtime/placed/received-ids.ts';
import type { RuntimeReport } from '../runtime/service.ts';
import { withPoints } from './with-points.ts';

const BATCH_EVENTS_MAX = 500;
const BATCH_CHARS_MAX = 256 * 1_024;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 2_000;
/** How often a receiver is asked what it has in a checkpoint, when there is nothing else to say. */
const ASK_MS = 5_000;

export interface RoutedEvent {
  readonly id: string;
  readonly type: string;
  /** Epoch ms. */
  readonly time: number;
  readonly fieldsJson: string;
}

export type RouteTarget = Pick<Static<typeof placementRouteSchema>['targets'][number], 'placement_id' | 'epoch' | 'address'>;
type DeliveryAnswer = Static<typeof deliveryAnswerSchema>;

/** What another worker answered. */
export interface PeerAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly body: unknown;
}

export interface RouteLinkOptions {
  /** Of the placement that sends. */
  readonly placementId: string;
  readonly epoch: () => number;
  readonly target: RouteTarget;
  /** What it had to send before. */
  readonly events: readonly RoutedEvent[];
  /** What a checkpoint of before has said of this. @default there was none, or it did not say it */
  readonly unrepeated?: Unrepeated | undefined;
  /** Asked before each request. */
  readonly mayDeliver: () => boolean;
  /** Asks another worker. Rejects when it gives no answer. */
  readonly post: (url: string, body: string) => Promise<PeerAnswer>;
  readonly onChange: () => void;
  readonly report: (report: RuntimeReport) => void;
  /** Resolves after the time, or at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

/** What checkpoints of the receiver have, when the sender makes one. */
export interface Released {
  /** Events of this life that were given up to them. */
  readonly events: number;
  readonly unrepeated: Unrepeated | undefined;
}

interface Batch {
  sequence: number;
  readonly events: readonly RoutedEvent[];
  readonly sentAt: number;
}

/**
 * The way to one receiver. Its events go in order, in numbered batches, one request at a time, and stay here until a committed checkpoint
 * of the receiver has them. Whenever the receiver may be another process than before it is asked how far it is, and what follows is sent:
 * under the numbers that it has, or, where this placement itself goes on from a checkpoint, under those that follow what the receiver has;
 * it knows what it had before by the ids.
 */
export class RouteLink {
  readonly #options: RouteLinkOptions;
  #target: RouteTarget;
  /** Not yet in a batch. */
  #waiting: RoutedEvent[];
  /** Not yet in a checkpoint of the receiver, in order. */
  #batches: Batch[] = [];
  /** Batches of these that the receiver has. */
  #received = 0;
  /** The number of the next batch; unknown until the receiver has been asked. */
  #next: number | undefined;
  #isAsked = false;
  #bytes: number;
  /** Events that a checkpoint of the receiver has by now, and those of them that the last checkpoint of the sender knew of. */
  #released = 0;
  #releasedSaved = 0;
  /** The first batch that was numbered here, and the last that a checkpoint of the receiver has. */
  #first: number | undefined;
  #releasedThrough = 0;
  /** By the last checkpoint of the sender that counts. */
  #unrepeated: Unrepeated | undefined;
  #readsUnrepeated = false;
  #failures = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  readonly #end = new AbortController();
  #poke = new AbortController();

  constructor(options: RouteLinkOptions) {
    this.#options = options;
    this.#target = options.target;
    this.#waiting = [...options.events];
    this.#unrepeated = options.unrepeated;
    this.#bytes = options.events.reduce((sum, event) => sum + sizeOf(event), 0);
  }

  get held(): number {
    return this.#batches.reduce((sum, { events }) => sum + events.length, this.#waiting.length);
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  /** What was given up to checkpoints of the receiver. */
  get released(): Released {
    const first = this.#first;
    const isSome = first !== undefined && this.#releasedThrough >= first;
    return { events: this.#released, unrepeated: isSome ? { from: first, through: this.#releasedThrough } : this.#unrepeated };
  }

  /** A checkpoint of the sender counts that was made when that was released. */
  saved({ events, unrepeated }: Released): void {
    this.#releasedSaved = Math.max(this.#releasedSaved, events);
    // Else it is what was known before, or of numbers that do not hold any more.
    if (unrepeated !== undefined && unrepeated.from === this.#first && unrepeated.through <= this.#releasedThrough) {
      this.#unrepeated = unrepeated;
    }
  }

  /** Events that are sent once more when the sender goes on from its last checkpoint: the receiver has to know them by then. */
  get repeated(): number {
    return this.held + this.#released - this.#releasedSaved;
  }

  /** Fewer would be repeated behind another checkpoint of the sender. */
  get isUnsaved(): boolean {
    return this.#released > this.#releasedSaved;
  }

  /** In order: what belongs into a checkpoint of the sender. */
  get events(): readonly RoutedEvent[] {
    return [...this.#batches.flatMap(({ events }) => events), ...this.#waiting];
  }

  /** In order: what the receiver is not known to have. */
  get unreceived(): readonly RoutedEvent[] {
    return [...this.#batches.slice(this.#received).flatMap(({ events }) => events), ...this.#waiting];
  }

  push(event: RoutedEvent): void {
    this.#waiting.push(event);
    this.#bytes += sizeOf(event);
    this.resume();
  }

  /** The receiver may be another process now. */
  moveTo(target: RouteTarget): void {
    const { address, epoch } = this.#target;
    this.#target = target;
    if (target.address === address && target.epoch === epoch) return;
    this.#isAsked = false;
    this.#readsUnrepeated = false;
    this.#failures = 0;
    this.resume();
  }

  resume(): void {
    if (this.#working === undefined && this.#mayWork && this.held > 0) {
      this.#working = this.#work().finally(() => {
        this.#working = undefined;
      });
    } else this.#poke.abort();
  }

  async settled(): Promise<void> {
    this.#poke.abort();
    await this.#working;
  }

  close(): void {
    this.#end.abort();
    this.#poke.abort();
  }

  get #mayWork(): boolean {
    return !this.#end.signal.aborted && this.#options.mayDeliver();
  }

  async #work(): Promise<void> {
    while (this.#mayWork && this.held > 0) {
      const pauseMs = await this.#step();
      if (pauseMs === 0 || !this.#mayWork) continue;
      this.#poke = new AbortController();
      // What came while nothing was to be sent is sent at once.
      const isIdle = this.#isAsked && this.#failures === 0;
      if (!isIdle || this.#waiting.length === 0) await this.#options.wait(pauseMs, this.#poke.signal);
    }
  }

  /** One request. Gives how long to wait before the next, ms. */
  async #step(): Promise<number> {
    const { address } = this.#target;
    // Who has no receiver now is told when there is one.
    if (address === undefined) return ASK_MS;
    if (!this.#isAsked) return this.#ask(address, []);
    this.#fillBatches();
    const batch = this.#batches[this.#received];
    if (batch !== undefined) return this.#ask(address, [batch]);
    const dueMs = this.#askedAt + ASK_MS - this.#options.now();
    return dueMs > 0 ? dueMs : this.#ask(address, []);
  }

  /** What waits is put into batches as far as the receiver has the ones before. */
  #fillBatches(): void {
    if (this.#received < this.#batches.length || this.#waiting.length === 0 || this.#next === undefined) return;
    let chars = 0;
    const count = this.#waiting.findIndex((event, at) => {
      chars += sizeOf(event);
      return at === BATCH_EVENTS_MAX || (at > 0 && chars > BATCH_CHARS_MAX);
    });
    const events = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    this.#batches.push({ sequence: this.#next++, events, sentAt: Date.now() });
  }

  async #ask(address: string, batches: readonly Batch[]): Promise<number> {
    const { post, placementId, epoch } = this.#options;
    const { placement_id: target, epoch: targetEpoch } = this.#target;
    const from = JSON.stringify({ placement_id: placementId, epoch: epoch() });
    const { from: first = this.#first ?? 1, through = first - 1 } = this.#unrepeated ?? {};
    const unrepeated = this.#readsUnrepeated ? `"unrepeated":{"from":${first},"through":${through}},` : '';
    const body = `{"epoch":${targetEpoch},"from":${from},${unrepeated}"batches":[${batches.map(batchText).join(',')}]}`;
    const url = `${address.replace(/\/+$/, '')}/api/v1/worker/placements/${encodeURIComponent(target)}/events?outputs=false`;
    const sentTo = this.#target;
    this.#askedAt = this.#options.now();
    const answer = await post(url, body).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (sentTo !== this.#target && (sentTo.address !== this.#target.address || sentTo.epoch !== this.#target.epoch)) return 0;
    if (typeof answer === 'string') return this.#failed(answer);
    if (answer.status === 200) return this.#answered(answer.body as DeliveryAnswer);
    this.#isAsked = false;
    this.#readsUnrepeated = false;
    return this.#failed(answer.message ?? `the answer was ${answer.status}`);
  }

  #failed(reason: string): number {
    this.#failures++;
    const fields = { pipeline: this.#options.placementId, to: this.#target.placement_id, reason };
    // What is being moved is out of reach for a moment; that is worth no line.
    if (this.#failures === 5) this.#options.report({ level: 'warn', message: 'Routed events wait for their receiver', fields });
    return Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** Math.min(this.#failures - 1, 10));
  }

  #answered({ received, durable, reads_unrepeated: readsUnrepeated = false, results }: DeliveryAnswer): number {
    if (this.#failures >= 5) {
      const fields = { pipeline: this.#options.placementId, to: this.#target.placement_id };
      this.#options.report({ level: 'info', message: 'Routed events go on', fields });
    }
    this.#failures = 0;
    for (const { rejected } of results) if (rejected > 0) this.#sayRefused(rejected);
    if (!this.#isAsked) this.#align(received);
    this.#isAsked = true;
    this.#readsUnrepeated = readsUnrepeated;
    while ((this.#batches[0]?.sequence ?? Number.POSITIVE_INFINITY) <= durable) {
      const { sequence, events } = this.#batches.shift() as Batch;
      this.#releasedThrough = sequence;
      this.#released += events.length;
      for (const event of events) this.#bytes -= sizeOf(event);
    }
    this.#received = this.#batches.filter(({ sequence }) => sequence <= received).length;
    this.#options.onChange();
    return 0;
  }

  /** They are dead letters of the receiver. */
  #sayRefused(events: number): void {
    const fields = { pipeline: this.#options.placementId, to: this.#target.placement_id, events };
    this.#options.report({ level: 'warn', message: 'Routed events refused', fields });
  }

  /** What is sent next follows what the receiver has. */
  #align(received: number): void {
    const [first, last] = [this.#batches[0], this.#batches.at(-1)];
    const fits = first !== undefined && last !== undefined && received + 1 >= first.sequence && received <= last.sequence;
    if (fits) return;
    // Nothing here has a number that the receiver knows, so all of it follows.
    for (const [at, batch] of this.#batches.entries()) batch.sequence = received + 1 + at;
    this.#next = received + 1 + this.#batches.length;
    if (received < Math.max(this.#releasedThrough, this.#unrepeated?.through ?? 0)) this.#beginAnew();
    this.#first ??= received + 1;
  }

  /** The receiver has lost what it had, and what it is sent now has numbers that there were before. */
  #beginAnew(): void {
    this.#first = undefined;
    this.#releasedThrough = 0;
    this.#unrepeated = undefined;
  }
}

function batchText({ sequence, events, sentAt }: Batch): string {
  return `{"sequence":${sequence},"received_at":${sentAt},"events":[${events.map(eventText).join(',')}]}`;
}

function eventText({ id, type, time, fieldsJson }: RoutedEvent): string {
  return `{"event_type":${JSON.stringify(type)},"timestamp":"${timestampText(time)}","id":${JSON.stringify(id)},"fields":${withPoints(fieldsJson)}}`;
}

function sizeOf({ id, type, fieldsJson }: RoutedEvent): number {
  return id.length + type.length + fieldsJson.length + 80;
}
