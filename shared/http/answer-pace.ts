import { CepError } from '../errors/error.ts';

export interface AnswerPaceOptions {
  /** Bytes of answers that a client is given per second, over a while. */
  readonly bytesPerSecond: number;
  /** Bytes that it is given at once. */
  readonly burstBytes: number;
  /** Requests of one client that may wait; further ones are refused. */
  readonly waitingMax: number;
}

interface Client {
  /** Bytes given and not yet made up for by time. */
  owed: number;
  atMs: number;
  /** Of its last answer: what the next one is taken to be until it is known. */
  lastBytes: number;
  waiting: (() => void)[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Lets clients who ask for large answers wait, so that making and sending them takes a bounded part of the server's time. Whoever has
 * room is let in at once; the others come in one after the other, as time makes up for what they got.
 */
export class AnswerPace {
  readonly #options: AnswerPaceOptions;
  readonly #clients = new Map<string, Client>();

  constructor(options: AnswerPaceOptions) {
    this.#options = options;
  }

  /**
   * Waits until the client has room. Gives what is to be told the size of the answer when it is sent, in bytes.
   * @throws CepError `rate_limited` when too many of its requests wait already, `not_ready` when the signal says that nobody waits for this one
   */
  async enter(client: string, signal: AbortSignal): Promise<(bytes: number) => void> {
    const known = this.#clients.get(client) ?? { owed: 0, atMs: performance.now(), lastBytes: 0, waiting: [], timer: undefined };
    this.#clients.set(client, known);
    this.#settle(known);
    if (known.waiting.length > 0 || known.owed > this.#options.burstBytes) await this.#turn(known, signal);
    const estimate = known.lastBytes;
    known.owed += estimate;
    return (bytes) => {
      known.owed += bytes - estimate;
      known.lastBytes = bytes;
      this.#plan(known);
      this.#forgetIdle();
    };
  }

  #turn(client: Client, signal: AbortSignal): Promise<void> {
    if (client.waiting.length >= this.#options.waitingMax) {
      const message = `${client.waiting.length} requests for large answers wait already`;
      throw new CepError('rate_limited', message, { retryAfterSeconds: 1, hint: 'ask for smaller pages, one after the other' });
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        client.waiting = client.waiting.filter((one) => one !== begin);
        reject(new CepError('not_ready', 'nobody waits for the answer any more'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      client.waiting.push(begin);
      this.#plan(client);
    });
  }

  /** Lets in the first that waits, now or as soon as there is room. */
  #plan(client: Client): void {
    clearTimeout(client.timer);
    client.timer = undefined;
    this.#settle(client);
    if (client.waiting.length === 0) return;
    const { bytesPerSecond, burstBytes } = this.#options;
    const waitMs = ((client.owed - burstBytes) / bytesPerSecond) * 1_000;
    if (waitMs > 0) {
      client.timer = setTimeout(() => this.#plan(client), Math.ceil(waitMs)).unref();
      return;
    }
    client.waiting.shift()?.();
    // Behind the one that was let in, which now owes what its answer is taken to be.
    if (client.waiting.length > 0) client.timer = setTimeout(() => this.#plan(client), 1).unref();
  }

  #settle(client: Client): void {
    const now = performance.now();
    client.owed = Math.max(0, client.owed - ((now - client.atMs) / 1_000) * this.#options.bytesPerSecond);
    client.atMs = now;
  }

  /** Who owes nothing and waits for nothing begins anew. */
  #forgetIdle(): void {
    for (const [name, client] of this.#clients) {
      this.#settle(client);
      if (client.owed === 0 && client.waiting.length === 0) this.#clients.delete(name);
    }
  }
}
