import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { FormatAgreement } from '../../coordinator/cluster/format-agreement.ts';
import { GroupMember } from '../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../coordinator/cluster/replica.ts';
import type { Operator } from '../../coordinator/server/cluster-route.ts';
import type { ValidateProgram } from '../../coordinator/server/routes/programs.ts';
import { type CoordinatorServer, type CoordinatorServerOptions, createCoordinatorServer } from '../../coordinator/server/server.ts';
import { type RunningCoordinator, startCoordinator } from '../../coordinator/server/start-coordinator.ts';
import type { Route } from '../../shared/http/route.ts';
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { ProgramValidation } from '../../worker/server/program-validation.ts';
import { type Answer, ask, holdToRoutes } from './declared-answer.ts';
import type { RequestOptions } from './service.ts';

export const coordinatorKey = 'the-key-of-the-coordinator';

const web = (): WebDoor => new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 10_000 });
const telemetry = (): Telemetry => new Telemetry(silentLogger, new MetricRegistry());

/** A coordinator on its own, in this process. Each of its answers is held against what its route declares. */
export class Coordinator {
  readonly server: CoordinatorServer;
  readonly url: string;
  readonly #key: string | undefined;
  readonly #ends: readonly (() => unknown)[];

  private constructor(server: CoordinatorServer, key: string | undefined, ends: readonly (() => unknown)[]) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.api.server.address() as AddressInfo).port}`;
    this.#key = key;
    this.#ends = ends;
  }

  /** @param options `apiKey: null` = authentication is off. */
  static async start(
    options: Omit<Partial<CoordinatorServerOptions>, 'apiKey'> & { readonly apiKey?: string | null } = {},
  ): Promise<Coordinator> {
    const { apiKey = coordinatorKey, ...rest } = options;
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    const validation = new ProgramValidation();
    const door = web();
    const log = telemetry();
    new FormatAgreement({ member, replica, clock: () => Date.now(), telemetry: log });
    const server = await createCoordinatorServer({
      ...{ group: new GroupMember({ member, replica, clock: () => Date.now() }), isGroup: false, apiKey: apiKey ?? undefined, web: door },
      ...{ validate: validation.validate, telemetry: log, version: '1.2.3', rateLimit: 0, corsOrigins: [] },
      ...rest,
    });
    await server.api.listen({ port: 0, host: '127.0.0.1' });
    return new Coordinator(server, apiKey ?? undefined, [() => validation.close(), () => door.close()]);
  }

  async close(): Promise<void> {
    await this.server.close();
    for (const end of this.#ends) await end();
  }

  async request(method: string, path: string, { key, body, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const presented = key === undefined ? this.#key : (key ?? undefined);
    const answer = await ask({ method, url: `${this.url}${path}`, key: presented, body, headers });
    holdToRoutes(this.server.routes as readonly Route<Operator>[], { method, path, answer });
    return answer;
  }

  get(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request('GET', path, options);
  }

  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer> {
    return this.request('POST', path, { ...options, ...(body === undefined ? {} : { body }) });
  }
}

/** Three coordinators and more, each with its sockets, its Raft thread and a folder, in this process. */
export class CoordinatorGroup {
  readonly urls: readonly string[];
  readonly running = new Map<number, RunningCoordinator>();
  readonly #folder: string;
  readonly #peerUrls: readonly string[];
  readonly #validation = new ProgramValidation();
  /** How members check programs. */
  validate: ValidateProgram = this.#validation.validate;

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`);
    this.#peerUrls = this.urls.slice(0, 3);
  }

  /** @param places Members that may be started; the first three are those that the group begins with. */
  static async start(places = 3): Promise<CoordinatorGroup> {
    const folder = await mkdtemp(join(tmpdir(), 'cep-coordinators-'));
    const group = new CoordinatorGroup(folder, await freePortPairs(places));
    await Promise.all([1, 2, 3].map((id) => group.startMember(id)));
    await group.leader();
    return group;
  }

  async startMember(id: number): Promise<void> {
    const { port } = new URL(this.url(id));
    const coordinator = await startCoordinator({
      ...{ bind: '127.0.0.1', port: Number(port), apiKey: coordinatorKey, rateLimit: 0, corsOrigins: [] },
      dataDir: join(this.#folder, String(id)),
      group: { nodeId: id, peerUrls: this.#peerUrls, clusterId: 'test', key: 'the key of the members' },
      validate: (program, waiting) => this.validate(program, waiting),
      telemetry: telemetry(),
    });
    this.running.set(id, coordinator);
  }

  url(id: number): string {
    return this.urls[id - 1] as string;
  }

  async stop(id: number): Promise<void> {
    const coordinator = this.running.get(id);
    this.running.delete(id);
    await coordinator?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.running.keys()].map((id) => this.stop(id)));
    await this.#validation.close();
    await rm(this.#folder, { recursive: true });
  }

  ask(id: number, method: string, path: string, { body, headers }: RequestOptions = {}): Promise<Answer> {
    const more = { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
    return ask({ method, url: `${this.url(id)}${path}`, key: coordinatorKey, ...more });
  }

  /** Whom all that run take for the leader. */
  leader(): Promise<number> {
    return vi.waitFor(
      async () => {
        const answers = await Promise.all([...this.running.keys()].map((id) => this.ask(id, 'GET', '/api/v1/cluster/raft/status')));
        const [first, ...others] = answers.map(({ body }) => body.leader_id as number | null);
        if (first === undefined || first === null || others.some((other) => other !== first)) throw new Error('they know of no leader');
        return first;
      },
      { timeout: 30_000, interval: 20 },
    );
  }

  /** A member that follows. */
  async follower(): Promise<number> {
    const leader = await this.leader();
    return [...this.running.keys()].find((id) => id !== leader) as number;
  }
}

/** Ports that nobody has at the moment, each with the one 1000 above it. */
export async function freePortPairs(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let port = 20_000 + (process.pid % 300) * 50; found.length < count && port < 60_000; port++) {
    if ((await isFree(port)) && (await isFree(port + 1_000))) found.push(port);
  }
  return found;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
