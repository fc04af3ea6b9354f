import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Held {
  readonly placement_id: string;
  readonly epoch: number;
  readonly revision: string;
  readonly status: string;
  readonly group: string;
  readonly pipeline: string;
  readonly replica: number;
}

interface Put {
  readonly epoch: number;
  readonly revision: string;
  readonly group: string;
  readonly pipeline: string;
  readonly replica: number;
}

const HEARTBEAT_MS = 5_000;

/** Workers that say what workers say, over HTTP, and run nothing: one server, in which each has its own path. */
export class SimulatedWorkers {
  readonly #server: Server;
  readonly #ask: (path: string, body: object) => Promise<unknown>;
  readonly #held = new Map<string, Map<string, Held>>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #hurried = new Set<string>();

  private constructor(ask: (path: string, body: object) => Promise<unknown>) {
    this.#ask = ask;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(count: number, ask: (path: string, body: object) => Promise<unknown>): Promise<SimulatedWorkers> {
    const workers = new SimulatedWorkers(ask);
    await new Promise<void>((resolve) => workers.#server.listen(0, '127.0.0.1', resolve));
    for (let at = 1; at <= count; at++) await workers.#register(`s${at}`);
    return workers;
  }

  async #register(id: string): Promise<void> {
    const address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${id}`;
    const capacity = { cpu_cores: 1, pipelines_running: 0, max_pipelines: 0 };
    this.#held.set(id, new Map());
    await this.#ask('/workers/register', { worker_id: id, address, incarnation: id, version: '0', capacity });
    await this.#beat(id);
    // Spread over the time between two of them.
    const first = setTimeout(() => this.#timers.add(setInterval(() => void this.#beat(id), HEARTBEAT_MS)), Math.random() * HEARTBEAT_MS);
    this.#timers.add(first);
  }

  /** A coordinator that is away is told the next time. */
  async #beat(id: string): Promise<void> {
    const pipelines = [...(this.#held.get(id)?.values() ?? [])].map((held) => ({ ...held, pipeline_id: 'p', received: {} }));
    const load = { cpu: 0.1, queue: 0 };
    const body = { incarnation: id, events_processed: 1, pipelines_running: pipelines.length, pipelines, load };
    const told = await this.#ask(`/workers/${id}/heartbeat`, body).catch(() => undefined);
    if (told === undefined) return;
    // What an acknowledged heartbeat has named may run.
    const held = this.#held.get(id) as Map<string, Held>;
    const opened = pipelines.filter(({ placement_id, epoch, status }) => status === 'starting' && held.get(placement_id)?.epoch === epoch);
    for (const { placement_id } of opened) held.set(placement_id, { ...(held.get(placement_id) as Held), status: 'running' });
    if (opened.length > 0) this.#hurry(id);
  }

  #hurry(id: string): void {
    if (this.#hurried.has(id)) return;
    this.#hurried.add(id);
    setTimeout(() => {
      this.#hurried.delete(id);
      void this.#beat(id);
    }, 1);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = '', ...rest] = new URL(`http://any${request.url}`).pathname.split('/');
    if (rest.at(-1) === 'watch') {
      response.write(`${JSON.stringify({ worker_id: id, incarnation: id })}\n`);
      return;
    }
    let text = '';
    for await (const piece of request) text += piece;
    const placementId = decodeURIComponent(rest[4] ?? '');
    const held = this.#held.get(id) as Map<string, Held>;
    if (request.method === 'DELETE') response.end(JSON.stringify({ deleted: held.delete(placementId) }));
    else response.end(JSON.stringify(this.#put(id, placementId, JSON.parse(text) as Put)));
  }

  #put(id: string, placementId: string, { epoch, revision, group, pipeline, replica }: Put): Held & { readonly received: object } {
    const held = this.#held.get(id) as Map<string, Held>;
    const before = held.get(placementId);
    const status = before?.epoch === epoch ? before.status : 'starting';
    const now: Held = { placement_id: placementId, epoch, revision, status, group, pipeline, replica };
    held.set(placementId, now);
    this.#hurry(id);
    return { ...now, received: {} };
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
