import { CepError } from '../../../shared/errors/error.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { Turns } from './turns.ts';

/** A client that stays: it is kept awake, and sent away when the server stops. */
interface StreamClient {
  readonly tenantId: string;
  beat(): void;
  /** Sends what is left, then closes. */
  end(): void;
  /** Closes without another word. */
  cut(): void;
}

const retryAfterSeconds = 10;
/** Time for clients to take what is left when the server stops. */
const farewellMs = 1_000;

export interface StreamClientsOptions {
  readonly transport: 'sse' | 'websocket';
  readonly beatEveryMs: number;
  /** Clients that one tenant may have at a time. */
  readonly perTenantMax: number;
  readonly telemetry: Telemetry;
}

/** All clients of one transport: one timer for all of them, one queue for their work. */
export class StreamClients<Client extends StreamClient> {
  readonly turns = new Turns();
  readonly #clients = new Set<Client>();
  readonly #byTenant = new Map<string, number>();
  readonly #perTenantMax: number;
  readonly #timer: NodeJS.Timeout;
  #isEnded = false;

  constructor({ transport, beatEveryMs, perTenantMax, telemetry }: StreamClientsOptions) {
    this.#perTenantMax = perTenantMax;
    this.#timer = setInterval(() => this.#beat(), beatEveryMs).unref();
    telemetry.metrics.collect('cep_stream_clients', () => [{ labels: [transport], value: this.#clients.size }]);
  }

  get size(): number {
    return this.#clients.size;
  }

  /** @throws CepError `quota_exceeded` when the tenant has as many as it may have */
  requireRoom(tenantId: string): void {
    if ((this.#byTenant.get(tenantId) ?? 0) < this.#perTenantMax) return;
    throw new CepError('quota_exceeded', `the tenant has ${this.#perTenantMax} connections of this kind open, and may have no more`, {
      hint: 'close some first',
      retryAfterSeconds,
    });
  }

  add(client: Client): void {
    this.#clients.add(client);
    this.#count(client, 1);
    if (this.#isEnded) client.end();
  }

  remove(client: Client): void {
    if (this.#clients.delete(client)) this.#count(client, -1);
  }

  of(tenantId: string): readonly Client[] {
    return [...this.#clients].filter((client) => client.tenantId === tenantId);
  }

  #count({ tenantId }: Client, difference: 1 | -1): void {
    const count = (this.#byTenant.get(tenantId) ?? 0) + difference;
    if (count === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, count);
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
