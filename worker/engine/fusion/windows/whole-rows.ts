import type { Value } from '../../../../shared/events/value.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { CopyOnWrite, type Piece } from '../../state/copy-on-write.ts';
import type { Sample } from '../../windows/sample.ts';
import { type SlotField, SlotFields, type SlotLayout } from './slot-fields.ts';

/** A row, its number of arrival at the window, and what it gives to the aggregates. */
export interface Given {
  readonly row: Row;
  readonly order: number;
  readonly sample: Sample | null;
}

interface Held<C> extends Piece {
  content: C;
}

/** Fields of a slot besides its count. */
interface WholeFields {
  readonly hot?: readonly SlotField[];
  readonly cold?: readonly SlotField[];
}

/** What is kept of whole rows: what each gives to the aggregates, evaluated before anything changes, and how a content is saved. */
interface WholeUse<C> {
  sample(row: Row, order: number): Sample | null;
  save(content: C): Value;
}

/**
 * The slots of a kernel whose rows come whole: a key is its canonical text, whatever it is made of, and a slot that holds events has a
 * content of rows, samples or accumulators where other forms have columns of numbers.
 */
export class WholeRows<C, U extends WholeUse<C> = WholeUse<C>> implements SlotLayout {
  readonly fields: SlotFields;
  readonly width: number;
  readonly keys = ['text'] as const;
  readonly isTextKey = true;
  readonly columns = { objects: [] };
  readonly expireMs: number | null;
  /** What makes and fills the contents. */
  readonly contents: U;
  readonly #held: (Held<C> | undefined)[] = [];
  readonly #snapshots: CopyOnWrite<Held<C>>;

  constructor({ stream }: OperatorEnvironment, contents: U, { hot = [], cold = [] }: WholeFields = {}) {
    this.contents = contents;
    this.expireMs = stream.partition.expireMs;
    this.fields = new SlotFields(['count', ...hot], this.expireMs === null ? cold : [...cold, 'touched']);
    this.width = this.fields.hotWidth;
    this.#snapshots = new CopyOnWrite(({ content }) => contents.save(content));
  }

  textOfKey([text]: readonly Value[]): string {
    return text as string;
  }

  partsOfKey(text: string): Value[] {
    return [text];
  }

  at(slot: number): C {
    return (this.#held[slot] as Held<C>).content;
  }

  /** To be called before the content of the slot changes. */
  beforeChange(slot: number): C {
    const held = this.#held[slot] as Held<C>;
    this.#snapshots.beforeChange(held);
    return held.content;
  }

  put(slot: number, content: C): void {
    this.#held[slot] = { content, version: this.#snapshots.taken };
  }

  forget(slot: number): void {
    this.#held[slot] = undefined;
  }

  /** The contents of these slots as they are now, as they are saved. */
  capture(slots: readonly number[]): () => ReadonlyMap<number, Value> {
    const saved = this.#snapshots.take(slots.map((slot) => this.#held[slot] as Held<C>));
    return () => {
      const values = saved();
      return new Map(slots.map((slot, at) => [slot, values[at] as Value]));
    };
  }
}
