import { describe, expect, it } from 'vitest';
import { SimulatedDisk, slotBytes } from '../../../chaos/sim/disk.ts';
import type { Entry, Write } from '../../../coordinator/raft/core/messages.ts';
import { encodeIdentity, type Identity, keys } from '../../../coordinator/raft/storage/codec.ts';
import { firstStep, type LogStorage, type Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { type DiskImage, type Opened, openLog } from '../../../coordinator/raft/storage/open-log.ts';
import { nextSlot, sealWitness, type Witness } from '../../../coordinator/raft/storage/witness.ts';
import { WriteAhead } from '../../../coordinator/raft/storage/write-ahead.ts';
import { compacted, staged } from './snapshot-steps.ts';

const identity: Identity = { clusterId: 'cluster', nodeId: 1, incarnation: 1, voters: [1, 2, 3] };
const chunkBytes = 16;
const meta = { index: 7, term: 2, configuration: { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] } };

type Data = Extract<Opened, { kind: 'opened' }>;

/** A disk as a node leaves it that has written `log` in term 2 and voted for 3 there. */
class Disk {
  readonly disk = new SimulatedDisk();
  storage: LogStorage;

  constructor() {
    this.do(firstStep(identity, new Uint8Array(0), chunkBytes));
    this.disk.identity = encodeIdentity(identity);
    this.storage = this.open().storage;
  }

  do({ operations, witness }: Step): void {
    this.disk.batch(operations);
    if (witness) this.disk.writeWitness(sealWitness(witness, []).bytes);
  }

  try(image: DiskImage = this.disk.image()): Opened {
    return openLog(image, identity, chunkBytes);
  }

  open(image?: DiskImage): Data {
    const opened = this.try(image);
    if (opened.kind !== 'opened') throw new Error(opened.kind === 'refused' ? opened.reason : opened.kind);
    for (const step of opened.repair) this.do(step);
    this.storage = opened.storage;
    return opened;
  }

  /** A power cut when only the witness of the step has arrived, which holds the batch. */
  promise({ operations, witness }: Step): void {
    const sealed = witness && sealWitness(witness, operations, slotBytes);
    if (!sealed?.hasBatch) throw new Error('the batch does not fit');
    this.disk.writeWitness(sealed.bytes);
  }

  write(from: number, terms: readonly number[], change: Partial<Write> = {}): Step {
    const entries = terms.map((term, at): Entry => ({ index: from + at, term, kind: 'command', data: Uint8Array.of(term, at, 7) }));
    const hardState = { term: terms.at(-1) ?? 2, vote: 3, commit: 0 };
    return this.storage.write({ seq: 0, hardState, from, entries, snapshot: undefined, recovering: undefined, ...change });
  }
}

function filled(): Disk {
  const disk = new Disk();
  disk.do(disk.write(1, [1, 1, 1, 2, 2, 2]));
  return disk;
}

/** The same disk with one record changed. */
function damaged(disk: Disk, key: string, change: (bytes: Uint8Array) => Uint8Array | undefined): DiskImage {
  const image = disk.disk.image();
  const records = new Map(image.records);
  const value = change((records.get(key) as Uint8Array).slice());
  if (value === undefined) records.delete(key);
  else records.set(key, value);
  return { ...image, records };
}

function flipped(bytes: Uint8Array, at = 3): Uint8Array {
  bytes[at] = (bytes[at] as number) ^ 4;
  return bytes;
}

const entryCount = ({ recovered }: Data): number => recovered.entries.length;

