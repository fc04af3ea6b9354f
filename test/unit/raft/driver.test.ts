import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import { LevelDisk } from '../../../coordinator/raft/driver/level-disk.ts';
import { type Delivered, RaftDriver, type RaftDriverOptions } from '../../../coordinator/raft/driver/raft-driver.ts';
import { decodePacket } from '../../../coordinator/raft/transport/packet.ts';

const tickMs = 5;

/** A node with the commands that it was given, in their order, as its state, and what became of what it was asked. */
class Node {
  readonly driver: RaftDriver;
  commands: string[] = [];
  readonly #answers = new Map<number, (answer: { readonly kind: string; readonly leader?: number }) => void>();
  readonly #held: (readonly Delivered[])[] = [];
  #holds = false;
  #nextId = 1;

  static async start(options: Omit<RaftDriverOptions, 'outlet'>): Promise<Node> {
    const early: (readonly [Uint8Array])[] = [];
    let node: Node | undefined;
    const answered = (id: number, kind: string, leader?: number): void =>
      node?.answer(id, { kind, ...(leader === undefined ? {} : { leader }) });
    const driver = await RaftDriver.start({
      ...options,
      outlet: {
        restore: (state) => (node ? node.restore(state) : early.push([state])),
        committed: (batch) => node?.take(batch),
        done: (id) => answered(id, 'done'),
        refused: (id, reason, leader) => answered(id, reason, leader),
        snapshotWanted: () => setImmediate(() => node?.save()),
        changed: () => undefined,
        written: () => undefined,
        stalled: () => undefined,
        diskIsSlow: () => undefined,
        failed: (cause) => failures.push(cause),
      },
    });
    node = new Node(driver);
    for (const [state] of early) node.restore(state);
    driver.begin();
    return node;
  }

  private constructor(driver: RaftDriver) {
    this.driver = driver;
  }

  /** The index up to which commands were taken. */
  index = 0;
  batches = 0;

  take(batch: readonly Delivered[]): void {
    this.batches++;
    if (this.#holds) this.#held.push(batch);
    else this.#apply(batch);
  }

  #apply(batch: readonly Delivered[]): void {
    for (const { entry, proposal } of batch) {
      if (entry.kind === 'command') this.commands.push(Buffer.from(entry.data).toString());
      this.index = entry.index;
      this.answer(proposal, { kind: 'applied' });
    }
    const { index } = this;
    setImmediate(() => this.driver.applied(index));
  }

  /** Takes commands, and does nothing with them until they are let go. */
  hold(): void {
    this.#holds = true;
  }

  get held(): number {
    return this.#held.flat().length;
  }

  letGo(): void {
    this.#holds = false;
    for (const batch of this.#held.splice(0)) this.#apply(batch);
  }

  save(): void {
    this.driver.snapshotTaken(this.index, Buffer.from(JSON.stringify([this.index, this.commands])));
  }

  restore(state: Uint8Array): void {
    [this.index, this.commands] = state.length === 0 ? [0, []] : (JSON.parse(Buffer.from(state).toString()) as [number, string[]]);
  }

  answer(id: number, answer: { readonly kind: string; readonly leader?: number }): void {
    this.#answers.get(id)?.(answer);
    this.#answers.delete(id);
  }

  ask(send: (id: number) => void): Promise<{ readonly kind: string; readonly leader?: number }> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      send(id);
    });
  }

  propose(text: string): Promise<{ readonly kind: string; readonly leader?: number }> {
    return this.ask((id) => this.driver.propose(id, Buffer.from(text)));
  }

  read(): Promise<{ readonly kind: string; readonly leader?: number }> {
    return this.ask((id) => this.driver.read(id));
  }
}

