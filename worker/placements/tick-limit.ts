import { externalSource } from '../../shared/protocol/placements.ts';
import type { ArrivedBatch, Receipts } from '../runtime/placed/receipts.ts';

/** How long ticks wait for a log from which nothing comes any more: its coordinators may be gone for good. */
const SILENT_LOG_MS = 30_000;
/** After an answer: what waited for it at the coordinator comes by then. */
const NEXT_DELIVERY_MS = 500;
/** What was under way to the log when a delivery was sent is no older than this. */
const COMMIT_MS = 1_000;

export interface TickLimitOptions {
  readonly receipts: Pick<Receipts, 'accepted' | 'time'>;
  /** The last batch that whoever had the placement before may have taken in. */
  readonly repeatedUpTo: number;
  /** Ms since some moment; nobody sets it. */
  readonly now: () => number;
  /** Epoch ms, by the clocks of the cluster. */
  readonly clusterTime: () => number;
}

/**
 * How far ticks may go: they do not overtake injected events that wait at the coordinator for their turn. While the log goes on behind what
 * is here, time is that of the last batch that is here; so it goes on with each batch, and never stands while any come.
 */
export class TickLimit {
  readonly #options: TickLimitOptions;
  /** The last batch that is known to be in the log. */
  #end = 0;
  #accepted: number;
  /** When that has changed last, or the log went on behind it. */
  #movedAt = 0;
  #underWay = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** When the last delivery came, epoch ms. */
  #saidAt = Number.POSITIVE_INFINITY;
  #ticked = Number.NEGATIVE_INFINITY;

  constructor(options: TickLimitOptions) {
    this.#options = options;
    this.#accepted = options.receipts.accepted(externalSource);
  }

  /**
   * When a batch arrives that comes now: not before a tick, or it would be late. One that may have been taken in before keeps its time, for
   * what was said of it has that, and would pass for something else with another one. `isMoved`: a tick has overtaken it.
   */
  arrivalOf({ sequence, receivedAt }: Pick<ArrivedBatch, 'sequence' | 'receivedAt'>): { readonly time: number; readonly isMoved: boolean } {
    const isMoved = receivedAt < this.#ticked;
    return { time: isMoved && sequence > this.#options.repeatedUpTo ? this.#ticked : receivedAt, isMoved };
  }

  /** A delivery is here of which that is said. Gives what to call when it is answered. */
  begin(logEnd: number): () => void {
    const { now, clusterTime } = this.#options;
    if (this.#look() >= this.#end) this.#movedAt = now();
    this.#end = Math.max(this.#end, logEnd);
    this.#saidAt = clusterTime();
    this.#underWay++;
    return () => {
      this.#underWay--;
      this.#answeredAt = now();
    };
  }

  /** The time of a tick that is to have that time, in whole ms, as coordinators have theirs; undefined when there may be none. */
  timeOf(wanted: number): number | undefined {
    const limit = this.#limit();
    const time = Math.floor(limit < wanted ? Math.min(wanted, Math.max(limit, this.#ticked)) : wanted);
    if (time === Number.NEGATIVE_INFINITY) return undefined;
    this.#ticked = Math.max(this.#ticked, time);
    return time;
  }

  /** Gives the last batch that is here. */
  #look(): number {
    const accepted = this.#options.receipts.accepted(externalSource);
    if (accepted !== this.#accepted) this.#movedAt = this.#options.now();
    this.#accepted = accepted;
    return accepted;
  }

  #limit(): number {
    const { receipts, now } = this.#options;
    if (this.#look() < this.#end) {
      const isSilent = now() - this.#movedAt >= SILENT_LOG_MS;
      return isSilent ? Number.POSITIVE_INFINITY : (receipts.time(externalSource) ?? Number.NEGATIVE_INFINITY);
    }
    // All requests of the coordinator may have been in use since the last one came: then nobody has said what waits.
    const mayWait = this.#underWay > 0 || now() - this.#answeredAt < NEXT_DELIVERY_MS;
    return mayWait ? this.#saidAt - COMMIT_MS : Number.POSITIVE_INFINITY;
  }
}
