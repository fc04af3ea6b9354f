import { afterEach, describe, expect, it } from 'vitest';
import { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';
import type { SaveReply } from '../../../worker/runtime/threads/messages.ts';
import { type LoadedProgram, WarmEngine } from '../../../worker/runtime/threads/warm-engine.ts';

const owner = { result: () => undefined, counters: () => undefined, question: () => undefined, lost: () => undefined };
const program = { source: 'stream Pairs = A as a -> B as b where key == a.key .emit(key: key)', files: {} };
const loaded: LoadedProgram = { program, folder: { path: '.', refused: [] }, strictEvents: false, isWatched: false };

const pools: EnginePool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function pool(): EnginePool {
  const made = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  pools.push(made);
  return made;
}

const onThreads = (of: EnginePool): number => of.threads.reduce((sum, { pipelines }) => sum + pipelines, 0);
const save = async (place: { thread: { call: <T>(call: never) => Promise<T> }; slot: number }): Promise<string> =>
  Buffer.from((await place.thread.call<SaveReply>({ kind: 'save', slot: place.slot } as never)).state).toString();

describe('an engine that waits for its state', () => {
  it('is taken over where it is, and goes on with the state as one that was loaded with it', async () => {
    const engines = pool();
    const thread = engines.place({ tenantId: 'cluster', isSuspect: false });
    const first = thread.attach(owner);
    await thread.call({ kind: 'load', slot: first, state: null, ...loaded });
    const bytes = Buffer.from(JSON.stringify({ events: [{ event_type: 'A', fields: { key: 'k' }, timestamp: 1_700_000_000_000 }] }));
    const record = {
      slot: first,
      sequence: 1,
      format: 'batch',
      timeField: null,
      time: 1_700_000_000_000,
      outputsMax: 1,
      skip: [],
    } as const;
    thread.send(record, bytes);
    const state = await save({ thread, slot: first });
    const warm = await WarmEngine.open(engines, 'cluster', loaded);
    expect(onThreads(engines)).toBe(2);
    const place = warm.take(owner, loaded);
    if (place === undefined) throw new Error('it is gone');
    expect(await save(place)).not.toBe(state);
    await place.thread.call({ kind: 'fill', slot: place.slot, state: Buffer.from(state) });
    expect(await save(place)).toBe(state);
    warm.leave();
    expect([onThreads(engines), warm.take(owner, loaded)]).toEqual([2, undefined]);
  });

  it('is not given for another program, nor once it was left or its thread is gone', async () => {
    const engines = pool();
    const warm = await WarmEngine.open(engines, 'cluster', loaded);
    expect(warm.take(owner, { ...loaded, program: { ...program } })).toBeUndefined();
    expect(warm.take(owner, { ...loaded, isWatched: true })).toBeUndefined();
    warm.leave();
    expect([warm.take(owner, loaded), onThreads(engines)]).toEqual([undefined, 0]);
    const other = await WarmEngine.open(engines, 'cluster', loaded);
    engines.place({ tenantId: 'cluster', isSuspect: false }).kill('a test');
    expect(other.take(owner, loaded)).toBeUndefined();
  });

  it('leaves nothing on the thread when the program does not start', async () => {
    const engines = pool();
    const wrong = { ...loaded, program: { source: 'stream = ', files: {} } };
    await expect(WarmEngine.open(engines, 'cluster', wrong)).rejects.toThrow();
    expect(onThreads(engines)).toBe(0);
  });
});
