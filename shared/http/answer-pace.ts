import { CepError } from '../errors/error.ts';
import { Debt } from '../security/debt.ts';

export interface AnswerPaceOptions {
  /** Bytes of answers that a client is given per second, over a while. */
  readonly bytesPerSecond: number;
  /** Bytes that it is given at once. */
  readonly burstBytes: number;
  /** Answers of one client that are being made or sent at a time. */
  readonly underWayMax: number;
  /** Requests of one client that may wait; further ones are refused. */
  readonly waitingMax: number;
  /** How long a request may wait before it is refused, ms. */
  readonly waitMsMax: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Client {
  readonly debt: Debt;
  underWay: number;
  waiting: (() => void)[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Lets clients who ask for large answers wait, so that making and sending them takes a bounded part of the server's time and memory.
 * Who has room is let in at once; the others come in one after the other, as time makes up for what they got.
 */
export class AnswerPace {
  readonly #options: AnswerPaceOptions;
  readonly #clients = new Map<string, Client>();
  #isEnded = false;

  constructor(options: AnswerPaceOptions) {
    this.#options = options;
  }

  /**
   * Waits until the client has room. Gives what must be told when the answer is sent or given up, with its bytes.
   * @throws CepError `rate_limited` when too many of its requests wait already, or this one has waited too long; `not_ready` when the
   *   signal says that nobody waits for the answer
   */
  async enter(name: string, signal: AbortSignal): Promise<(bytes: number) => void> {
    const client = this.#clientOf(name);
    if (client.waiting.length > 0 || this.#restMs(client) > 0) await this.#turn(client, signal);
    else client.underWay++;
    return (bytes) => {
      client.underWay--;
      client.debt.add(bytes, this.#options.now());
      this.#letIn(client);
      this.#forgetIdle();
    };
  }

  /** Lets everybody in who waits or comes: the server ends, and refuses them by itself. */
  end(): void {
    this.#isEnded = true;
    for (const client of this.#clients.values()) this.#letIn(client);
  }

  #clientOf(name: string): Client {
    const { bytesPerSecond } = this.#options;
    const client = this.#clients.get(name) ?? { debt: new Debt(bytesPerSecond / 1_000), underWay: 0, waiting: [], timer: undefined };
    this.#clients.set(name, client);
    return client;
  }

  #turn(client: Client, signal: AbortSignal): Promise<void> {
    const { waitingMax, waitMsMax } = this.#options;
    if (client.waiting.length >= waitingMax) throw tooMuch(`${client.waiting.length} requests for large answers wait already`);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', hangUp);
      };
      const begin = (): void => {
        settle();
        resolve();
      };
      const giveUp = (error: CepError): void => {
        client.waiting = client.waiting.filter((one) => one !== begin);
        settle();
        reject(error);
      };
      const hangUp = (): void => giveUp(new CepError('not_ready', 'nobody waits for the answer any more'));
      const timer = setTimeout(() => giveUp(tooMuch('large answers before this one took too long')), waitMsMax).unref();
      signal.addEventListener('abort', hangUp, { once: true });
      client.waiting.push(begin);
      this.#letIn(client);
    });
  }

  /** Lets in those who have room, and the next ones as soon as they have. */
  #letIn(client: Client): void {
    clearTimeout(client.timer);
    let restMs = this.#restMs(client);
    for (; restMs === 0; restMs = this.#restMs(client)) {
      const begin = client.waiting.shift();
      if (begin === undefined) return;
      client.underWay++;
      begin();
    }
    if (Number.isFinite(restMs)) client.timer = setTimeout(() => this.#letIn(client), Math.max(1, Math.ceil(restMs))).unref();
  }

  /** How long until the client has room for an answer; infinite = until one of its own is sent. */
  #restMs({ debt, underWay }: Client): number {
    if (this.#isEnded) return 0;
    const { burstBytes, underWayMax, now } = this.#options;
    return underWay >= underWayMax ? Number.POSITIVE_INFINITY : debt.msUntil(burstBytes, now());
  }

  /** Who owes nothing and waits for nothing begins anew. */
  #forgetIdle(): void {
    const now = this.#options.now();
    for (const [name, { debt, underWay, waiting }] of this.#clients) {
      if (underWay === 0 && waiting.length === 0 && debt.at(now) === 0) this.#clients.delete(name);
    }
  }
}

function tooMuch(found: string): CepError {
  return new CepError('rate_limited', found, { retryAfterSeconds: 1, hint: 'ask for smaller pages, one after the other' });
}
