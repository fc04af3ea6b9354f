import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { Turns } from './turns.ts';

/** A client that stays: it is kept awake, and sent away when the server stops. */
interface StreamClient {
  beat(): void;
  /** Sends what is left, then closes. */
  end(): void;
  /** Closes without another word. */
  cut(): void;
}

/** Time for clients to take what is left when the server stops. */
const farewellMs = 1_000;

export interface StreamClientsOptions {
  readonly transport: 'sse' | 'websocket';
  readonly beatEveryMs: number;
  readonly telemetry: Telemetry;
}

/** All clients of one transport: one timer for all of them, one queue for their work. */
export class StreamClients<Client extends StreamClient> {
  readonly turns = new Turns();
  readonly #clients = new Set<Client>();
  readonly #timer: NodeJS.Timeout;
  #isEnded = false;

  constructor({ transport, beatEveryMs, telemetry }: StreamClientsOptions) {
    this.#timer = setInterval(() => this.#beat(), beatEveryMs).unref();
    telemetry.metrics.collect('cep_stream_clients', () => [{ labels: [transport], value: this.#clients.size }]);
  }

  get size(): number {
    return this.#clients.size;
  }

  add(client: Client): void {
    this.#clients.add(client);
    if (this.#isEnded) client.end();
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  /** Sends everybody away, and cuts those that do not read; clients that come later go at once. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#timer);
    for (const client of this.#clients) client.end();
    setTimeout(() => {
      for (const client of this.#clients) client.cut();
    }, farewellMs).unref();
  }

  #beat(): void {
    for (const client of this.#clients) this.turns.add(() => client.beat());
  }
}
