import type { Value } from '../../../shared/events/value.ts';

/** A piece of an operator's state that changes as a whole: an open window, what is held of a key. */
export interface Piece {
  /** Version of the newest snapshot that has this piece. Only `CopyOnWrite` changes it. */
  version: number;
}

/**
 * Snapshots of many pieces of state, each of one moment, that cost next to nothing when they are taken: a piece is saved when it
 * is first changed afterwards, or when the snapshot is read, whichever comes first.
 */
export class CopyOnWrite<P extends Piece> {
  readonly #save: (piece: P) => Value;
  /** Those not read yet. One may be thrown away and never be read. */
  #open: readonly WeakRef<Snapshot<P>>[] = [];
  #taken = 0;

  constructor(save: (piece: P) => Value) {
    this.#save = save;
  }

  /** Version of the last snapshot: what a new piece starts with. */
  get taken(): number {
    return this.#taken;
  }

  /** To be called before a piece changes. */
  beforeChange(piece: P): void {
    if (piece.version !== this.#taken) this.#keep(piece);
  }

  #keep(piece: P): void {
    const missing = this.#unread().filter(({ version }) => version > piece.version);
    piece.version = this.#taken;
    if (missing.length === 0) return;
    const value = this.#save(piece);
    for (const { saved } of missing) saved.set(piece, value);
  }

  #unread(): readonly Snapshot<P>[] {
    return this.#open.flatMap((reference) => reference.deref() ?? []);
  }

  /** The pieces as they are now: what they saved, in the same order, when it is asked for the first and only time. */
  take(pieces: readonly P[]): () => readonly Value[] {
    const snapshot: Snapshot<P> = { version: ++this.#taken, saved: new Map() };
    this.#open = [...this.#unread(), snapshot].map((one) => new WeakRef(one));
    return () => {
      this.#open = this.#open.filter((reference) => reference.deref() !== snapshot);
      return pieces.map((piece) => snapshot.saved.get(piece) ?? this.#save(piece));
    };
  }
}

interface Snapshot<P> {
  readonly version: number;
  /** Of the pieces that have changed since. */
  readonly saved: Map<P, Value>;
}
