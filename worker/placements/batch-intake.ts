import { Recent } from '../../shared/collections/recent.ts';
import { CepError } from '../../shared/errors/error.ts';
import { externalSource } from '../../shared/protocol/placements.ts';
import { countEvents } from '../runtime/pipelines/event-count.ts';
import type { ReceivedBody } from '../runtime/pipelines/pipeline-events.ts';
import type { PlacedPipeline } from '../runtime/placed/placement-host.ts';
import type { ArrivedBatch, Receipt, Receipts } from '../runtime/placed/receipts.ts';
import type { InjectResult } from '../runtime/service.ts';
import type { DeliveredBatch, Delivery, RoutedEvent } from './delivery-body.ts';
import type { TickLimit } from './tick-limit.ts';

/** Answers that are kept of each source, for a sender that has not heard the first one. */
const ANSWERS_KEPT = 256;
/** The same, in characters. */
const ANSWER_CHARS_MAX = 16_777_216;
/** What an output takes beside the text of its fields, and what an event does that was refused. */
const ENTRY_CHARS = 256;
/** Deliveries that wait for those before them, of all sources together. */
const EARLY_MAX = 8;
/** How long: the one before is on its way on another connection, or lost. */
const EARLY_MS_MAX = 200;

export interface BatchResult {
  readonly sequence: number;
  readonly isRepeat: boolean;
  /** Undefined of a repeat whose answer is not known any more. */
  readonly result: InjectResult | undefined;
}

export interface DeliveryResult {
  /** The last batch of the source that is part of the state; of another placement, that was taken in. */
  readonly received: number;
  /** The last one that is in a committed checkpoint. */
  readonly durable: number;
  readonly results: readonly BatchResult[];
  /** To another placement: what it says of batches that it never sends again is read here. */
  readonly readsUnrepeated: boolean;
}

/** A delivery that has overtaken the one before it. */
interface Early {
  readonly source: string;
  /** Its first batch. */
  readonly first: number;
  readonly waiting: AbortController;
}

/** Resolves after the time, or at once when the signal is aborted. */
type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

interface Taken {
  readonly received: ReceivedBody;
  /** Of its events; asked for only when they are given up. */
  readonly count: () => number;
  readonly ids: readonly string[];
}

/** The way of batches into one placed pipeline: each once, in the order of its source. */
export class BatchIntake {
  readonly #pipeline: PlacedPipeline;
  readonly #receipts: Receipts;
  /** By source, what a committed checkpoint has. */
  readonly #durable: () => Readonly<Record<string, number>>;
  readonly #wait: Wait;
  readonly #ticks: TickLimit | undefined;
  readonly #answers = new Map<string, Recent<number, Promise<InjectResult>>>();
  readonly #early = new Set<Early>();

  constructor(
    pipeline: PlacedPipeline,
    receipts: Receipts,
    durable: () => Readonly<Record<string, number>>,
    { wait, ticks }: { readonly wait: Wait; readonly ticks?: TickLimit },
  ) {
    this.#pipeline = pipeline;
    this.#receipts = receipts;
    this.#durable = durable;
    this.#wait = wait;
    this.#ticks = ticks;
  }