describe('the log on disk', () => {
  it('opens as it was written, however often', () => {
    const disk = filled();
    for (let time = 0; time < 3; time++) {
      const { recovered, problems } = disk.open();
      expect(recovered.entries.map(({ index, term }) => [index, term])).toEqual([
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 2],
        [5, 2],
        [6, 2],
      ]);
      expect(recovered.hardState).toEqual({ term: 2, vote: 3, commit: 0 });
      expect(recovered.recovering).toBeUndefined();
      expect(problems).toEqual([]);
    }
  });

  it('has nothing to open before a node was made, and again when making one was broken off', () => {
    expect(openLog({ identity: undefined, records: new Map(), witness: undefined }, identity)).toEqual({ kind: 'absent' });
    const broken = new SimulatedDisk();
    broken.batch(firstStep(identity, new Uint8Array(0)).operations);
    expect(openLog(broken.image(), identity)).toEqual({ kind: 'absent' });
  });

  it('keeps what was written and not yet witnessed', () => {
    const disk = filled();
    disk.disk.batch(disk.write(7, [2]).operations);
    expect(entryCount(disk.open())).toBe(7);
  });

  it('has a write whose witness arrived before a power cut, and its batch did not', () => {
    const disk = filled();
    disk.promise(disk.write(5, [3, 3]));
    const opened = disk.open();
    expect(opened.recovered.entries.map(({ term }) => term)).toEqual([1, 1, 1, 2, 3, 3]);
    expect(opened.recovered.hardState.term).toBe(3);
    expect(opened.recovered.recovering).toBeUndefined();
    expect(opened.problems).toEqual([]);
    // And for good.
    expect(entryCount(disk.open())).toBe(6);
  });

  it('has it when a second power cut comes while it is written back', () => {
    const disk = filled();
    disk.promise(disk.write(7, [2]));
    const [first, ...others] = (disk.try() as Data).repair;
    if (first) disk.disk.batch(first.operations);
    expect(others).toEqual([]);
    expect(entryCount(disk.open())).toBe(7);
  });

  it('does not put back with the witness what was compacted since', () => {
    const disk = filled();
    const step = disk.write(7, [2]);
    disk.do(step);
    disk.promise(step);
    for (const done of compacted(disk.storage, meta, new Uint8Array(20), 0)) disk.do(done);
    const { recovered, state } = disk.open();
    expect(recovered.snapshot.index).toBe(7);
    expect(recovered.entries).toEqual([]);
    expect(state).toHaveLength(20);
  });

  it('still notices entries that are lost before those in the witness', () => {
    const disk = filled();
    disk.do(disk.write(7, [2]));
    disk.disk.loseBatches(1);
    disk.promise(disk.write(8, [2]));
    expect(disk.open().recovered.recovering).toMatchObject({ index: 8, term: 2 });
  });

  it('forgets what was not witnessed where it is damaged', () => {
    const disk = filled();
    disk.disk.batch(disk.write(7, [2, 2]).operations);
    const opened = disk.open(damaged(disk, keys.entry(8), flipped));
    expect(entryCount(opened)).toBe(6);
    expect(opened.recovered.recovering).toBeUndefined();
    expect(opened.problems[0]).toMatch(/^entry 8 cannot be read: its checksum does not fit/);
  });

  it('replaces the end of the log when a leader says so, even when the witness is one write behind', () => {
    const disk = filled();
    disk.disk.batch(disk.write(5, [3]).operations);
    const { recovered } = disk.open();
    expect(recovered.entries.map(({ term }) => term)).toEqual([1, 1, 1, 2, 3]);
    expect(recovered.recovering).toBeUndefined();
    expect(recovered.hardState.term).toBe(3);
  });

  it.each<[string, (disk: Disk) => DiskImage, number]>([
    ['a bit of an entry is flipped', (disk) => damaged(disk, keys.entry(5), flipped), 4],
    ['the last entry is gone', (disk) => damaged(disk, keys.entry(6), () => undefined), 5],
    ['there is a gap', (disk) => damaged(disk, keys.entry(3), () => undefined), 2],
    ['an entry is cut', (disk) => damaged(disk, keys.entry(2), (bytes) => bytes.slice(0, 5)), 1],
    [
      'an entry stands in the place of another',
      (disk) => damaged(disk, keys.entry(5), () => disk.disk.image().records.get(keys.entry(4))),
      4,
    ],
    ['the snapshot cannot be read', (disk) => damaged(disk, keys.manifest(0), flipped), 0],
    ['the pointer is gone', (disk) => damaged(disk, keys.pointer, () => undefined), 0],
  ])('does not vote when something promised is lost: %s', (_, damage, kept) => {
    const disk = filled();
    const opened = disk.open(damage(disk));
    expect(entryCount(opened)).toBe(kept);
    expect(opened.recovered.recovering).toMatchObject({ index: 6, term: 2 });
    expect(opened.recovered.hardState).toMatchObject({ term: 2, vote: 3 });
  });

  it('does not vote when a database has gone back to an older state that agrees with itself', () => {
    const disk = new Disk();
    disk.do(disk.write(1, [1, 1]));
    const older = disk.disk.image().records;
    disk.do(disk.write(3, [2, 2]));
    const opened = disk.open({ ...disk.disk.image(), records: older });
    expect(entryCount(opened)).toBe(2);
    expect(opened.recovered.recovering).toMatchObject({ index: 4, term: 2 });
    expect(opened.recovered.hardState).toMatchObject({ term: 2, vote: 3 });
  });

  it('does not forget that it has lost something when it stops before it has it again', () => {
    const disk = filled();
    disk.disk.loseBatches(1);
    expect(disk.open().recovered.recovering).toMatchObject({ index: 6, term: 2 });
    for (let time = 0; time < 3; time++) expect(disk.open().recovered.recovering).toMatchObject({ index: 6, term: 2 });
    disk.do(disk.write(1, [2, 2], { recovering: { index: 6, term: 2 } }));
    expect(disk.open().recovered.recovering).toMatchObject({ index: 6, term: 2 });
    disk.do(disk.write(3, [2, 2, 2, 2]));
    expect(disk.open().recovered.recovering).toBeUndefined();
  });

  it('takes the newer vote when the database has forgotten it and no entry', () => {
    const disk = filled();
    disk.do(disk.write(7, [], { hardState: { term: 5, vote: 2, commit: 0 } }));
    disk.disk.loseBatches(1);
    const { recovered } = disk.open();
    expect(recovered.hardState).toMatchObject({ term: 5, vote: 2 });
    expect(recovered.recovering).toBeUndefined();
  });

  it('believes the witness when the hard state cannot be read', () => {
    const disk = filled();
    const { recovered } = disk.open(damaged(disk, keys.hardState, flipped));
    expect(recovered.hardState).toMatchObject({ term: 2, vote: 3 });
    expect(recovered.entries).toHaveLength(6);
    expect(recovered.recovering).toBeUndefined();
  });

  /** Entries 7 and 8 are acknowledged, and only the witness has them. */
  function ahead() {
    const disk = filled();
    const writeAhead = new WriteAhead(slotBytes);
    const before = disk.disk.image().witness as Uint8Array;
    const newest = disk.write(7, [2]);
    const newer = disk.write(8, [2]);
    for (const { witness, operations } of [newest, newer]) {
      const sealed = writeAhead.seal(witness as Witness, operations);
      if (sealed === undefined) throw new Error('the batches do not fit');
      disk.disk.writeWitness(sealed);
    }
    const image = disk.disk.image();
    const witness = image.witness as Uint8Array;
    const from = nextSlot(witness) === 0 ? slotBytes : 0;
    return { disk, image, before, witness, from };
  }

  it('has what only the witness has, for good', () => {
    const { disk } = ahead();
    for (let time = 0; time < 3; time++) {
      const opened = disk.open();
      expect(entryCount(opened)).toBe(8);
      expect(opened.recovered.recovering).toBeUndefined();
    }
  });

  it.each<[string, (bytes: Uint8Array) => Uint8Array | undefined]>([
    ['cannot be read', flipped],
    ['is gone', () => undefined],
  ])('has what only the witness has when the hard state of the database %s, and says so', (_, change) => {
    const { disk } = ahead();
    const { recovered, problems } = disk.open(damaged(disk, keys.hardState, change));
    expect(recovered.entries.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(recovered.recovering).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/^the hard state cannot be read/)]);
    expect(disk.open()).toMatchObject({ recovered, problems: [] });
  });

  it('does not put back with the witness what was compacted since when the hard state cannot be read', () => {
    const disk = filled();
    for (const step of staged(disk.storage, { ...meta, index: 9 }, 99, new Uint8Array(20))) disk.do(step);
    const step = disk.write(10, [2], { snapshot: { ...meta, index: 9 } });
    disk.do(step);
    disk.promise(step);
    for (const done of compacted(disk.storage, { ...meta, index: 10 }, new Uint8Array(30), 0)) disk.do(done);
    const { recovered, state } = disk.open(damaged(disk, keys.hardState, flipped));
    expect([recovered.snapshot.index, state.length, recovered.recovering]).toEqual([10, 30, undefined]);
  });

  it('has what only the witness has whichever of its bytes is damaged', () => {
    const { disk, image, witness } = ahead();
    for (let at = 0; at < witness.length; at++) {
      const opened = disk.try({ ...image, witness: flipped(witness.slice(), at) });
      expect(opened.kind === 'opened' && [entryCount(opened), opened.recovered.recovering], `byte ${at}`).toEqual([8, undefined]);
    }
  });

  it('has the one before when a power cut leaves a part of the newest witness', () => {
    const { disk, image, before, witness, from } = ahead();
    for (let length = 0; length < slotBytes; length++) {
      const torn = witness.slice();
      torn.set(before.subarray(from + length, from + slotBytes), from + length);
      const opened = disk.try({ ...image, witness: torn });
      if (opened.kind !== 'opened') throw new Error(opened.kind);
      expect(opened.recovered.recovering, `${length} bytes`).toBeUndefined();
      expect([7, 8], `${length} bytes`).toContain(entryCount(opened));
    }
  });

  it('has what only the witness has while it is recovering, too, wherever a power cut breaks off the repair', () => {
    const recovering = { index: 6, term: 2 };
    const whole = new Disk();
    whole.do(whole.write(1, [1, 1, 1, 2, 2], { recovering }));
    const { operations, witness } = whole.write(6, [2], { recovering });
    whole.disk.writeWitness(new WriteAhead(slotBytes).seal(witness as Witness, operations) as Uint8Array);
    const { repair } = whole.open(whole.disk.image());
    for (let done = 0; done <= repair.length; done++) {
      const disk = new Disk();
      disk.do(disk.write(1, [1, 1, 1, 2, 2], { recovering }));
      disk.disk.writeWitness(new WriteAhead(slotBytes).seal(witness as Witness, operations) as Uint8Array);
      for (const step of repair.slice(0, done)) disk.do(step);
      const opened = disk.open();
      expect([entryCount(opened), opened.recovered.recovering], `${done} steps`).toEqual([6, recovering]);
    }
  });

  it('never takes what a power cut left of a witness for the newest one, when another tears the one written over it', () => {
    const disk = filled();
    const steps = [7, 8, 9].map((index) => disk.write(index, [2]));
    const { witness } = steps[2] as Step;
    const left = new WriteAhead(slotBytes).seal(
      witness as Witness,
      steps.flatMap(({ operations }) => operations),
    ) as Uint8Array;
    // The first copy did not arrive, and the second one did.
    const before = disk.disk.image().witness as Uint8Array;
    const from = nextSlot(before) * slotBytes;
    const torn = before.slice(from, from + left.length);
    torn.set(left.subarray(left.length / 2), left.length / 2);
    disk.disk.writeWitness(torn);
    expect(entryCount(disk.open())).toBe(6);
    const ahead = new WriteAhead(slotBytes);
    const seal = ({ witness, operations }: Step): Uint8Array => ahead.seal(witness as Witness, operations) as Uint8Array;
    disk.disk.writeWitness(seal(disk.write(7, [3])));
    disk.disk.writeWitness(seal(disk.write(8, [3])).subarray(0, 32));
    const { recovered } = disk.open();
    expect(recovered.entries.map(({ term }) => term)).toEqual([1, 1, 1, 2, 2, 2, 3]);
    expect(recovered.recovering).toBeUndefined();
  });

  it('goes on with one slot of the witness', () => {
    for (const slot of [0, slotBytes]) {
      const disk = filled();
      const image = disk.disk.image();
      const witness = (image.witness as Uint8Array).slice();
      flipped(witness, slot + 9);
      expect(disk.open({ ...image, witness }).recovered.recovering).toBeUndefined();
    }
  });

  it.each<[string, (disk: Disk) => DiskImage, RegExp]>([
    ['neither slot of the witness is whole', (disk) => ({ ...disk.disk.image(), witness: new Uint8Array(2 * slotBytes) }), /neither slot/],
    ['there is no witness', (disk) => ({ ...disk.disk.image(), witness: undefined }), /neither slot/],
    ['the database is empty', (disk) => ({ ...disk.disk.image(), records: new Map() }), /the database is empty/],
    ['the identity file is gone', (disk) => ({ ...disk.disk.image(), identity: undefined }), /no identity file/],
    [
      'the identity file and the witness are gone',
      (disk) => ({ ...disk.disk.image(), identity: undefined, witness: undefined }),
      /no identity file/,
    ],
    [
      'the identity file and the database are gone',
      (disk) => ({ ...disk.disk.image(), identity: undefined, records: new Map() }),
      /no identity file/,
    ],
    ['the identity file is damaged', (disk) => ({ ...disk.disk.image(), identity: flipped(encodeIdentity(identity)) }), /is damaged/],
    [
      'the identity file is that of another node',
      (disk) => ({ ...disk.disk.image(), identity: encodeIdentity({ ...identity, nodeId: 2 }) }),
      /of another node or incarnation/,
    ],
    [
      'a backup was restored',
      (disk) => ({ ...disk.disk.image(), identity: encodeIdentity({ ...identity, incarnation: 2 }) }),
      /incarnation/,
    ],
  ])('refuses to start, and says what to do: %s', (_, damage, reason) => {
    const opened = new Disk().try(damage(filled()));
    expect(opened).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(opened).toMatchObject({ reason: expect.stringMatching(/join under a new id$/) });
  });

  it('starts from a snapshot, whose parts it puts together', () => {
    const disk = filled();
    const configuration = { voters: [1, 2], outgoing: [], learners: [3], learnersNext: [] };
    const state = Uint8Array.from({ length: 50 }, (_, at) => at);
    for (const step of compacted(disk.storage, { index: 4, term: 2, configuration }, state, 2)) {
      disk.do(step);
      expect(disk.try()).toMatchObject({ kind: 'opened', problems: [] });
    }
    const opened = disk.open();
    expect(opened.recovered.snapshot).toEqual({ index: 4, term: 2, configuration });
    expect(opened.state).toEqual(state);
    expect(opened.recovered.entries.map(({ index }) => index)).toEqual([5, 6]);
    const lost = disk.open(damaged(disk, keys.chunk(1, 2), flipped));
    expect(lost.recovered).toMatchObject({ snapshot: { index: 0 }, entries: [], recovering: { index: 6, term: 2 } });
  });

  it('has its entries, and nothing left of a snapshot that a crash cut off, whatever was written in between', () => {
    const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
    const keysOf = (disk: Disk) => [...disk.disk.image().records.keys()].filter((key) => /^[sS]/.test(key));
    const long = new Uint8Array(20 * chunkBytes);
    for (let written = 1; written <= 5; written++) {
      const disk = filled();
      const steps = compacted(disk.storage, { index: 4, term: 2, configuration }, long, 1);
      for (let step = 1; step <= written; step++) {
        disk.do(steps.next().value as Step);
        disk.do(disk.write(6 + step, [2]));
      }
      const { recovered, problems } = disk.open();
      expect([recovered.snapshot.index, recovered.entries.length, problems]).toEqual([0, 6 + written, []]);
      expect(keysOf(disk)).toEqual([keys.manifest(0)]);
    }
    const disk = filled();
    for (const step of compacted(disk.storage, { index: 4, term: 2, configuration }, long, 1)) {
      // Two chunks, and the manifest.
      expect(step.operations.filter(({ type }) => type === 'put').length).toBeLessThanOrEqual(3);
      disk.do(step);
    }
    expect(disk.open().state).toEqual(long);
    expect(keysOf(disk)).toHaveLength(21);
  });

  it('leaves nothing of a snapshot that is given up', () => {
    const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
    const disk = filled();
    const before = [...disk.disk.image().records.keys()];
    const layout = disk.storage.layOut({ index: 4, term: 2, configuration }, new Uint8Array(20 * chunkBytes));
    const steps = layout.steps();
    for (let step = 0; step < 2; step++) disk.do(steps.next().value as Step);
    expect(() => layout.stored).toThrow('is not written yet');
    disk.do(layout.discard());
    expect([...disk.disk.image().records.keys()]).toEqual(before);
  });

  it('installs the snapshot of a leader in one write', () => {
    const disk = filled();
    const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
    for (const step of staged(disk.storage, { index: 20, term: 3, configuration }, 99, Uint8Array.of(1, 2, 3))) disk.do(step);
    expect(entryCount(disk.open())).toBe(6);
    for (const step of staged(disk.storage, { index: 20, term: 3, configuration }, 99, Uint8Array.of(1, 2, 3))) disk.do(step);
    disk.do(disk.write(21, [], { snapshot: { index: 20, term: 3, configuration }, hardState: { term: 3, vote: 0, commit: 20 } }));
    const opened = disk.open();
    expect(opened.recovered).toMatchObject({ snapshot: { index: 20, term: 3 }, entries: [], recovering: undefined });
    expect(opened.state).toEqual(Uint8Array.of(1, 2, 3));
    expect([...disk.disk.image().records.keys()].filter((key) => key.startsWith('l'))).toEqual([]);
  });

  it('never believes what was changed, whichever bit it is', () => {
    const disk = filled();
    const { recovered: whole } = disk.open();
    const { records } = disk.disk.image();
    for (const [key, value] of records)
      for (let bit = 0; bit < 8 * value.length; bit++) {
        const opened = disk.try(damaged(disk, key, (bytes) => flipped(bytes, bit >> 3)));
        if (opened.kind === 'refused') continue;
        if (opened.kind === 'absent') throw new Error(`a damaged ${key} passes for nothing`);
        const { recovered } = opened;
        expect(recovered.entries).toEqual(whole.entries.slice(0, recovered.entries.length));
        const isKept = recovered.entries.length === whole.entries.length && recovered.hardState.vote === 3;
        expect(isKept || recovered.recovering !== undefined, `${key} bit ${bit}`).toBe(true);
      }
  });
});
