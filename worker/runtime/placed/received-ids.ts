import { placedPipelineId } from '../../../shared/protocol/placements.ts';
import type { SavedReceipt } from './placed-state.ts';

/** Ids of events that are remembered where nobody says which of them may come again. */
const IDS_MAX = 65_536;
/** Restored ids that are forgotten together, as many as a batch has at most. */
const RESTORED_IDS = 500;
/** What stands in front of an id that is not made as those of outputs are: no digest has it. */
const WHOLE = '=';

/**
 * Batches whose events their sender never sends again: it has a committed checkpoint in which they are no more. They are all of its
 * present life, or of the one before; what lives before that had sent and its checkpoint does not know of may come again.
 */
export interface Unrepeated {
  readonly from: number;
  /** `from` - 1: there are none. */
  readonly through: number;
}

interface IdBatch {
  readonly sequence: number;
  readonly keys: readonly string[];
}

/**
 * Ids of the events that a placement has sent. They are kept until it says that they cannot come again; those of a placement that does not
 * say so, of a version before, up to a bound.
 */
export class ReceivedIds {
  /** Of all that the sender makes. */
  readonly #prefix: string;
  /** Oldest first. */
  #batches: IdBatch[] = [];
  /** By what is left of an id without the prefix: the last batch that it came in. */
  readonly #last = new Map<string, number>();
  #unrepeated: Unrepeated | undefined;
  /** Ids of batches before `#unrepeated` when that began there, and how many have come since. */
  #before = 0;
  #since = 0;

  constructor(source: string) {
    this.#prefix = `${placedPipelineId(source)}-`;
  }

  static load(source: string, { ids = [], batches }: Partial<SavedReceipt>): ReceivedIds {
    const loaded = new ReceivedIds(source);
    // Which batches the ids came in is not in earlier formats: they may be of any life.
    if (batches === undefined) {
      for (let at = 0; at < ids.length; at += RESTORED_IDS) loaded.#enter(0, loaded.#keysOf(ids.slice(at, at + RESTORED_IDS)));
    } else for (const [sequence, keys] of batches) loaded.#enter(sequence, keys.split(' '));
    return loaded;
  }

  /** How many are held, each as often as it came in a batch that a state may still need. */
  get size(): number {
    return this.#count(() => true);
  }

  has(id: string): boolean {
    return this.#last.has(this.#keyOf(id));
  }

  /** `ids`: of all events of the batch: what has come again may do so once more. */
  add(sequence: number, ids: readonly string[], unrepeated: Unrepeated | undefined): void {
    if (ids.length > 0) this.#enter(sequence, this.#keysOf(ids));
    if (unrepeated === undefined) this.#forgetOldest();
    else this.#forgetUnrepeated(unrepeated, ids.length);
  }

  #enter(sequence: number, keys: readonly string[]): void {
    this.#batches.push({ sequence, keys });
    for (const key of keys) this.#last.set(key, sequence);
  }

  #forgetOldest(): void {
    while (this.#last.size > IDS_MAX && this.#batches.length > 1) this.#drop(this.#batches.shift() as IdBatch);
  }

  #forgetUnrepeated({ from, through }: Unrepeated, added: number): void {
    const told = this.#unrepeated;
    this.#unrepeated = { from, through };
    this.#since += added;
    if (told?.from !== from) {
      this.#before = this.#count((sequence) => sequence < from);
      this.#since = 0;
    }
    // Not with each batch: it is told anew with each checkpoint of the sender.
    if (told?.from !== from || told.through < through) this.#forgetWhere((sequence) => sequence >= from && sequence <= through);
    // The present life has come by all that it makes again of those before.
    if (this.#before > 0 && this.#since > this.#before + IDS_MAX) {
      this.#before = 0;
      this.#forgetWhere((sequence) => sequence < from);
    }
  }

  #count(isOf: (sequence: number) => boolean): number {
    return this.#batches.reduce((sum, { sequence, keys }) => sum + (isOf(sequence) ? keys.length : 0), 0);
  }

  #forgetWhere(isOf: (sequence: number) => boolean): void {
    const kept: IdBatch[] = [];
    for (const batch of this.#batches) {
      if (isOf(batch.sequence)) this.#drop(batch);
      else kept.push(batch);
    }
    this.#batches = kept;
  }

  #drop({ sequence, keys }: IdBatch): void {
    for (const key of keys) if (this.#last.get(key) === sequence) this.#last.delete(key);
  }

  #keysOf(ids: readonly string[]): readonly string[] {
    return ids.map((id) => this.#keyOf(id));
  }

  #keyOf(id: string): string {
    const isShort = id.startsWith(this.#prefix) && !id.includes(' ');
    return isShort ? id.slice(this.#prefix.length) : WHOLE + Buffer.from(id).toString('base64url');
  }

  #idOf(key: string): string {
    return key.startsWith(WHOLE) ? Buffer.from(key.slice(WHOLE.length), 'base64url').toString() : this.#prefix + key;
  }

  /** What belongs to a state that ends with a batch: each id under the last that it came in by then. */
  save(upTo: number): readonly (readonly [sequence: number, keys: string])[] {
    return this.#through(upTo).map(({ sequence, keys }) => [sequence, keys.join(' ')] as const);
  }

  /** The same, for versions before. */
  saveWhole(upTo: number): readonly string[] {
    return this.#through(upTo).flatMap(({ keys }) => keys.map((key) => this.#idOf(key)));
  }

  /** States that follow end no earlier: of what has come again by the end of this one, none needs where it came before. */
  #through(upTo: number): readonly IdBatch[] {
    this.#batches = this.#batches.flatMap((batch) => {
      const { sequence, keys } = batch;
      if (sequence > upTo) return [batch];
      const kept = keys.filter((key) => {
        const last = this.#last.get(key);
        return last !== undefined && (last === sequence || last > upTo);
      });
      if (kept.length === keys.length) return [batch];
      return kept.length === 0 ? [] : [{ sequence, keys: kept }];
    });
    return this.#batches.filter(({ sequence }) => sequence <= upTo);
  }
}