  /**
   * Resolves when it is the turn of these batches: those before them may come later, for a sender uses several connections. It resolves as well
   * when that takes too long, and when they are refused: then `deliver` refuses these too. The pipeline may have been closed meanwhile.
   * @throws CepError `stale_epoch`
   */
  async turn({ from: { placement_id: source, epoch }, batches: [next] }: Pick<Delivery, 'from' | 'batches'>): Promise<void> {
    this.#receipts.meet(source, epoch);
    if (next === undefined || next.sequence <= this.#receipts.accepted(source) + 1 || this.#early.size >= EARLY_MAX) return;
    const early = { source, first: next.sequence, waiting: new AbortController() };
    this.#early.add(early);
    await this.#wait(EARLY_MS_MAX, early.waiting.signal);
    this.#early.delete(early);
  }

  /** Those of the source go on whose turn it is, or, when the batch that comes next was refused, all of them. */
  #goOn(source: string, isRefused: boolean): void {
    const following = this.#receipts.accepted(source) + 1;
    for (const early of this.#early) if (early.source === source && (isRefused || early.first <= following)) early.waiting.abort();
  }

  /**
   * Resolves when all of it is worked through. What does not fit in behind the first batches stays out, and the answer says so by what was
   * received. @throws CepError `sequence_gap`, `stale_epoch`; `queue_full`, `quota_exceeded`, `pipeline_not_running` when nothing was taken
   */
  async deliver(delivery: Pick<Delivery, 'from' | 'batches' | 'unrepeated' | 'logEnd'>): Promise<DeliveryResult> {
    const { from, logEnd } = delivery;
    const isOfLog = from.placement_id === externalSource && logEnd !== undefined;
    const answered = isOfLog ? this.#ticks?.begin(logEnd) : undefined;
    try {
      return await this.#deliver(delivery);
    } finally {
      answered?.();
    }
  }

  async #deliver({ from, batches, unrepeated }: Pick<Delivery, 'from' | 'batches' | 'unrepeated'>): Promise<DeliveryResult> {
    const { placement_id: source, epoch } = from;
    this.#receipts.meet(source, epoch);
    const taken: { sequence: number; isRepeat: boolean; answer: Promise<InjectResult> | undefined }[] = [];
    for (const batch of batches) {
      const { sequence } = batch;
      if (sequence <= this.#receipts.accepted(source)) {
        taken.push({ sequence, isRepeat: true, answer: this.#answers.get(source)?.get(sequence) });
        continue;
      }
      const refusal = this.#take(source, batch, unrepeated);
      if (refusal === undefined) {
        taken.push({ sequence, isRepeat: false, answer: this.#answers.get(source)?.get(sequence) });
        continue;
      }
      this.#goOn(source, sequence === this.#receipts.accepted(source) + 1);
      if (taken.length === 0) throw refusal;
      break;
    }
    this.#goOn(source, false);
    const results: BatchResult[] = [];
    for (const { sequence, isRepeat, answer } of taken) results.push({ sequence, isRepeat, result: await answer });
    const [received, durable] = [this.#receivedOf(source), this.#durable()[source] ?? 0];
    return { received, durable, results, readsUnrepeated: source !== externalSource };
  }

  /**
   * Another placement that goes on elsewhere numbers its events anew behind what there is of it, so that must have what waits to be worked
   * through: its next batch would pass for a repeat of that. Injected events are numbered once for ever, and asked for again while they wait.
   */
  #receivedOf(source: string): number {
    return source === externalSource ? (this.#pipeline.received[source] ?? 0) : this.#receipts.accepted(source);
  }

  /** Why it was not taken. */
  #take(source: string, { sequence, received_at: receivedAt, events }: DeliveredBatch, unrepeated: Delivery['unrepeated']): unknown {
    const { received, count, ids } = events instanceof Uint8Array ? asItCame(events) : this.#fresh(source, events);
    let answer: Promise<InjectResult>;
    try {
      answer = this.#pipeline.receive(
        received,
        () => this.#accept(source, { sequence, receivedAt, ids, unrepeated }),
        source === externalSource ? 'whole' : 'receipt',
      );
    } catch (error) {
      return error;
    }
    this.#keep(source, sequence, answer, (error) => this.#refused(error, { source, sequence, events: count() }));
    return undefined;
  }

  /**
   * What a coordinator took longer to put into its log, or to hand over, than ticks wait comes behind ticks. Those come otherwise for whoever
   * goes on from an earlier checkpoint, so what follows from it is said once a checkpoint has it.
   */
  #accept(source: string, batch: ArrivedBatch): Receipt {
    const arrival = source === externalSource ? this.#ticks?.arrivalOf(batch) : undefined;
    if (!arrival?.isMoved) return this.#receipts.accept(source, batch);
    return { ...this.#receipts.accept(source, { ...batch, receivedAt: arrival.time }), isMoved: true };
  }

  /** What another placement sends may have been here under another number. */
  #fresh(source: string, events: readonly RoutedEvent[]): Taken {
    const fresh = events.filter(({ id }) => id === undefined || !this.#receipts.isKnown(source, id));
    const body = Buffer.from(`{"events":[${fresh.map(({ text }) => text).join(',')}]}`);
    const ids = events.flatMap(({ id }) => (id === undefined ? [] : [id]));
    return { received: { body, format: 'batch' }, count: () => fresh.length, ids };
  }

  /** A batch that was given up as a whole is through all the same: asked for again it would be refused for ever, and hold up what follows. */
  #refused(error: unknown, { source, sequence, events }: { source: string; sequence: number; events: number }): InjectResult {
    const isThrough = (this.#pipeline.received[source] ?? 0) >= sequence;
    if (!isThrough || !(error instanceof CepError)) throw error;
    const { code, message } = error;
    const errors = Array.from({ length: events }, (_, index) => ({ index, code, field: '', message }));
    const nothing = { accepted: 0, outputs: [], outputCount: 0, processingTimeUs: 0, notes: null, repeated: false };
    return { ...nothing, rejected: events, errors: errors as InjectResult['errors'] };
  }

  #keep(source: string, sequence: number, answer: Promise<InjectResult>, refused: (error: unknown) => InjectResult): void {
    const known = this.#answers.get(source) ?? new Recent<number, Promise<InjectResult>>(ANSWERS_KEPT, ANSWER_CHARS_MAX);
    this.#answers.set(source, known);
    const told = answer.catch(refused).then((result) => {
      known.resize(sequence, charsOf(result));
      return result;
    });
    told.catch(() => undefined); // Whoever waits for it sees it.
    known.set(sequence, told);
  }
}

function charsOf({ outputs, errors }: InjectResult): number {
  return outputs.reduce((chars, { fieldsJson }) => chars + fieldsJson.length, ENTRY_CHARS * (outputs.length + errors.length));
}

/** Injected events are numbered once for ever: nobody looks at them before their engine. */
function asItCame(body: Uint8Array): Taken {
  return { received: { body, format: 'batch' }, count: () => countEvents(body, 'batch'), ids: [] };
}
