import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wait } from './group.ts';
import { freePorts, peersOn } from './local-peers.ts';
import { ProcessGroup } from './process-group.ts';

/** The library that makes a sync fail is compiled for the test. */
const hasCompiler = spawnSync('cc', ['--version']).status === 0;
/** A disk that can be filled is a tmpfs, which root alone may mount. */
const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

let folder: string;
let group: ProcessGroup;
const closes: (() => void)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new ProcessGroup(folder, peersOn(await freePorts(3)), 20);
});
afterEach(async () => {
  await group.stopAll();
  for (const close of closes.splice(0)) close();
  rmSync(folder, { recursive: true, force: true });
});

/** Beside what is loaded, the file with this name of a member says that its disk fails or is slow. */
function loaded(): string {
  const library = join(folder, 'failing-sync.so');
  const source = fileURLToPath(new URL('./failing-sync.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  return library;
}

describe('a leader whose disk is slower than those of the others', () => {
  it.skipIf(!hasCompiler)(
    'hands over to one that goes on without waiting for it',
    async () => {
      const library = loaded();
      const switchOf = (id: number): string => join(folder, `slow-${id}`);
      const environmentOf = (id: number) => ({ environment: { LD_PRELOAD: library, CEP_SLOW_SYNC: switchOf(id) } });
      await Promise.all(group.ids.map((id) => group.start(id, environmentOf(id))));
      group.startClients(4);
      await group.progress(40);
      const slow = await group.leader();
      writeFileSync(switchOf(slow), '');
      const handsOver = 'Raft leader hands over: its disk is slower than those of the others';
      await vi.waitFor(() => expect(group.members.get(slow)?.lines).toContain(handsOver), wait);
      await vi.waitFor(async () => expect(await group.leader()).not.toBe(slow), wait);
      await group.progress(60);
      expect(group.verdict()).toEqual({ kind: 'linearizable' });
    },
    120_000,
  );
});

describe('a member whose disk fails', () => {
  it.skipIf(!hasCompiler)(
    'ends with exit code 4 when a write cannot be made durable, and nothing acknowledged is lost',
    async () => {
      const library = loaded();
      const switchOf = (id: number): string => join(folder, `failing-${id}`);
      const environmentOf = (id: number) => ({ environment: { LD_PRELOAD: library, CEP_FAILING_SYNC: switchOf(id) } });
      await Promise.all(group.ids.map((id) => group.start(id, environmentOf(id))));
      group.startClients(4);
      await group.progress(40);
      const leader = await group.leader();
      writeFileSync(switchOf(leader), '');
      const failing = group.members.get(leader);
      expect(await failing?.ended).toBe(4);
      expect(failing?.stderr).toMatch(/the Raft log in '.*' cannot be written: .*(EIO|Input\/output error)/);
      await group.progress(40);
      rmSync(switchOf(leader));
      await group.start(leader, environmentOf(leader));
      await group.progress(40);
      expect(group.verdict()).toEqual({ kind: 'linearizable' });
    },
    120_000,
  );

  it.skipIf(!mayMount)(
    'ends with exit code 4 when its disk is full, does not start before there is space, and then has everything',
    async () => {
      const disk = join(folder, 'small');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
      closes.push(() => execFileSync('umount', [disk]));
      const small = 3;
      const dataDir = join(disk, 'data');
      await Promise.all(group.ids.map((id) => group.start(id, id === small ? { dataDir } : {})));
      group.startClients(4);
      await group.progress(40);
      const filler = join(disk, 'filler');
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(filler, Buffer.alloc(bavail * bsize - 8_192));
      const full = group.members.get(small);
      expect(await full?.ended).toBe(4);
      expect(full?.stderr).toMatch(/cannot be written: .*(ENOSPC|No space left on device)/);
      const again = await group.start(small, { dataDir });
      expect(await again.ended).toBe(4);
      expect(again.stderr).toMatch(/has 0 MiB left, and a member of a Raft group needs 64/);
      await group.progress(40);
      rmSync(filler);
      const member = await group.start(small, { dataDir });
      await group.progress(40);
      await vi.waitFor(() => expect(member.isRunning && member.isStarted).toBe(true), wait);
      expect(group.verdict()).toEqual({ kind: 'linearizable' });
    },
    120_000,
  );
});
