import type { Row } from '../operators/row.ts';

/** An event that waits for partners. */
export interface Waiting {
  readonly side: number;
  readonly key: string;
  readonly row: Row;
  /** Arrival number at this join: partners come in this order. */
  readonly order: number;
  isMatched: boolean;
  isHeld: boolean;
}

/** The waiting events of one side by key, each key's in order of arrival. */
export class JoinBuffer {
  readonly #byKey = new Map<string, Waiting[]>();

  of(key: string): readonly Waiting[] {
    return this.#byKey.get(key) ?? [];
  }

  add(waiting: Waiting): void {
    const list = this.#byKey.get(waiting.key);
    if (list === undefined) this.#byKey.set(waiting.key, [waiting]);
    else list.push(waiting);
  }

  remove(waiting: Waiting): void {
    const list = this.#byKey.get(waiting.key);
    if (list === undefined) return;
    waiting.isHeld = false;
    if (list[0] === waiting) list.shift();
    else list.splice(list.indexOf(waiting), 1);
    if (list.length === 0) this.#byKey.delete(waiting.key);
  }

  /** Drops the oldest of a key until at most `count` are left; returns how many went. */
  keepNewest(key: string, count: number): number {
    const list = this.#byKey.get(key) ?? [];
    let dropped = 0;
    for (; list.length > count; dropped++) (list.shift() as Waiting).isHeld = false;
    return dropped;
  }
}
