import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SimulatedDisk } from '../../../chaos/sim/disk.ts';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import type { Entry, LogPoint, Write } from '../../../coordinator/raft/core/messages.ts';
import { LevelDisk } from '../../../coordinator/raft/driver/level-disk.ts';
import { encodeIdentity, type Identity } from '../../../coordinator/raft/storage/codec.ts';
import { firstStep, type LogStorage, type Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { type DiskImage, type Opened, openLog } from '../../../coordinator/raft/storage/open-log.ts';
import { sealWitness } from '../../../coordinator/raft/storage/witness.ts';
import { compacted, staged } from './snapshot-steps.ts';

const identity: Identity = { clusterId: 'cluster', nodeId: 1, incarnation: 1, voters: [1, 2, 3] };
const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };

/** What a driver needs of a disk. */
interface Disk {
  readonly create: () => Promise<void>;
  readonly write: (step: Step) => Promise<void>;
  /** Stops without closing anything in order, and reads what is there. */
  readonly reopen: () => Promise<DiskImage>;
  readonly close: () => Promise<void>;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function levelDisk(): Promise<Disk> {
  let opened = await LevelDisk.open(folder);
  return {
    create: () => opened.disk.create(identity, new Uint8Array(0)),
    write: (step) => opened.disk.write(step),
    reopen: async () => {
      await opened.disk.close();
      opened = await LevelDisk.open(folder);
      return opened.image;
    },
    close: () => opened.disk.close(),
  };
}

async function simulatedDisk(): Promise<Disk> {
  const disk = new SimulatedDisk();
  const write = async ({ operations, witness }: Step): Promise<void> => {
    disk.batch(operations);
    if (witness) disk.writeWitness(sealWitness(witness, []).bytes);
  };
  return {
    create: async () => {
      await write(firstStep(identity, new Uint8Array(0)));
      disk.identity = encodeIdentity(identity);
    },
    write,
    reopen: async () => disk.image(),
    close: async () => undefined,
  };
}

function opened(image: DiskImage): Extract<Opened, { kind: 'opened' }> {
  const found = openLog(image, identity);
  if (found.kind !== 'opened') throw new Error(found.kind === 'refused' ? found.reason : found.kind);
  return found;
}

function writeOf(from: number, terms: readonly number[], recovering?: LogPoint): Write {
  const entries = terms.map(
    (term, at): Entry => ({ index: from + at, term, kind: 'command', data: Buffer.from(`${from + at} of ${term}`) }),
  );
  const hardState = { term: terms.at(-1) ?? 1, vote: 2, commit: 0 };
  return { seq: 0, hardState, from, entries, snapshot: undefined, recovering };
}

describe.each([
  ['LevelDB', levelDisk],
  ['the simulated disk', simulatedDisk],
] as const)('%s as the disk of a Raft node', (_, make) => {
  async function made(): Promise<{ disk: Disk; storage: LogStorage }> {
    const disk = await make();
    await disk.create();
    const { storage, repair } = opened(await disk.reopen());
    for (const step of repair) await disk.write(step);
    return { disk, storage };
  }

  it('starts with nothing', async () => {
    const disk = await make();
    expect(openLog(await disk.reopen(), identity)).toEqual({ kind: 'absent' });
    await disk.close();
  });

  it('has every write of a long run after it starts again, whatever is written', async () => {
    const random = seededRandom(11);
    let { disk, storage } = await made();
    let model: { index: number; term: number }[] = [];
    let [base, term] = [0, 1];
    for (let round = 0; round < 60; round++) {
      const end = base + model.length;
      const action = random(10);
      if (action < 6) {
        const from = end + 1 - random(Math.min(4, model.length + 1));
        if (from <= end) term++;
        const terms = Array.from({ length: random(6) }, () => term);
        await disk.write(storage.write(writeOf(from, terms.length === 0 ? [] : terms)));
        model = [...model.slice(0, from - base - 1), ...terms.map((found, at) => ({ index: from + at, term: found }))];
        if (terms.length === 0) model = model.slice(0, from - base - 1);
      } else if (action === 6 && model.length > 2) {
        const at = model[random(model.length - 1)] as LogPoint;
        for (const step of compacted(storage, { ...at, configuration }, Buffer.alloc(random(600_000), round), random(3)))
          await disk.write(step);
        model = model.filter(({ index }) => index > at.index);
        base = at.index;
      } else if (action === 7) {
        const meta = { index: end + 5, term, configuration };
        for (const step of staged(storage, meta, round, Buffer.from(`state ${round}`))) await disk.write(step);
        await disk.write(storage.write({ ...writeOf(end + 6, []), snapshot: meta }));
        [model, base] = [[], end + 5];
      }
      if (random(3) > 0) continue;
      const found = opened(await disk.reopen());
      expect(found.recovered.entries.map(({ index, term: of }) => ({ index, term: of }))).toEqual(model);
      expect(found.recovered.snapshot.index).toBe(base);
      expect(found.problems).toEqual([]);
      for (const step of found.repair) await disk.write(step);
      storage = found.storage;
    }
    await disk.close();
  });

  it('has nothing left of what was removed', async () => {
    const { disk, storage } = await made();
    await disk.write(storage.write(writeOf(1, [1, 1, 1, 1, 1, 1])));
    await disk.write(storage.write(writeOf(4, [2])));
    for (const step of compacted(storage, { index: 3, term: 1, configuration }, Buffer.alloc(700_000), 1)) await disk.write(step);
    const { records } = await disk.reopen();
    expect([...records.keys()].filter((key) => key.startsWith('l'))).toHaveLength(2);
    expect([...records.keys()].filter((key) => key.startsWith('s'))).toHaveLength(3);
    await disk.close();
  });
});

describe('LevelDB as the disk of a Raft node', () => {
  /** 300 acknowledged entries in a folder nobody has open. */
  async function filled(): Promise<void> {
    const disk = await levelDisk();
    await disk.create();
    const { storage, repair } = opened(await disk.reopen());
    for (const step of repair) await disk.write(step);
    for (let index = 1; index <= 300; index += 5) await disk.write(storage.write(writeOf(index, [1, 1, 1, 1, 1])));
    await disk.close();
  }

  /** What a node makes of the folder after it was changed; `kept` counts the entries that are right. */
  async function afterwards(): Promise<string> {
    const { disk, image } = await LevelDisk.open(folder);
    await disk.close();
    const found = openLog(image, identity);
    if (found.kind !== 'opened') return found.kind;
    const { entries, recovering } = found.recovered;
    for (const { index, data } of entries) expect(Buffer.from(data).toString()).toBe(`${index} of 1`);
    expect(entries.length === 300 || recovering !== undefined, `${entries.length} entries and nothing noticed`).toBe(true);
    return recovering ? 'recovering' : 'whole';
  }

  function filesOf(kind: RegExp): string[] {
    return readdirSync(join(folder, 'log'))
      .filter((name) => kind.test(name))
      .map((name) => join(folder, 'log', name));
  }

  it('cannot be opened twice', async () => {
    const disk = await levelDisk();
    await expect(LevelDisk.open(folder)).rejects.toThrow(/is open in another process/);
    await disk.close();
  });

  it('never forgets an acknowledged entry unnoticed when bits of its files flip', async () => {
    await filled();
    const untouched = `${folder}-untouched`;
    cpSync(folder, untouched, { recursive: true });
    const random = seededRandom(5);
    const seen: Record<string, number> = {};
    for (let run = 0; run < 60; run++) {
      rmSync(folder, { recursive: true });
      cpSync(untouched, folder, { recursive: true });
      const files = [...filesOf(/\.(log|ldb)$|^MANIFEST/).filter((path) => statSync(path).size > 0), join(folder, 'witness')];
      const path = files[random(files.length)] as string;
      const bytes = readFileSync(path);
      const at = random(Math.min(bytes.length, path.endsWith('witness') ? 4_200 : bytes.length));
      bytes[at] = (bytes[at] as number) ^ (1 << random(8));
      writeFileSync(path, bytes);
      const outcome = await afterwards();
      seen[outcome] = (seen[outcome] ?? 0) + 1;
    }
    rmSync(untouched, { recursive: true });
    // Otherwise the files that matter were not met.
    expect(seen['recovering']).toBeGreaterThan(5);
    expect(seen['whole']).toBeGreaterThan(5);
  }, 60_000);

  it('says that entries are lost when its log is cut at any place', async () => {
    await filled();
    const [log] = filesOf(/\.log$/).sort((a, b) => statSync(b).size - statSync(a).size);
    if (log === undefined) throw new Error('the database has no log');
    const whole = readFileSync(log);
    for (const part of [0.99, 0.7, 0.3, 0]) {
      writeFileSync(log, whole.subarray(0, Math.floor(whole.length * part)));
      expect(await afterwards()).not.toBe('whole');
      for (const path of filesOf(/./)) rmSync(path);
      rmSync(folder, { recursive: true });
      await filled();
    }
  }, 60_000);

  it.each([
    ['the list of its files is gone', () => rmSync(join(folder, 'log', 'CURRENT')), 'refused'],
    ['the database is gone', () => rmSync(join(folder, 'log'), { recursive: true }), 'refused'],
    ['the witness is gone', () => rmSync(join(folder, 'witness')), 'refused'],
    ['the identity is gone', () => rmSync(join(folder, 'identity')), 'refused'],
    ['the identity is damaged', () => writeFileSync(join(folder, 'identity'), 'x'), 'refused'],
  ])('does not start as if nothing had happened when %s', async (_, damage, outcome) => {
    await filled();
    damage();
    expect(await afterwards()).toBe(outcome);
  });

  it.each([
    ['CURRENT', 'Is a directory'],
    ['LOCK', 'Is a directory'],
  ])('does not take for lost what the system does not let it read: %s', async (name, reason) => {
    await filled();
    const path = join(folder, 'log', name);
    const before = readFileSync(join(folder, 'witness'));
    const bytes = readFileSync(path);
    rmSync(path);
    mkdirSync(path);
    const started = afterwards();
    await expect(started).rejects.toMatchObject({ code: 'io_error', message: expect.stringMatching(reason) });
    expect(readFileSync(join(folder, 'witness'))).toEqual(before);
    rmSync(path, { recursive: true });
    writeFileSync(path, bytes);
    expect(await afterwards()).toBe('whole');
  });

  it('notices a database of an earlier day beside the witness of today', async () => {
    await filled();
    const disk = await levelDisk();
    await disk.close();
    const backup = `${folder}-backup`;
    cpSync(join(folder, 'log'), backup, { recursive: true });
    const later = await LevelDisk.open(folder);
    const found = opened(later.image);
    for (const step of found.repair) await later.disk.write(step);
    await later.disk.write(found.storage.write(writeOf(301, [1])));
    await later.disk.close();
    rmSync(join(folder, 'log'), { recursive: true });
    cpSync(backup, join(folder, 'log'), { recursive: true });
    rmSync(backup, { recursive: true });
    const restored = await LevelDisk.open(folder);
    await restored.disk.close();
    expect(opened(restored.image).recovered.recovering).toMatchObject({ index: 301, term: 1 });
  });

  it('gives back the space of snapshots that newer ones replaced, and keeps all else', async () => {
    await filled();
    const { disk, image } = await LevelDisk.open(folder, 0);
    const { storage, repair } = opened(image);
    for (const step of repair) await disk.write(step);
    const state = new Uint8Array(6_000_000).fill(7);
    for (const index of [20, 40, 60, 80, 100, 120])
      for (const step of compacted(storage, { index, term: 1, configuration }, state, 10)) await disk.write(step);
    const used = (): number => filesOf(/./).reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
    const before = used();
    disk.reclaim();
    await vi.waitFor(() => expect(used()).toBeLessThan(state.length * 1.1), { timeout: 20_000 });
    // Otherwise there was nothing to give back.
    expect(before).toBeGreaterThan(state.length * 1.5);
    await disk.close();
    const after = await LevelDisk.open(folder);
    await after.disk.close();
    const { recovered, state: kept } = opened(after.image);
    expect(Buffer.compare(kept, state)).toBe(0);
    expect([recovered.entries[0]?.index, recovered.entries.at(-1)?.index]).toEqual([121, 300]);
  }, 30_000);

  it('does nothing more after a write that failed', async () => {
    await filled();
    const { disk, image } = await LevelDisk.open(folder);
    const { storage, repair } = opened(image);
    for (const step of repair) await disk.write(step);
    await disk.close();
    await expect(disk.write(storage.write(writeOf(301, [1])))).rejects.toThrow();
    await expect(disk.write(storage.write(writeOf(302, [1])))).rejects.toThrow('a write before this one failed');
  });
});
