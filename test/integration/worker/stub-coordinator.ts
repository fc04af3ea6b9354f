import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32c } from '../../../shared/checksum/crc32c.ts';
import type { Manifest } from '../../../worker/placements/checkpoint-store.ts';

export const clusterKey = 'the-key-of-the-cluster';

export interface SeenHeartbeat {
  readonly incarnation: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they look for.
  readonly pipelines: readonly any[];
}

interface Reply {
  readonly status: number;
  readonly body: object | Buffer;
}

/** One coordinator as its workers see it, by the rules of the protocol; what it decides is what the test says. */
export class StubCoordinator {
  /** Long enough for a machine that others use too. */
  leaseMs = 20_000;
  heartbeatIntervalSecs = 0.2;
  /** Placements that the next heartbeats are told to stop. */
  readonly fenced = new Set<string>();
  /** Under which a placement may be held; what comes under another one is refused. */
  readonly epochs = new Map<string, number>();
  readonly manifests = new Map<string, Manifest>();
  readonly bytes = new Map<string, Buffer>();
  readonly registrations: { readonly worker_id: string; readonly address: string; readonly incarnation: string }[] = [];
  readonly heartbeats: SeenHeartbeat[] = [];
  /** What every worker reads; undefined: it says nothing of that, as coordinators of earlier versions. */
  stateFormat: number | undefined;
  readonly drained: string[] = [];
  /** Answers come, or none does. */
  isSilent = false;
  /** Every answer to heartbeats and registrations is this one. */
  refusal: { readonly status: number; readonly code: string } | undefined;
  /** What is done when a worker asks for its drain. */
  onDrain: (worker: string) => Promise<void> = async () => undefined;
  /** What is done before a checkpoint of a placement counts. */
  onCommit: (placement: string) => Promise<void> = async () => undefined;
  isFull = false;
  /** So often it was. */
  refusals = 0;
  #port = 0;
  #server: Server | undefined;

  static async start(): Promise<StubCoordinator> {
    const stub = new StubCoordinator();
    await stub.listen();
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** On the port that it had before, if it had one. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** As when the process is killed. */
  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.isSilent) return;
    const { status, body } = await this.#reply(request, Buffer.concat(chunks));
    if (Buffer.isBuffer(body)) response.writeHead(status, { 'content-type': 'application/octet-stream' }).end(body);
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #reply({ method, url = '', headers }: IncomingMessage, body: Buffer): Promise<Reply> {
    if (headers['x-api-key'] !== clusterKey) return refusal(401, 'invalid_api_key');
    const path = new URL(url, 'http://stub').pathname.replace('/api/v1/cluster', '');
    const [, kind, first = '', second = '', third = '', verb] = path.split('/').map(decodeURIComponent);
    if (kind === 'workers') return this.#worker(first, second, body);
    if (kind !== 'checkpoints') return refusal(404, 'not_found');
    if (method === 'PUT') return this.#store(first, { epoch: second, sequence: third, body });
    if (method === 'POST' && verb === 'commit') await this.onCommit(first);
    if (method === 'POST' && verb === 'commit') return this.#commit(first, { epoch: Number(second), sequence: Number(third), body });
    if (second === '') return found(this.manifests.get(first));
    return found(this.bytes.get(`${first}/${second}/${third}`));
  }

  async #worker(first: string, second: string, body: Buffer): Promise<Reply> {
    if (this.refusal !== undefined) return refusal(this.refusal.status, this.refusal.code);
    const coordinators = [this.url];
    if (first === 'register') {
      const registration = JSON.parse(body.toString());
      this.registrations.push(registration);
      const seconds = { heartbeat_interval_secs: this.heartbeatIntervalSecs, heartbeat_timeout_secs: 15 };
      const rest = { status: 'registered', lease_ms: this.leaseMs, epoch: 1, coordinators };
      return { status: 201, body: { worker_id: registration.worker_id, ...seconds, ...rest } };
    }
    if (second === 'drain') {
      this.drained.push(first);
      await this.onDrain(first);
      return { status: 200, body: { worker_id: first, pipelines_migrated: 0, status: 'drained' } };
    }
    const heartbeat = JSON.parse(body.toString()) as SeenHeartbeat;
    if (!this.registrations.some(({ incarnation }) => incarnation === heartbeat.incarnation)) return refusal(404, 'worker_not_found');
    this.heartbeats.push(heartbeat);
    const format = this.stateFormat === undefined ? {} : { state_format: this.stateFormat };
    return { status: 200, body: { acknowledged: true, lease_ms: this.leaseMs, fenced: [...this.fenced], ...format, coordinators } };
  }

  #store(placement: string, { epoch, sequence, body }: { epoch: string; sequence: string; body: Buffer }): Reply {
    if (this.isFull) {
      this.refusals++;
      return refusal(503, 'storage_unavailable');
    }
    if (this.epochs.get(placement) !== Number(epoch)) return refusal(409, 'stale_epoch');
    this.bytes.set(`${placement}/${epoch}/${sequence}`, body);
    const stored = { bytes: body.length, checksum: crc32c(body), locations: ['node-1'] };
    return { status: 201, body: { placement_id: placement, epoch: Number(epoch), sequence: Number(sequence), ...stored } };
  }

  #commit(placement: string, { epoch, sequence, body }: { epoch: number; sequence: number; body: Buffer }): Reply {
    if (this.epochs.get(placement) !== epoch) return refusal(409, 'stale_epoch');
    if (sequence !== (this.manifests.get(placement)?.sequence ?? 0) + 1) return refusal(409, 'transition_refused');
    const manifest = { sequence, epoch, ...JSON.parse(body.toString()) } as Manifest;
    this.manifests.set(placement, manifest);
    return { status: 200, body: manifest };
  }
}

function found(what: object | Buffer | undefined): Reply {
  return what === undefined ? refusal(404, 'checkpoint_not_found') : { status: 200, body: what };
}

function refusal(status: number, code: string): Reply {
  return { status, body: { error: `the stub says ${code}`, code } };
}
