import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { crc32c } from '../../shared/checksum/crc32c.ts';

interface Held {
  epoch: number;
  revision: string;
  status: 'starting' | 'running' | 'closed' | 'fenced';
  received: number;
  /** Everything that the pipeline has seen: its state. */
  seen: string[];
  sequence: number;
}

interface Put {
  readonly epoch: number;
  readonly tenure: number;
  readonly created_index?: number;
  readonly revision: string;
  readonly checkpoint?: { readonly sequence: number; readonly epoch: number };
}

interface Delivery {
  readonly epoch: number;
  readonly batches: readonly {
    readonly sequence: number;
    readonly events: readonly { readonly event_type: string; readonly fields: object }[];
  }[];
}

/**
 * The least that a worker is to a coordinator: its state is the list of what it has seen, and each event gives one output, which says how
 * much was seen before it. So a test sees whether anything was lost, came twice, or had two owners.
 */
export class ModelWorker {
  readonly id: string;
  incarnation: string = randomUUID();
  readonly held = new Map<string, Held>();
  /** All events that it was sent and took, as they came. */
  readonly taken: unknown[] = [];
  readonly #coordinator: string;
  readonly #key: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** A request that holds such an event is refused as a whole. */
  refusesField: string | undefined;
  /** An event that holds it is refused, and those that come with it are not. */
  invalidField: string | undefined;
  /** What it says of the events of a batch besides. */
  notesOf: (events: readonly { readonly event_type: string }[], placementId: string) => object = () => ({});
  /** The latest that it reads; undefined: it is of a version that says nothing of that. */
  stateFormat: number | undefined;
  /** What it was asked for when it was to close something. */
  readonly closings: object[] = [];
  /** When each placement came that it was given, as it was told. */
  readonly created: (readonly [id: string, index: number | undefined])[] = [];
  #leaseEndMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDead = false;

