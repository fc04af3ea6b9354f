import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import type { ReplicatedState } from '../../../coordinator/raft/group.ts';
import { type Command, encodeProposal } from '../../../coordinator/state/commands.ts';
import { Group } from './group.ts';
import { freePorts, peersOn } from './local-peers.ts';

let folder: string;
let group: Group;
const replicas = new Map<number, Replica>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new Group(folder, peersOn(await freePorts(3)));
});
afterEach(async () => {
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

/** What a member was told out of its order: each place of the log once, behind the one before or behind a snapshot. */
const outOfOrder: string[] = [];

async function start(id: number): Promise<void> {
  const replica = new Replica();
  replicas.set(id, replica);
  let before: number | undefined;
  const follow = (index: number): void => {
    if (before !== undefined && index !== before + 1) outOfOrder.push(`${index} behind ${before}`);
    before = index;
  };
  const state: ReplicatedState = {
    save: replica.save,
    restore: (bytes) => {
      before = undefined;
      replica.restore(bytes);
    },
    apply: (command) => {
      follow(command.index);
      return replica.apply(command);
    },
    passed: (index) => {
      follow(index);
      replica.passed(index);
    },
  };
  await group.start(id, { state, snapshotEntries: 10, timers: { tickMs: 50 } });
}

async function make(leader: number, name: string): Promise<void> {
  const pipelines = [{ name: 'p', source: 'stream A = E', replicas: 1 }];
  const command: Command = { type: 'CreateGroup', payload: { name, pipelines, routes: [] } };
  await group.of(leader).member.propose(encodeProposal({ command, request: undefined, atMs: 1 }));
}

it('a member that has reached a read index shows all that was acknowledged before it, whatever stands there in the log', async () => {
  await Promise.all([1, 2, 3].map(start));
  const made: string[] = [];
  for (let round = 0; round < 6; round++) {
    const leader = await group.leader();
    const next = (leader % 3) + 1;
    const away = (next % 3) + 1;
    // From a snapshot of its own, or one that it is sent.
    await group.stop(away);
    for (let n = 0; n < 12; n++) {
      const name = `g${round}-${n}`;
      await make(leader, name);
      made.push(name);
    }
    if (round % 2 === 0) await group.of(leader).member.changeMembership({ kind: round % 4 === 0 ? 'addLearner' : 'remove', id: 4 });
    const started = start(away);
    await group.of(leader).member.transferLeadership(next);
    await started;
    const index = await group.of(await group.leader()).member.readIndex();
    for (const id of [1, 2, 3]) {
      const replica = replicas.get(id) as Replica;
      expect(await replica.reached(index, 30_000)).toBe(true);
      expect(Array.from(replica.state.groups.values(), ({ name }) => name).sort()).toEqual([...made].sort());
    }
  }
  expect(outOfOrder).toEqual([]);
}, 120_000);
