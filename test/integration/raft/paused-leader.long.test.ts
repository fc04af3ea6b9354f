import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePorts, peersOn } from './local-peers.ts';
import { pauseLeader } from './paused-leader.ts';
import { ProcessGroup } from './process-group.ts';

let folder: string;
let group: ProcessGroup;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new ProcessGroup(folder, peersOn(await freePorts(3)), 50);
  await Promise.all(group.ids.map((id) => group.start(id)));
});
afterEach(async () => {
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

it.each([20, 60])('a leader that stood still for %i s serves nothing stale when it wakes up', async (pauseSeconds) => {
  group.startClients(2);
  await group.progress(30);
  await pauseLeader(group, pauseSeconds * 1_000);
  expect(group.verdict()).toEqual({ kind: 'linearizable' });
});
