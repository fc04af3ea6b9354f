import type { Value } from '../../../../shared/events/value.ts';
import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { Pictures, type Piece } from '../../state/pictures.ts';
import type { Sample } from '../../windows/aggregation.ts';
import { type ContentUse, type WindowContent, WindowContents } from '../../windows/window-content.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';
import type { SlotLayout } from './slot-layout.ts';

/** A row, its number of arrival at the window, and what it gives to the aggregates. */
export interface Given {
  readonly row: Row;
  readonly order: number;
  readonly sample: Sample | null;
}

interface HeldContent extends Piece {
  content: WindowContent;
}

/** What a kind of window keeps in its slots besides the contents, and does with those. */
export interface WholeUse extends ContentUse {
  readonly hot: readonly SlotField[];
  readonly cold?: readonly SlotField[];
}

/**
 * The form of a window whose rows come whole: a key is its canonical text, whatever it is made of, and a slot has a content of rows,
 * samples or accumulators where other forms have columns of numbers.
 */
export class WholeRows implements SlotLayout {
  readonly fields: SlotFields;
  readonly width: number;
  readonly keys = ['text'] as const;
  readonly isTextKey = true;
  readonly columns = { objects: [] };
  readonly expireMs: number | null;
  readonly contents: WindowContents;
  /** By slot; none of those without events. */
  readonly #held: (HeldContent | undefined)[] = [];
  readonly #pictures = new Pictures<HeldContent>(({ content }) => this.contents.save(content));

  constructor(plan: WindowOperatorPlan, next: Next, environment: OperatorEnvironment, { hot, cold = [], ...use }: WholeUse) {
    this.expireMs = environment.stream.partition.expireMs;
    this.fields = new SlotFields(['count', ...hot], this.expireMs === null ? cold : [...cold, 'touched']);
    this.width = this.fields.hotWidth;
    this.contents = new WindowContents(plan, next, environment, use);
  }

  textOfKey([text]: readonly Value[]): string {
    return text as string;
  }

  partsOfKey(text: string): Value[] {
    return [text];
  }

  at(slot: number): WindowContent {
    return (this.#held[slot] as HeldContent).content;
  }

  /** To be called before the content of the slot changes. */
  beforeChange(slot: number): WindowContent {
    const held = this.#held[slot] as HeldContent;
    this.#pictures.beforeChange(held);
    return held.content;
  }

  put(slot: number, content: WindowContent): void {
    this.#held[slot] = { content, picture: this.#pictures.taken };
  }

  forget(slot: number): void {
    this.#held[slot] = undefined;
  }

  /** The contents of these slots as they are now, as they are saved. */
  capture(slots: readonly number[]): () => ReadonlyMap<number, Value> {
    const saved = this.#pictures.take(slots.map((slot) => this.#held[slot] as HeldContent));
    return () => {
      const values = saved();
      return new Map(slots.map((slot, at) => [slot, values[at] as Value]));
    };
  }
}
