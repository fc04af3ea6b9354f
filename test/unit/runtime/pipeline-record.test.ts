import { describe, expect, it } from 'vitest';
import { PipelineRecord } from '../../../worker/runtime/pipelines/pipeline-record.ts';
import type { PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from '../../../worker/runtime/pipelines/runtime-storage.ts';

/** A disk that takes its time: each write ends when the test says so. */
class SlowStorage {
  readonly begun: string[] = [];
  readonly #open: (() => void)[] = [];

  readonly storage: RuntimeStorage = {
    append: () => Promise.resolve(),
    savePipeline: ({ version }, checkpoint) => this.#write(`version ${version}${checkpoint ? ` with state ${checkpoint.sequence}` : ''}`),
    saveIdle: (_id, { upTo }) => this.#write(`idle ${upTo}`),
    readState: () => Promise.resolve(undefined),
    deletePipeline: () => this.#write('delete'),
  };

  #write(what: string): Promise<void> {
    this.begun.push(what);
    return new Promise((resolve) => this.#open.push(resolve));
  }

  /** Ends each write, and those that begin behind it, until none is left. */
  async endAll(): Promise<void> {
    while (this.#open.length > 0) {
      this.#open.shift()?.();
      await new Promise(setImmediate);
    }
  }
}

const definition = { id: 'p_1', version: 1, error: null, isStopped: false } as PipelineDefinition;
const state = (sequence: number): PipelineCheckpoint => ({ sequence }) as PipelineCheckpoint;

describe('the record of a pipeline', () => {
  it('keeps a state that comes while the program changes under the new program, never the old one again', async () => {
    const disk = new SlowStorage();
    const record = new PipelineRecord(definition, disk.storage);
    const done = Promise.all([record.change({ version: 2 }, state(7)), record.keep(state(9))]);
    await new Promise(setImmediate);
    expect(disk.begun).toEqual(['version 2 with state 7']);
    await disk.endAll();
    expect(await done).toEqual([undefined, true]);
    expect(disk.begun).toEqual(['version 2 with state 7', 'version 2 with state 9']);
  });

  it('makes one change after the other, each on top of the one before', async () => {
    const disk = new SlowStorage();
    const record = new PipelineRecord(definition, disk.storage);
    const done = Promise.all([record.change({ version: 2 }), record.change({ error: 'it hung' }), record.change({ isStopped: true })]);
    await new Promise(setImmediate);
    await disk.endAll();
    await done;
    expect(record.definition).toEqual({ id: 'p_1', version: 2, error: 'it hung', isStopped: true });
    expect(disk.begun).toEqual(['version 2', 'version 2', 'version 2']);
  });

  it('stays what it was when the disk does not take a change, and takes the next one', async () => {
    const refusal = new Error('no space');
    let isFull = true;
    const storage = { ...new SlowStorage().storage, savePipeline: () => (isFull ? Promise.reject(refusal) : Promise.resolve()) };
    const record = new PipelineRecord(definition, storage);
    await expect(record.change({ version: 2 })).rejects.toBe(refusal);
    expect(record.definition.version).toBe(1);
    isFull = false;
    await record.change({ error: 'it hung' });
    expect(record.definition).toMatchObject({ version: 1, error: 'it hung' });
  });

  it('writes nothing behind its deletion', async () => {
    const disk = new SlowStorage();
    const record = new PipelineRecord(definition, disk.storage);
    const done = Promise.all([record.delete(), record.keep(state(3)), record.change({ version: 2 })]);
    await new Promise(setImmediate);
    await disk.endAll();
    expect(await done).toEqual([undefined, false, undefined]);
    expect(disk.begun).toEqual(['delete']);
  });

  it('is there as before when the disk does not take its deletion, but not when it was given up', async () => {
    const refusal = new Error('no space');
    const disk = new SlowStorage();
    const record = new PipelineRecord(definition, { ...disk.storage, deletePipeline: () => Promise.reject(refusal) });
    const done = Promise.allSettled([record.delete(), record.keep(state(3))]);
    await new Promise(setImmediate);
    await disk.endAll();
    expect(await done).toMatchObject([{ reason: refusal }, { value: true }]);
    expect([record.isDeleted, disk.begun]).toEqual([false, ['version 1 with state 3']]);
    record.giveUp();
    expect(await record.keep(state(4))).toBe(false);
    expect(record.isDeleted).toBe(true);
  });
});
