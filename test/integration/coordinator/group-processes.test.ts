import { randomUUID } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePortPairs } from '../../contract/coordinator.ts';
import { type Answer, ask } from '../../contract/declared-answer.ts';
import { CepProcess } from '../cli/cep-process.ts';
import { cep, path } from '../server/serving.ts';

const key = 'the-key-of-the-coordinators';
const connectors = '/api/v1/cluster/connectors';
const wait = { timeout: 60_000, interval: 50 };

/** Three processes `cep coordinator --raft`, each with a folder and ports of its own. */
class Processes {
  urls: readonly string[];
  readonly #folder: string;
  readonly #running = new Map<number, CepProcess>();

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.urls = Processes.#urlsOf(ports);
  }

  static #urlsOf(ports: readonly number[]): readonly string[] {
    return ports.map((port) => `http://127.0.0.1:${port}`);
  }

  /** Ends all of them, which have other ports when they are started again. */
  async move(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.end(id, 'SIGTERM')));
    this.urls = Processes.#urlsOf(await freePortPairs(this.urls.length));
  }

  static async start(folder: string): Promise<Processes> {
    const group = new Processes(path(folder), await freePortPairs(3));
    for (const id of [1, 2, 3]) group.start(id);
    await group.leader();
    return group;
  }

  dataDir(id: number): string {
    return `${this.#folder}-${id}`;
  }

  start(id: number, ...more: readonly string[]): CepProcess {
    const port = new URL(this.urls[id - 1] as string).port;
    const args = [
      '--port',
      port,
      '--raft',
      '--raft-node-id',
      String(id),
      '--raft-peers',
      this.urls.join(','),
      '--raft-data-dir',
      this.dataDir(id),
      ...more,
    ];
    const process = new CepProcess(['coordinator', ...args], { env: { CEP_API_KEY: key } });
    this.#running.set(id, process);
    return process;
  }

  async end(id: number, signal: NodeJS.Signals): Promise<number | null> {
    const process = this.#running.get(id) as CepProcess;
    this.#running.delete(id);
    process.kill(signal);
    return (await process.ended).code;
  }

  killAll(): void {
    for (const process of this.#running.values()) process.kill('SIGKILL');
  }

  /** Of those that run. */
  ids(): number[] {
    return [...this.#running.keys()];
  }

  /** Of one that runs. */
  any(): number {
    const ids = this.ids();
    return ids[Math.floor(Math.random() * ids.length)] as number;
  }

  ask(
    id: number,
    method: string,
    at: string,
    { body, headers }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    return ask({
      method,
      url: `${this.urls[id - 1]}${at}`,
      key,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    });
  }

  /** Whom all that run take for the leader. */
  leader(): Promise<number> {
    return vi.waitFor(async () => {
      const answers = await Promise.all([...this.#running.keys()].map((id) => this.ask(id, 'GET', '/api/v1/cluster/raft')));
      const [first, ...others] = answers.map(({ body }) => body.leader_id as number | null);
      if (typeof first !== 'number' || others.some((other) => other !== first)) throw new Error('they know of no leader');
      return first;
    }, wait);
  }

  /** Sends a request until it is answered, to whoever runs, as a client would that has the URLs of all. */
  async persist(method: string, at: string, body?: unknown): Promise<Answer> {
    const headers = { 'idempotency-key': randomUUID() };
    return await vi.waitFor(async () => {
      const answer = await this.ask(this.any(), method, at, { ...(body === undefined ? {} : { body }), headers });
      if (answer.status >= 500) throw new Error(answer.text);
      return answer;
    }, wait);
  }
}

const console = (name: string): object => ({ name, connector_type: 'console', params: {} });

describe('three coordinators', () => {
  let group: Processes;

  beforeAll(async () => {
    group = await Processes.start('group');
  }, 90_000);

  afterAll(() => group.killAll());

  it('lose nothing that they have answered when their leader is killed again and again, and do nothing twice', async () => {
    const answered: string[] = [];
    const unsure: string[] = [];
    for (let round = 0; round < 3; round++) {
      const leader = await group.leader();
      let isKilled = false;
      const write = async (writer: number, one: (name: string) => Promise<void>): Promise<void> => {
        for (let number = 0; number < 10 || !isKilled; number++) {
          await one(`c_${round}_${writer}_${number}`);
          if (writer !== 0 || number !== 4) continue;
          await group.end(leader, 'SIGKILL');
          isKilled = true;
        }
      };
      const persistent = async (name: string): Promise<void> => {
        const answer = await group.persist('POST', connectors, console(name));
        // A conflict would say that it had been made before, without its client having been told.
        expect([answer.status, answer.body.name]).toEqual([201, name]);
        answered.push(name);
      };
      // Without a key, through a member that goes on: it sends again what the leader took and did not answer.
      const follower = ([1, 2, 3] as const).find((id) => id !== leader) as number;
      const plain = async (name: string): Promise<void> => {
        const { status } = await group.ask(follower, 'POST', connectors, { body: console(name) });
        expect([201, 503, 504]).toContain(status);
        if (status === 201) answered.push(name);
        if (status === 504) unsure.push(name);
      };
      await Promise.all([write(0, persistent), write(1, persistent), write(2, plain), write(3, plain)]);
      group.start(leader);
    }
    await group.leader();
    for (const id of [1, 2, 3]) {
      const { body, headers } = await group.ask(id, 'GET', `${connectors}?consistency=strong&limit=1000`);
      const names = (body as { name: string }[]).map(({ name }) => name).filter((name) => !unsure.includes(name));
      expect([Number(headers.get('x-total-count')), names.sort()]).toEqual([body.length, [...answered].sort()]);
    }
  }, 120_000);

  it('keep everything when all of them are killed at once', async () => {
    await group.persist('POST', connectors, console('before'));
    const { body: before } = await group.ask(1, 'GET', `${connectors}?consistency=strong&limit=1000`);
    await Promise.all([1, 2, 3].map((id) => group.end(id, 'SIGKILL')));
    for (const id of [1, 2, 3]) group.start(id);
    await group.leader();
    const { body: after } = await group.ask(2, 'GET', `${connectors}?consistency=strong&limit=1000`);
    expect(after).toEqual(before);
  }, 90_000);

  it('end in order, the leader after another one leads', async () => {
    const leader = await group.leader();
    expect(await group.end(leader, 'SIGTERM')).toBe(0);
    const answer = await group.ask(group.any(), 'POST', connectors, { body: console('handed_over') });
    expect(answer.status).toBe(201);
    group.start(leader);
    await group.leader();
  }, 90_000);

  it('are asked and changed from the command line, through any of them', async () => {
    const leader = await group.leader();
    const follower = ([1, 2, 3] as const).find((id) => id !== leader) as number;
    const asked = ['--coordinator', group.urls[follower - 1] as string];
    const run = async (...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
      await cep(['raft', ...args, ...asked], { CEP_API_KEY: key }).ended;
    const transferred = await run('transfer', String(follower));
    expect([transferred.code, transferred.stdout]).toEqual([0, `Member ${follower} leads\n`]);
    await vi.waitFor(async () => {
      const { code, stdout } = await run('status');
      expect([code, stdout]).toEqual([0, expect.stringMatching(`Leader: +${follower} at ${group.urls[follower - 1]}\n`)]);
      expect(stdout).toMatch(/^ +\d +follower +yes/m);
    }, wait);
    const status = await run('status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ enabled: true, leader_id: follower, role: 'leader' });
    const removed = await run('remove', String(follower));
    expect([removed.code, removed.stderr]).toEqual([4, expect.stringContaining(`member ${follower} leads the group`)]);
  }, 90_000);

  it('go on at other addresses when they are told so at one start', async () => {
    await group.persist('POST', connectors, console('moved'));
    const before = await group.ask(1, 'GET', `${connectors}?consistency=strong&limit=1000`);
    await group.move();
    for (const id of [1, 2, 3]) group.start(id, '--raft-new-addresses');
    await group.leader();
    const named = { nodes: group.urls.map((url) => expect.objectContaining({ url, reachable: true })) };
    const know = async (id: number): Promise<void> =>
      vi.waitFor(async () => expect((await group.ask(id, 'GET', '/api/v1/cluster/raft')).body).toMatchObject(named), wait);
    await Promise.all([1, 2, 3].map(know));
    await Promise.all([1, 2, 3].map((id) => group.end(id, 'SIGTERM')));
    for (const id of [1, 2, 3]) group.start(id);
    await group.leader();
    await Promise.all([1, 2, 3].map(know));
    expect((await group.ask(3, 'GET', `${connectors}?consistency=strong&limit=1000`)).body).toEqual(before.body);
  }, 120_000);

  it('refuse a member that has lost its data under its old number, which says how to come back', async () => {
    const leader = await group.leader();
    const lost = ([1, 2, 3] as const).find((id) => id !== leader) as number;
    await group.end(lost, 'SIGKILL');
    await rm(group.dataDir(lost), { recursive: true });
    const again = group.start(lost);
    const { code, stderr } = await again.ended;
    expect([code, stderr]).toEqual([4, expect.stringMatching(/under an id that nobody had/)]);
    const answer = await group.ask(leader, 'POST', connectors, { body: console('without_it') });
    expect(answer.status).toBe(201);
  }, 90_000);
});

describe('copies of the directories of three coordinators', () => {
  let group: Processes;

  afterEach(() => group.killAll());

  const copyOf = (id: number): string => `${group.dataDir(id)}-copy`;
  const copy = (id: number): Promise<void> => cp(group.dataDir(id), copyOf(id), { recursive: true });
  const putBack = async (id: number): Promise<void> => {
    await rm(group.dataDir(id), { recursive: true, force: true });
    await cp(copyOf(id), group.dataDir(id), { recursive: true });
  };
  const namesAt = async (id: number): Promise<string[]> => {
    const { body } = await group.ask(id, 'GET', `${connectors}?consistency=strong&limit=1000`);
    return (body as { name: string }[]).map(({ name }) => name);
  };

  it('hold everything that was answered when all are stopped, and any two of them do', async () => {
    group = await Processes.start(`stopped-${randomUUID()}`);
    const answered: string[] = [];
    let isStopping = false;
    const writers = [1, 2, 3].map(async (writer) => {
      for (let number = 0; !isStopping; number++) {
        const name = `c_${writer}_${number}`;
        const answer = await group.ask(writer, 'POST', connectors, { body: console(name) }).catch(() => undefined);
        if (answer?.status === 201) answered.push(name);
      }
    });
    await vi.waitFor(() => expect(answered.length).toBeGreaterThan(20), wait);
    const ended = Promise.all([1, 2, 3].map((id) => group.end(id, 'SIGTERM')));
    expect(await ended).toEqual([0, 0, 0]);
    isStopping = true;
    await Promise.all(writers);
    await Promise.all([1, 2, 3].map(copy));
    for (const id of [1, 2, 3]) group.start(id);
    await group.leader();
    await group.persist('POST', connectors, console('since'));
    for (const lost of [1, 2, 3]) {
      const left = [1, 2, 3].filter((id) => id !== lost);
      await Promise.all(group.ids().map((id) => group.end(id, 'SIGKILL')));
      for (const id of left) {
        await putBack(id);
        group.start(id);
      }
      const names = await namesAt(await group.leader());
      expect(names).toEqual(expect.arrayContaining(answered));
      expect(names).not.toContain('since');
    }
  }, 120_000);

  it('of different moments end the process that finds it, which says so; the last ones of a majority alone go on', async () => {
    group = await Processes.start(`moments-${randomUUID()}`);
    for (const id of [1, 2, 3]) {
      await group.end(id, 'SIGTERM');
      await copy(id);
      for (const number of [1, 2, 3]) await group.persist('POST', connectors, console(`without_${id}_${number}`));
      group.start(id);
      await group.leader();
      expect(await namesAt(id)).toContain(`without_${id}_3`);
    }
    await Promise.all([1, 2, 3].map((id) => group.end(id, 'SIGKILL')));
    await Promise.all([1, 2, 3].map(putBack));
    const older = [1, 2].map((id) => group.start(id));
    await group.leader();
    const { code, stderr } = await Promise.race([...older, group.start(3)].map(({ ended }) => ended));
    expect(code).toBe(4);
    expect(stderr).toMatch(/Coordinator failed.*copies of different moments.*docs\/operations\/disaster-recovery\.md/);
    await Promise.all([1, 2, 3].map((id) => group.end(id, 'SIGKILL')));
    for (const id of [2, 3]) {
      await putBack(id);
      group.start(id);
    }
    expect(await group.leader()).toBe(3);
    expect(await namesAt(2)).toEqual([1, 2].flatMap((id) => [1, 2, 3].map((number) => `without_${id}_${number}`)));
  }, 120_000);
});

describe('a coordinator on its own', () => {
  it('has after a kill what it had answered, and says when its data is another one’s', async () => {
    const [port = 0] = await freePortPairs(1);
    const url = `http://127.0.0.1:${port}`;
    const args = ['coordinator', '--port', String(port), '--raft-data-dir', path('alone')];
    const first = cep(args);
    const made = await vi.waitFor(() => ask({ method: 'POST', url: `${url}${connectors}`, key: undefined, body: console('kept') }), wait);
    expect(made.status).toBe(201);
    first.kill('SIGKILL');
    await first.ended;
    const second = cep(args);
    const read = await vi.waitFor(() => ask({ method: 'GET', url: `${url}${connectors}?consistency=strong`, key: undefined }), wait);
    expect(read.body).toEqual([made.body]);
    second.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    const peers = [port, port + 1, port + 2].map((one) => `http://127.0.0.1:${one}`).join(',');
    const group = ['--raft', '--raft-node-id', '1', '--raft-peers', peers];
    const { code, stderr } = await cep([...args, ...group]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used')]);
  }, 90_000);
});
