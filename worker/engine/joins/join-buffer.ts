import type { Row } from '../operators/row.ts';

/** An event that waits for partners. */
export interface Waiting {
  readonly side: number;
  /** Canonical text of its key; null when a part of it is null: it joins with nothing and waits for its end alone. */
  readonly key: string | null;
  readonly row: Row;
  /** Arrival number at this join: partners come in this order. */
  readonly order: number;
  isMatched: boolean;
  isHeld: boolean;
}

const NOBODY: ReadonlySet<Waiting> = new Set();

/** The waiting events of one side by key, each key's in order of arrival. */
export class JoinBuffer {
  readonly #byKey = new Map<string, Set<Waiting>>();

  of(key: string): ReadonlySet<Waiting> {
    return this.#byKey.get(key) ?? NOBODY;
  }

  add(key: string, waiting: Waiting): void {
    const waitingOfKey = this.#byKey.get(key);
    if (waitingOfKey === undefined) this.#byKey.set(key, new Set([waiting]));
    else waitingOfKey.add(waiting);
  }

  remove(key: string, waiting: Waiting): void {
    const waitingOfKey = this.#byKey.get(key);
    waitingOfKey?.delete(waiting);
    if (waitingOfKey?.size === 0) this.#byKey.delete(key);
  }

  /** Those of a key that came first, beyond the newest `count`. */
  surplus(key: string, count: number): readonly Waiting[] {
    const surplus: Waiting[] = [];
    const waitingOfKey = this.of(key);
    for (const waiting of waitingOfKey) {
      if (waitingOfKey.size - surplus.length <= count) break;
      surplus.push(waiting);
    }
    return surplus;
  }
}
