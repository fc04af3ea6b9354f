import type { Value } from '../../../../shared/events/value.ts';
import type { SlotFields } from './slot-fields.ts';

/** How the slots of a kernel are laid out, and what they are known by. */
export interface SlotLayout {
  readonly fields: SlotFields;
  /** Doubles of a slot. */
  readonly width: number;
  readonly keys: readonly unknown[];
  /** The key is one text. */
  readonly isTextKey: boolean;
  readonly columns: { readonly objects: readonly unknown[] };
  /** A key without events for longer than this loses its state; null = never. */
  readonly expireMs: number | null;
  /** Canonical text of a key, given by its parts. */
  textOfKey(parts: readonly Value[]): string;
  /** The reverse of it. */
  partsOfKey(text: string): Value[];
}