  private constructor(id: string, coordinator: string, key: string) {
    this.id = id;
    this.#coordinator = coordinator;
    this.#key = key;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // What was under way when it died has nobody to answer to; its coordinator may be gone too.
        if (!this.#isDead) throw error;
        response.destroy();
      });
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(id: string, coordinator: string, { key, intervalMs }: { key: string; intervalMs: number }): Promise<ModelWorker> {
    const worker = new ModelWorker(id, coordinator, key);
    await new Promise<void>((resolve) => worker.#server.listen(0, '127.0.0.1', resolve));
    await worker.#register();
    await worker.heartbeat();
    worker.#timer = setInterval(() => void worker.heartbeat().catch(() => undefined), intervalMs);
    return worker;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What it runs and may run, by pipeline. */
  get running(): string[] {
    const mayRun = !this.#isDead && performance.now() < this.#leaseEndMs;
    return mayRun ? Array.from(this.held).flatMap(([id, { status }]) => (status === 'running' ? [id] : [])) : [];
  }

  async #register(): Promise<void> {
    await this.#ask('POST', '/workers/register', {
      ...{ worker_id: this.id, address: this.address, incarnation: this.incarnation, version: 'model' },
      capacity: { cpu_cores: 1, pipelines_running: 0, max_pipelines: 0 },
    });
  }

  /** Another process is there at once, and has nothing of what this one had. Resolves when it was asked who it is, and has registered. */
  async replace(): Promise<void> {
    this.held.clear();
    this.incarnation = randomUUID();
    const asked = once(this.#server, 'request');
    for (const socket of this.#sockets) socket.destroy();
    await asked;
    await this.#register();
    await this.heartbeat();
  }

  async heartbeat(): Promise<void> {
    const sentMs = performance.now();
    const pipelines = Array.from(this.held, ([placement_id, { epoch, status, revision, received }]) => {
      const [, pipeline = '', replica] = placement_id.split(':');
      return { placement_id, group: 'g', pipeline, replica: Number(replica), epoch, status, revision, received: { _external: received } };
    });
    const { status, body } = await this.#ask('POST', `/workers/${this.id}/heartbeat`, {
      ...{ incarnation: this.incarnation, pipelines },
      ...(this.stateFormat !== undefined && { state_format: this.stateFormat }),
    });
    if (status !== 200) return status === 409 ? this.held.clear() : undefined;
    const { fenced, lease_ms: leaseMs } = body as { fenced: string[]; lease_ms: number };
    this.#leaseEndMs = sentMs + leaseMs;
    for (const id of fenced) this.held.delete(id);
    const opened = pipelines.filter(({ placement_id: id, epoch, status: was }) => was === 'starting' && this.held.get(id)?.epoch === epoch);
    for (const { placement_id: id } of opened) (this.held.get(id) as Held).status = 'running';
    if (opened.length > 0) await this.heartbeat();
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    this.#isDead = true;
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** It says nothing more, and its sockets stay open. */
  hang(): void {
    clearInterval(this.#timer);
  }

  async checkpoint(id: string): Promise<object> {
    const held = this.held.get(id) as Held;
    const bytes = JSON.stringify({ received: held.received, seen: held.seen });
    const path = `/checkpoints/${encodeURIComponent(id)}/${held.epoch}/${held.sequence + 1}`;
    const stored = await this.#send('PUT', `${path}?checksum=${crc32c(Buffer.from(bytes))}`, { bytes, type: 'application/octet-stream' });
    const { bytes: size, checksum, locations } = stored.body as { bytes: number; checksum: number; locations: string[] };
    const committed = await this.#ask('POST', `${path}/commit`, {
      bytes: size,
      checksum,
      locations,
      received: { _external: held.received },
    });
    if (committed.status === 200) held.sequence++;
    return committed.body;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/api/v1/worker/watch') {
      response.write(`${JSON.stringify({ worker_id: this.id, incarnation: this.incarnation })}\n`);
      return;
    }
    const text = Buffer.concat(await request.toArray()).toString();
    const [, id = '', action = ''] = /placements\/([^/?]+)\/?([a-z]*)/.exec(request.url ?? '') ?? [];
    const body = text === '' ? {} : (JSON.parse(text) as object);
    const { httpStatus = 200, ...answer } = await this.#act(`${request.method} ${action}`, decodeURIComponent(id), body);
    response.writeHead(httpStatus, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  async #act(what: string, id: string, body: object): Promise<Record<string, unknown> & { httpStatus?: number }> {
    const held = this.held.get(id);
    if (what === 'PUT ') return { ...(await this.#put(id, body as Put)) };
    if (what === 'POST prepare') return { prepared: true };
    if (what === 'DELETE ') return { deleted: this.held.delete(id) };
    if (held === undefined || held.epoch !== (body as { epoch: number }).epoch)
      return { httpStatus: 409, code: 'stale_epoch', error: 'another epoch' };
    if (what === 'POST close') {
      held.status = 'closed';
      this.closings.push(body);
      const checkpoint = await this.checkpoint(id);
      return { ...this.#wire(id), checkpoint };
    }
    if (what === 'POST reopen') held.status = 'running';
    if (what === 'POST checkpoint') await this.checkpoint(id);
    return what === 'POST events' ? this.#deliver(id, held, body as Delivery) : { ...this.#wire(id) };
  }

  async #put(id: string, { epoch, tenure, created_index: created, revision, checkpoint }: Put): Promise<object> {
    const before = this.held.get(id);
    this.created.push([id, created]);
    const isLiving = before !== undefined && before.status === 'running' && before.epoch >= tenure;
    if (isLiving) Object.assign(before, { epoch, revision });
    else if (before?.epoch !== epoch) {
      const fresh: Held = { epoch, revision, status: 'starting', received: 0, seen: [], sequence: checkpoint?.sequence ?? 0 };
      if (checkpoint) {
        const { body } = await this.#send('GET', `/checkpoints/${encodeURIComponent(id)}/${checkpoint.epoch}/${checkpoint.sequence}`);
        Object.assign(fresh, body);
      }
      this.held.set(id, fresh);
    } else before.revision = revision;
    setImmediate(() => void this.heartbeat().catch(() => undefined));
    return this.#wire(id);
  }

  #wire(id: string): object {
    const { epoch, revision, status, received } = this.held.get(id) as Held;
    return { placement_id: id, epoch, revision, status, received: { _external: received } };
  }

  #deliver(id: string, held: Held, { batches }: Delivery): Record<string, unknown> {
    if (held.status !== 'running') return { httpStatus: 409, code: 'pipeline_not_running', error: held.status };
    const refused = batches.flatMap(({ events }) => events).some(({ fields }) => Object.hasOwn(fields, this.refusesField ?? ''));
    if (refused) return { httpStatus: 400, code: 'validation_error', error: `a field '${this.refusesField}'` };
    const results: object[] = [];
    for (const { sequence, events } of batches) {
      if (sequence > held.received + 1)
        return { httpStatus: 409, code: 'sequence_gap', error: 'a gap', details: { expected: held.received + 1 } };
      const isRepeat = sequence <= held.received;
      const field = this.invalidField ?? '';
      const isWrong = ({ fields }: { readonly fields: object }): boolean => Object.hasOwn(fields, field);
      const errors = events.flatMap((event, index) => {
        return isWrong(event) ? [{ index, code: 'invalid_event', error: 'it is wrong', field }] : [];
      });
      const taken = events.filter((event) => !isWrong(event));
      const outputs = (isRepeat ? [] : taken).map((event) => {
        const { fields } = event;
        this.taken.push(event);
        held.seen.push(JSON.stringify(fields));
        return { event_type: 'Seen', timestamp: 0, fields: { count: held.seen.length } };
      });
      held.received = Math.max(held.received, sequence);
      results.push({
        sequence,
        is_repeat: isRepeat,
        accepted: outputs.length,
        rejected: errors.length,
        errors,
        output_events: outputs,
        processing_time_us: 1,
        ...this.notesOf(events, id),
      });
    }
    return { received: held.received, durable: 0, results };
  }

  #ask(method: string, path: string, body: object) {
    return this.#send(method, path, { bytes: JSON.stringify(body), type: 'application/json' });
  }

  async #send(method: string, path: string, sent?: { bytes: string; type: string }): Promise<{ status: number; body: object }> {
    const response = await fetch(`${this.#coordinator}/api/v1/cluster${path}`, {
      method,
      headers: { 'x-api-key': this.#key, ...(sent && { 'content-type': sent.type }) },
      ...(sent && { body: sent.bytes }),
    });
    return { status: response.status, body: (await response.json()) as object };
  }
}
