import { addressGroup } from '../../../shared/http/request-identity.ts';

interface Unproven {
  readonly from: string;
  readonly displace: () => void;
}

/**
 * Connections that have yet to show who they are, a bounded number. A new one always finds a place, since it may be a member's: for it goes the
 * oldest from the address that has most, so that nobody who only holds places keeps those of other addresses out.
 */
export class UnprovenConnections {
  readonly #max: number;
  /** By the address and port at the other end, oldest first. */
  readonly #open = new Map<string, Unproven>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#open.size;
  }

  /** `displace` ends it when its place is needed. Gives what takes it out, which does nothing to a later one from the same port. */
  add(remote: string, displace: () => void): () => void {
    if (this.#open.size >= this.#max) this.#displaceOne();
    const added = { from: addressGroup(remote.replace(/:\d+$/, '')), displace };
    this.#open.set(remote, added);
    return () => {
      if (this.#open.get(remote) === added) this.#open.delete(remote);
    };
  }

  delete(remote: string): void {
    this.#open.delete(remote);
  }

  #displaceOne(): void {
    const counts = new Map<string, number>();
    for (const { from } of this.#open.values()) counts.set(from, (counts.get(from) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const [remote, oldest] = [...this.#open].find(([, { from }]) => counts.get(from) === most) ?? [];
    if (remote === undefined) return;
    this.#open.delete(remote);
    oldest?.displace();
  }
}
