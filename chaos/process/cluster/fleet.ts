import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, askMember, type GroupAccess, type Request } from '../group-access.ts';
import { Machine } from './machine.ts';
import type { Network } from './network.ts';
import { Part, type PartOptions } from './part.ts';

const key = 'the-key-of-the-cluster';
const startMs = 240_000;
const lookMs = 50;

export interface FleetOptions {
  readonly network: Network;
  readonly folder: string;
  readonly coordinators: number;
  readonly workers: number;
  readonly heartbeatIntervalSeconds: number;
  readonly heartbeatTimeoutSeconds: number;
  readonly checkpointIntervalSeconds: number;
  readonly onUnasked: (what: string) => void;
  /** By which their disks become slow; undefined where they cannot. */
  readonly slowSync: string | undefined;
}

/** Coordinators and workers as real processes. Coordinator 1 is place 1 of the network; workers follow, and last a place for one more process. */
export class Fleet implements GroupAccess {
  readonly coordinators: readonly Part[];
  readonly workers: readonly Part[];
  /** Another process that takes itself for the first worker. */
  readonly twin: Part;
  readonly ids: readonly number[];

  constructor(options: FleetOptions) {
    const { network, coordinators, workers } = options;
    const urls = network.places.slice(0, coordinators).map(({ host, port }) => `http://${host}:${port}`);
    this.ids = urls.map((_, at) => at + 1);
    this.coordinators = this.ids.map((id) =>
      part(options, { name: `coordinator-${id}`, at: id, args: coordinatorArgs(options, id, urls) }),
    );
    const worker = (at: number, name: string, id: string): Part => part(options, { name, at, args: workerArgs(options, { at, id, urls }) });
    this.workers = Array.from({ length: workers }, (_, one) => worker(coordinators + one + 1, `worker-${one + 1}`, `w${one + 1}`));
    this.twin = worker(coordinators + workers + 1, 'twin-of-worker-1', 'w1');
  }

  get parts(): readonly Part[] {
    return [...this.coordinators, ...this.workers, this.twin];
  }

  /** Resolves when all of them work together. */
  async start(): Promise<void> {
    for (const one of [...this.coordinators, ...this.workers]) one.start();
    await this.whole(startMs);
  }

  ask(id: number, request: Request): Promise<Answer> {
    return askMember((this.coordinators[id - 1] as Part).url, key, request);
  }

  /** Asks a worker. `path` stands behind `/api/v1`. */
  async askWorker(worker: Part, method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${worker.url}/api/v1${path}`, {
      method,
      signal: AbortSignal.timeout(10_000),
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Asks one coordinator after the other until one gives an answer that is none of an outage. Rejects when none does in time. */
  async persist(request: Request, withinMs = 60_000): Promise<Answer> {
    const until = performance.now() + withinMs;
    for (let at = 0; ; at++) {
      const id = this.ids[at % this.ids.length] as number;
      const told = await this.ask(id, request).catch((error: unknown) => String(error));
      if (typeof told !== 'string' && told.status < 500 && told.status !== 421 && told.status !== 429) return told;
      if (performance.now() > until)
        throw new Error(`${request.method} ${request.path}: ${typeof told === 'string' ? told : JSON.stringify(told)}`);
      await sleep(lookMs);
    }
  }

  /** The coordinator that leads, as one says that is awake; undefined when none knows. */
  async leader(): Promise<Part | undefined> {
    const asked = this.ids.map((id) => this.ask(id, { method: 'GET', path: '/raft/status', deadlineMs: 1_000 }));
    const told = (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'fulfilled' ? [one.value.body] : []));
    const leading = told.filter(({ role }) => role === 'leader').sort((a, b) => b.term - a.term)[0];
    return leading && this.coordinators[leading.node_id - 1];
  }

  /** Rejects when not all coordinators agree on a leader, or not all workers that run are ready, in time. */
  async whole(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    for (let missing = ''; ; ) {
      missing = await this.#missing().catch((error: unknown) => String(error));
      if (missing === '') return;
      if (performance.now() > until) throw new Error(`the cluster is not whole after ${Math.round(withinMs / 1_000)} s: ${missing}`);
      await sleep(lookMs);
    }
  }

  async #missing(): Promise<string> {
    const running = this.coordinators.filter(({ isRunning }) => isRunning);
    const asked = running.map(({ at }) => this.ask(at, { method: 'GET', path: '/raft/status', deadlineMs: 2_000 }));
    const leaders = new Set((await Promise.all(asked)).map(({ body }) => body.leader_id as number | null));
    if (leaders.size !== 1 || leaders.has(null)) return `coordinators name ${[...leaders].join(' and ')} as their leader`;
    const { body } = await this.ask((running[0] as Part).at, { method: 'GET', path: '/workers', deadlineMs: 2_000 });
    const byId = new Map((body as { id: string; status: string }[]).map(({ id, status }) => [id, status]));
    const wanted = this.workers.flatMap(({ isRunning }, at) => (isRunning ? [`w${at + 1}`] : []));
    return wanted.flatMap((id) => (byId.get(id) === 'ready' ? [] : [`worker ${id} is ${byId.get(id) ?? 'unknown'}`])).join(', ');
  }

  /** Nothing of it runs any more, or will. */
  async close(): Promise<void> {
    await Promise.all(this.parts.map((one) => one.retire()));
  }
}

function part({ network, folder, onUnasked, slowSync }: FleetOptions, rest: Pick<PartOptions, 'name' | 'at' | 'args'>): Part {
  const place = network.places[rest.at - 1];
  if (place === undefined) throw new Error(`the network has no place ${rest.at}`);
  const machine = new Machine(folder, rest.name, slowSync);
  return new Part({ ...rest, place, folder, onUnasked, machine, env: { CEP_API_KEY: key } });
}

function coordinatorArgs(options: FleetOptions, id: number, urls: readonly string[]): string[] {
  const place = options.network.places[id - 1];
  const group = ['--raft', '--raft-node-id', String(id), '--raft-peers', urls.join(','), '--raft-data-dir', dataDir(options.folder, id)];
  const times = [
    '--heartbeat-interval',
    String(options.heartbeatIntervalSeconds),
    '--heartbeat-timeout',
    String(options.heartbeatTimeoutSeconds),
  ];
  return ['coordinator', '--bind', place?.host ?? '', '--port', String(place?.port), ...group, ...times];
}

/** Where coordinator `id` keeps what it has. */
export function dataDir(folder: string, id: number): string {
  return join(folder, `data-${id}`);
}

function workerArgs(
  options: FleetOptions,
  { at, id, urls }: { readonly at: number; readonly id: string; readonly urls: readonly string[] },
): string[] {
  const place = options.network.places[at - 1];
  const url = `http://${place?.host}:${place?.port}`;
  // Each knows the coordinators in another order, as whoever sets them up by hand may have them.
  const known = urls.map((_, one) => urls[(one + at) % urls.length]).join(',');
  const membership = ['--coordinator', known, '--worker-id', id, '--advertise-address', url];
  const ports = ['--bind', place?.host ?? '', '--port', String(place?.port), '--metrics-port', String((place?.port ?? 0) + 1_000)];
  return ['server', ...ports, ...membership, '--checkpoint-interval', String(options.checkpointIntervalSeconds)];
}
