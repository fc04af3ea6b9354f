import type { ContentIds } from './content-ids.ts';
import { CREATION_STATE_FORMAT, type PlacedState } from './placed-state.ts';

/**
 * Workers of earlier formats know nothing of when a placement came, and make ids without it. Once a state is saved that such a worker may go
 * on with, what follows has ids without it here too; and it waits until that state counts, for from the one before it is made with others.
 */
export class CreationHold {
  readonly #ids: ContentIds;
  #isHeld = false;

  constructor(ids: ContentIds) {
    this.#ids = ids;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** The checkpoint that counts is one from which each worker of that format makes the ids that are made here. */
  isReadIn(format: number): boolean {
    return !this.#isHeld && (format >= CREATION_STATE_FORMAT || this.#ids.createdIndex === undefined);
  }

  /** What belongs to the state that ends here. */
  save(format: number): Pick<PlacedState, 'createdIndex' | 'ids'> {
    if (format < CREATION_STATE_FORMAT && this.#ids.createdIndex !== undefined) {
      this.#ids.leaveOutCreation();
      this.#isHeld = true;
    }
    const { createdIndex } = this.#ids;
    return { ...(createdIndex === undefined ? {} : { createdIndex }), ids: this.#ids.save() };
  }

  /** A checkpoint counts that has this. Says whether it was waited for. */
  committed(placed: Pick<PlacedState, 'createdIndex'> | undefined): boolean {
    if (!this.#isHeld || placed === undefined || placed.createdIndex !== undefined) return false;
    this.#isHeld = false;
    return true;
  }
}