let folder: string;
let nodes: Map<number, Node>;
let cut: Set<number>;
/** Their own messages leave, and none arrives. */
let deaf: Set<number>;
let failures: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  [nodes, cut, deaf, failures] = [new Map(), new Set(), new Set(), []];
});
afterEach(async () => {
  await Promise.all([...nodes.values()].map(({ driver }) => driver.stop()));
  rmSync(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

/** A message on its way when its test ends must not reach a node of the next one. */
function deliver(from: number, to: number, packet: Uint8Array, later: (arrive: () => void) => void): void {
  const group = nodes;
  later(() => group.get(to)?.driver.receive(from, packet));
}

async function start(nodeId: number, options: Partial<RaftDriverOptions> = {}): Promise<void> {
  const started = await Node.start({
    folder: join(folder, String(nodeId)),
    identity: { clusterId: 'cluster', nodeId, incarnation: 1, voters: [1, 2, 3] },
    send: (to, make) => {
      if (cut.has(nodeId) || cut.has(to)) return false;
      const packet = make();
      if (!deaf.has(to)) deliver(nodeId, to, packet, setImmediate);
      return true;
    },
    random: seededRandom(nodeId),
    report: (problem) => failures.push(problem),
    tickMs,
    ...options,
  });
  nodes.set(nodeId, started);
}

async function stop(nodeId: number): Promise<void> {
  const { driver } = node(nodeId);
  nodes.delete(nodeId);
  await driver.stop();
}

function node(nodeId: number): Node {
  const found = nodes.get(nodeId);
  if (found === undefined) throw new Error(`node ${nodeId} is not there`);
  return found;
}

const wait = { timeout: 20_000, interval: 10 };

/** One that leads and knows what is committed. */
function leader(): Promise<number> {
  return vi.waitFor(() => {
    const found = [...nodes].find(([id, { driver }]) => {
      const { role, log, term } = driver.view;
      return !cut.has(id) && !deaf.has(id) && role === 'leader' && log.termAt(log.commit) === term;
    });
    if (found === undefined) throw new Error('nobody leads');
    return found[0];
  }, wait);
}

async function agreed(commands: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    for (const found of nodes.values()) expect(found.commands).toEqual(commands);
  }, wait);
}

async function proposed(id: number, text: string): Promise<void> {
  expect(await node(id).propose(text)).toEqual({ kind: 'applied' });
}

describe('the driver of a Raft node', () => {
  it('agrees on commands, many at once, and has them after all nodes start again', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    const commands = Array.from({ length: 200 }, (_, at) => `command ${at}`);
    await Promise.all(commands.map((command) => proposed(first, command)));
    await agreed(commands);
    for (const id of [1, 2, 3]) await stop(id);
    for (const id of [1, 2, 3]) await start(id);
    await proposed(await leader(), 'one more');
    await agreed([...commands, 'one more']);
  }, 60_000);

  it('goes on without a leader that stopped, and brings it up to date', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await proposed(first, 'a');
    await stop(first);
    await proposed(await leader(), 'b');
    await start(first);
    await agreed(['a', 'b']);
  }, 60_000);

  it('gives a follower that was away for long a snapshot in parts', async () => {
    for (const id of [1, 2, 3]) await start(id, { snapshotEntries: 20, entriesKept: 2 });
    const first = await leader();
    const away = [1, 2, 3].find((id) => id !== first) as number;
    await stop(away);
    // Together longer than one part.
    const commands = Array.from({ length: 60 }, (_, at) => `${at} ${'x'.repeat(10_000)}`);
    for (const command of commands) await proposed(await leader(), command);
    await start(away, { snapshotEntries: 20, entriesKept: 2 });
    await agreed(commands);
    expect(node(away).driver.view.log.baseIndex).toBeGreaterThan(0);
    await stop(away);
    await start(away, { snapshotEntries: 20, entriesKept: 2 });
    await proposed(await leader(), 'one more');
    await agreed([...commands, 'one more']);
  }, 60_000);

  it('brings up by one snapshot who is far away, although others are made before it has arrived', async () => {
    const sent = new Set<number>();
    const from = (id: number): Partial<RaftDriverOptions> => ({
      snapshotEntries: 20,
      entriesKept: 2,
      send: (to, make, purpose) => {
        const bytes = make();
        const packet = decodePacket(bytes);
        if (packet.kind === 'chunk') sent.add(packet.chunk.manifest.index);
        deliver(id, to, bytes, (arrive) => setTimeout(arrive, purpose === 'snapshots' ? 250 : 0));
        return true;
      },
    });
    for (const id of [1, 2, 3]) await start(id, from(id));
    const first = await leader();
    const away = [1, 2, 3].find((id) => id !== first) as number;
    await stop(away);
    const commands: string[] = [];
    const next = async (): Promise<void> => {
      commands.push(`command ${commands.length}`);
      await proposed(first, commands.at(-1) as string);
    };
    while (commands.length < 60) await next();
    await start(away, from(away));
    const { log } = node(away).driver.view;
    while (log.lastIndex < commands.length && commands.length < 1_000) await next();
    expect([log.baseIndex > 0, sent.size]).toEqual([true, 1]);
    await agreed(commands);
  }, 60_000);

  it('keeps no more bytes of entries behind a snapshot than it may, and brings up who was away for longer', async () => {
    const options = { snapshotEntries: 20, bytesKept: 100_000 };
    for (const id of [1, 2, 3]) await start(id, options);
    const first = await leader();
    const away = [1, 2, 3].find((id) => id !== first) as number;
    await stop(away);
    const commands = Array.from({ length: 60 }, (_, at) => `${at} ${'x'.repeat(10_000)}`);
    for (const command of commands) await proposed(await leader(), command);
    await vi.waitFor(() => expect(node(first).driver.view.log.baseIndex).toBeGreaterThan(40), wait);
    const { log } = node(first).driver.view;
    // Behind the snapshot, and what has come since, which is less than makes the next one.
    expect(log.lastIndex - log.baseIndex).toBeLessThan(9 + 20);
    await start(away, options);
    await agreed(commands);
    expect(node(away).driver.view.log.baseIndex).toBeGreaterThan(0);
  }, 60_000);

  it('delivers no more than fits while the state machine does not keep up, and then everything', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    const slow = [1, 2, 3].find((id) => id !== first) as number;
    node(slow).hold();
    const command = 'x'.repeat(1_000_000);
    const commands = Array.from({ length: 30 }, (_, at) => `${at} ${command}`);
    for (const one of commands) await proposed(first, one);
    await vi.waitFor(() => expect(node(slow).driver.view.log.commit).toBe(node(first).driver.view.log.commit), wait);
    // 16 MiB, and what goes over it in one batch.
    expect(node(slow).held).toBeLessThan(25);
    node(slow).letGo();
    await agreed(commands);
  }, 60_000);

  it('hands on at once what somebody here waits for, and elsewhere together what is committed within a few milliseconds', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    const follower = node([1, 2, 3].find((id) => id !== first) as number);
    await proposed(first, 'a');
    await agreed(['a']);
    const { batches } = follower;
    // The clock stands still.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const text of ['b', 'c', 'd']) await proposed(first, text);
      expect(node(first).commands).toEqual(['a', 'b', 'c', 'd']);
      // It learns from the entry behind it that 'c' is committed.
      const { commit } = node(first).driver.view.log;
      for (const until = performance.now() + wait.timeout; follower.driver.view.log.commit < commit - 1; ) {
        if (performance.now() > until) throw new Error('the follower does not hear of the commit');
        await new Promise((resume) => setImmediate(resume));
      }
      expect(follower.commands).toEqual(['a']);
      vi.advanceTimersByTime(5);
      expect(follower.commands.slice(0, 3)).toEqual(['a', 'b', 'c']);
      expect(follower.batches).toBe(batches + 1);
    } finally {
      vi.useRealTimers();
    }
  }, 60_000);

  it('reads what was acknowledged, and nothing where a majority is out of reach', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await proposed(first, 'a');
    expect(await node(first).read()).toEqual({ kind: 'done' });
    expect(node(first).commands).toEqual(['a']);
    cut.add(first);
    expect(await node(first).read()).toMatchObject({ kind: 'notLeader' });
    const second = await leader();
    expect(second).not.toBe(first);
    expect(await node(second).read()).toEqual({ kind: 'done' });
    expect(node(second).commands).toEqual(['a']);
  }, 60_000);

  it('says that a command was superseded when another has its place', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    cut.add(first);
    const lost = node(first).propose('lost');
    const second = await leader();
    await proposed(second, 'kept');
    cut.clear();
    expect(await lost).toMatchObject({ kind: 'superseded' });
    await agreed(['kept']);
  }, 60_000);

  it('does not say that a command has not happened when a snapshot has it', async () => {
    for (const id of [1, 2, 3]) await start(id, { snapshotEntries: 20, entriesKept: 2 });
    const first = await leader();
    await proposed(first, 'a');
    deaf.add(first);
    const undecided = node(first).propose('b');
    const second = await leader();
    expect(second).not.toBe(first);
    // Together longer than what is kept behind a snapshot.
    const commands = Array.from({ length: 60 }, (_, at) => `command ${at}`);
    for (const command of commands) await proposed(second, command);
    await vi.waitFor(() => expect(node(second).driver.view.log.baseIndex).toBeGreaterThan(20), wait);
    deaf.clear();
    expect(await undecided).toMatchObject({ kind: 'timeout' });
    await agreed(['a', 'b', ...commands]);
  }, 60_000);

  it('holds no more bytes than it may behind a write that does not end, which it refuses, and then does what it has taken', async () => {
    const identity = { clusterId: 'cluster', nodeId: 1, incarnation: 1, voters: [1] };
    await start(1, { identity });
    await proposed(await leader(), 'a');
    let end = (): void => undefined;
    const hung = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { writeBatch } = LevelDisk.prototype;
    const stuck = vi.spyOn(LevelDisk.prototype, 'writeBatch').mockImplementation(async function (this: LevelDisk, operations) {
      await hung;
      return writeBatch.call(this, operations);
    });
    try {
      const answers = [node(1).propose('b')];
      await vi.waitFor(() => expect(stuck).toHaveBeenCalled(), wait);
      const megabyte = 'x'.repeat(1_000_000);
      for (let at = 0; at < 50; at++) answers.push(node(1).propose(megabyte));
      expect(await Promise.all(answers.slice(20))).toEqual(answers.slice(20).map(() => ({ kind: 'overloaded', leader: 1 })));
      end();
      const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
      // 8 MiB.
      expect(kinds.filter((kind) => kind === 'applied')).toHaveLength(9);
    } finally {
      end();
      stuck.mockRestore();
    }
  }, 60_000);

  it('refuses what only a leader does and names it', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await proposed(first, 'a');
    const other = [1, 2, 3].find((id) => id !== first) as number;
    await vi.waitFor(() => expect(node(other).driver.view.leader).toBe(first), wait);
    expect(await node(other).propose('b')).toEqual({ kind: 'notLeader', leader: first });
  }, 60_000);

  it('does not start with the data of another node', async () => {
    await start(1);
    await stop(1);
    const started = Node.start({
      folder: join(folder, '1'),
      send: () => false,
      random: () => 0,
      report: () => undefined,
      identity: { clusterId: 'cluster', nodeId: 2, incarnation: 1, voters: [1, 2, 3] },
    });
    await expect(started).rejects.toThrow(
      /cannot be used: the data is of node 1 of cluster cluster, not of node 2 .*: start that one here, or name this one's own directory/,
    );
  });
});
