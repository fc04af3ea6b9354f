/** Which streams are listened to: all of them until the first is named. */
export class Subscriptions {
  #named: Set<string> | undefined;

  has(stream: string): boolean {
    return this.#named === undefined || this.#named.has(stream);
  }

  add(stream: string): void {
    this.#named ??= new Set();
    this.#named.add(stream);
  }

  /** Before the first is named all others stay: `streams` are those that there are. */
  delete(stream: string, streams: Iterable<string>): void {
    this.#named ??= new Set(streams);
    this.#named.delete(stream);
  }
}
