import { toText } from '../../../shared/events/text.ts';
import { Timestamp } from '../../../shared/events/value.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { orNull, type Saved } from '../state/codec.ts';
import { ReorderBuffer, savedBuffer } from '../time/reorder-buffer.ts';
import { keyIn } from '../trace/deciding-values.ts';
import type { HeldRow } from '../trace/views.ts';

/** The rows that are held back; null where rows are seen as they come. */
export const savedOrder = orNull(savedBuffer);

/** Something that works on rows and on time: a pattern's matcher, a join. */
export interface Ordered {
  receive(row: Row, lane: number): void;
  deadline(): number;
  advance(watermark: number): void;
}

/**
 * The order in which a pattern or a join sees its rows: that of arrival, or with `out_of_order` that of event time. Then
 * each row waits until the watermark reaches it, time moves to the row before the row is seen, and a row before the
 * watermark is late.
 */
export class EventOrder {
  readonly #environment: OperatorEnvironment;
  readonly #target: Ordered;
  readonly #buffer: ReorderBuffer | null;
  /** The last one that was late. */
  #lateRow: Row | null = null;
  /** The last one that was told as held. */
  #heldRow: Row | null = null;

  constructor(environment: OperatorEnvironment, target: Ordered) {
    this.#environment = environment;
    this.#target = target;
    this.#buffer = environment.stream.time.outOfOrderMs > 0 ? new ReorderBuffer() : null;
  }

  receive(row: Row, lane: number): void {
    if (this.#buffer === null) {
      this.#target.receive(row, lane);
      return;
    }
    const watermark = this.#environment.watermark();
    if (row.time < watermark) {
      this.#late(row);
      return;
    }
    this.#buffer.add(row, lane);
    if (row.time > watermark) this.#tellHeld(row);
    this.#release(this.#buffer, watermark);
  }

  #tellHeld(row: Row): void {
    const { tracer, stream } = this.#environment;
    if (tracer === null || row === this.#heldRow) return;
    this.#heldRow = row;
    const why = [`until time reaches ${toText(new Timestamp(row.time))}`];
    tracer.decided({ stream: stream.name, key: keyIn(this.#environment, row), operator: 'out_of_order', verdict: 'HELD', why });
  }

  /** The rows that wait, in order of arrival. */
  held(): readonly HeldRow[] {
    return this.#buffer?.all() ?? [];
  }

  /** A row may come to several sides. */
  #late(row: Row): void {
    if (row !== this.#lateRow) this.#environment.late(row);
    this.#lateRow = row;
  }

  deadline(): number {
    return Math.min(this.#buffer?.deadline() ?? Infinity, this.#target.deadline());
  }

  advance(watermark: number): void {
    if (this.#buffer !== null) this.#release(this.#buffer, watermark);
    if (this.#target.deadline() <= watermark) this.#target.advance(watermark);
  }

  #release(buffer: ReorderBuffer, watermark: number): void {
    buffer.release(watermark, (row, lane) => {
      if (this.#target.deadline() <= row.time) this.#target.advance(row.time);
      this.#target.receive(row, lane);
    });
  }

  save(): Saved<typeof savedOrder> {
    return this.#buffer?.save() ?? null;
  }

  load(saved: Saved<typeof savedOrder>): void {
    if (saved !== null) this.#buffer?.load(saved);
  }
}
