import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import { RaftDriver, RaftRefusal, type StateMachine } from '../../../coordinator/raft/driver/raft-driver.ts';

const tickMs = 5;

/** The commands in their order. */
class Journal implements StateMachine {
  commands: string[] = [];
  apply = ({ kind, data }: Parameters<StateMachine['apply']>[0]): number => {
    if (kind === 'command') this.commands.push(Buffer.from(data).toString());
    return this.commands.length;
  };
  save = (): Uint8Array => Buffer.from(JSON.stringify(this.commands));
  restore = (state: Uint8Array): void => {
    this.commands = state.length === 0 ? [] : (JSON.parse(Buffer.from(state).toString()) as string[]);
  };
}

let folder: string;
let nodes: Map<number, { readonly driver: RaftDriver; readonly journal: Journal }>;
let cut: Set<number>;
let failures: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  [nodes, cut, failures] = [new Map(), new Set(), []];
});
afterEach(async () => {
  await Promise.all([...nodes.values()].map(({ driver }) => driver.stop()));
  rmSync(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

async function start(nodeId: number, options: { readonly snapshotEntries?: number; readonly entriesKept?: number } = {}): Promise<void> {
  const journal = new Journal();
  const random = seededRandom(nodeId);
  const driver = await RaftDriver.start({
    folder: join(folder, String(nodeId)),
    identity: { clusterId: 'cluster', nodeId, incarnation: 1, voters: [1, 2, 3] },
    machine: journal,
    send: (to, packet) => {
      if (!cut.has(nodeId) && !cut.has(to)) setImmediate(() => nodes.get(to)?.driver.receive(packet));
    },
    random,
    report: (problem) => failures.push(problem),
    failed: (cause) => failures.push(cause),
    tickMs,
    ...options,
  });
  nodes.set(nodeId, { driver, journal });
}

async function stop(nodeId: number): Promise<void> {
  const { driver } = node(nodeId);
  nodes.delete(nodeId);
  await driver.stop();
}

function node(nodeId: number) {
  const found = nodes.get(nodeId);
  if (found === undefined) throw new Error(`node ${nodeId} is not there`);
  return found;
}

const wait = { timeout: 20_000, interval: 10 };

/** One that leads and knows what is committed. */
function leader(): Promise<number> {
  return vi.waitFor(() => {
    const found = [...nodes].find(
      ([
        id,
        {
          driver: { view },
        },
      ]) => !cut.has(id) && view.role === 'leader' && view.log.termAt(view.log.commit) === view.term,
    );
    if (found === undefined) throw new Error('nobody leads');
    return found[0];
  }, wait);
}

const propose = async (id: number, text: string): Promise<unknown> => node(id).driver.propose(Buffer.from(text));

async function agreed(commands: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    for (const { journal } of nodes.values()) expect(journal.commands).toEqual(commands);
  }, wait);
}

describe('the driver of a Raft node', () => {
  it('agrees on commands, many at once, and has them after all nodes start again', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    const commands = Array.from({ length: 200 }, (_, at) => `command ${at}`);
    const results = await Promise.all(commands.map((command) => propose(first, command)));
    expect(results).toEqual(commands.map((_, at) => at + 1));
    await agreed(commands);
    for (const id of [1, 2, 3]) await stop(id);
    for (const id of [1, 2, 3]) await start(id);
    await propose(await leader(), 'one more');
    await agreed([...commands, 'one more']);
  }, 60_000);

  it('goes on without a leader that stopped, and brings it up to date', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await propose(first, 'a');
    await stop(first);
    await propose(await leader(), 'b');
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
    for (const command of commands) await propose(first, command);
    await start(away, { snapshotEntries: 20, entriesKept: 2 });
    await agreed(commands);
    expect(node(away).driver.view.log.baseIndex).toBeGreaterThan(0);
    await stop(away);
    await start(away, { snapshotEntries: 20, entriesKept: 2 });
    await propose(await leader(), 'one more');
    await agreed([...commands, 'one more']);
  }, 60_000);

  it('reads what was acknowledged, and nothing where a majority is out of reach', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await propose(first, 'a');
    await node(first).driver.read();
    expect(node(first).journal.commands).toEqual(['a']);
    cut.add(first);
    await expect(node(first).driver.read()).rejects.toThrow(RaftRefusal);
    const second = await leader();
    expect(second).not.toBe(first);
    await node(second).driver.read();
    expect(node(second).journal.commands).toEqual(['a']);
  }, 60_000);

  it('says that a command was superseded when another has its place', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    cut.add(first);
    const lost = expect(propose(first, 'lost')).rejects.toMatchObject({ reason: 'superseded' });
    const second = await leader();
    await propose(second, 'kept');
    cut.clear();
    await lost;
    await agreed(['kept']);
  }, 60_000);

  it('refuses what only a leader does and names it, and everything once it has stopped', async () => {
    for (const id of [1, 2, 3]) await start(id);
    const first = await leader();
    await propose(first, 'a');
    const other = [1, 2, 3].find((id) => id !== first) as number;
    await vi.waitFor(() => expect(node(other).driver.view.leader).toBe(first), wait);
    await expect(propose(other, 'b')).rejects.toMatchObject({ reason: 'notLeader', leader: first });
    const { driver } = node(first);
    await stop(first);
    await expect(driver.propose(Buffer.from('c'))).rejects.toMatchObject({ reason: 'stopped' });
  }, 60_000);

  it('does not start with the data of another node', async () => {
    await start(1);
    await stop(1);
    const options = {
      folder: join(folder, '1'),
      machine: new Journal(),
      send: () => undefined,
      random: () => 0,
      report: () => undefined,
      failed: () => undefined,
    };
    const started = RaftDriver.start({ ...options, identity: { clusterId: 'cluster', nodeId: 2, incarnation: 1, voters: [1, 2, 3] } });
    await expect(started).rejects.toThrow(/cannot be used: the data is of node 1 of cluster cluster, not of node 2 .* join under a new id/);
  });
});
