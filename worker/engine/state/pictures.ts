import type { Value } from '../../../shared/events/value.ts';

/** A piece of an operator's state that changes as a whole: an open window, what is held of a key. */
export interface Piece {
  /** Version of the newest snapshot that has this piece; `Pictures` alone changes it. */
  picture: number;
}

/**
 * Pictures of many pieces of state, each of one moment, that cost next to nothing when they are taken: a piece is saved when it
 * is first changed afterwards, or when the picture is looked at, whichever comes first.
 */
export class Pictures<P extends Piece> {
  readonly #save: (piece: P) => Value;
  /** Those not looked at yet, of which one may be thrown away and never be. */
  #open: readonly WeakRef<Picture<P>>[] = [];
  #taken = 0;

  constructor(save: (piece: P) => Value) {
    this.#save = save;
  }

  /** Number of the last picture: what a new piece starts with. */
  get taken(): number {
    return this.#taken;
  }

  /** To be called before a piece changes. */
  beforeChange(piece: P): void {
    if (piece.picture !== this.#taken) this.#keep(piece);
  }

  #keep(piece: P): void {
    const missing = this.#pictures().filter(({ number }) => number > piece.picture);
    piece.picture = this.#taken;
    if (missing.length === 0) return;
    const value = this.#save(piece);
    for (const { saved } of missing) saved.set(piece, value);
  }

  #pictures(): readonly Picture<P>[] {
    return this.#open.flatMap((reference) => reference.deref() ?? []);
  }

  /** The pieces as they are now: what they saved, in the same order, when it is asked for the first and only time. */
  take(pieces: readonly P[]): () => readonly Value[] {
    const picture: Picture<P> = { number: ++this.#taken, saved: new Map() };
    this.#open = [...this.#pictures(), picture].map((one) => new WeakRef(one));
    return () => {
      this.#open = this.#open.filter((reference) => reference.deref() !== picture);
      return pieces.map((piece) => picture.saved.get(piece) ?? this.#save(piece));
    };
  }
}

interface Picture<P> {
  readonly number: number;
  /** Of the pieces that have changed since. */
  readonly saved: Map<P, Value>;
}
