import { describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { BudgetDrops } from '../../../worker/runtime/pipelines/budget-drops.ts';
import type { PipelineContext } from '../../../worker/runtime/pipelines/pipeline-context.ts';
import { deferred } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import { type LifeParts, PipelineLife } from '../../../worker/runtime/pipelines/pipeline-life.ts';
import { PipelineRecord } from '../../../worker/runtime/pipelines/pipeline-record.ts';
import type { PipelineDefinition } from '../../../worker/runtime/pipelines/runtime-storage.ts';

interface HeldUp {
  readonly life: PipelineLife;
  /** How often its program was put on a thread. */
  readonly opened: () => number;
  readonly breakThreads: () => void;
  /** Its thread is lost after everything was through, and then its sources end. What it returns: all is through once more. */
  readonly lose: () => () => void;
  readonly workThrough: () => void;
}

/**
 * A pipeline that runs, and whose sinks take no more: what a source has given is worked through once nobody looks at that, or is refused.
 * The source ends when it is. `isStuck`: its thread does nothing. `isLate`: the source ends later.
 */
async function heldUp({ isStuck = false, isLate = false, connect = (_: unknown): void => undefined } = {}): Promise<HeldUp> {
  const [through, ended] = [deferred<void>(), deferred<void>()];
  let repeated: Promise<void> | undefined;
  let given = deferred<void>();
  let [opened, isBroken] = [0, false];
  const intake = {
    base: { sequence: 0, state: null },
    ...{ acceptedUpTo: 0, hasWorkUpTo: () => false },
    open: async () => {
      opened++;
      if (isBroken) throw new Error('no thread');
      given = deferred<void>();
      return { summary: {} };
    },
    close: () => undefined,
    call: async () => undefined,
    drained: () => repeated ?? Promise.race([through.promise, given.promise]),
  };
  const events = {
    finishing: (isFinishing: boolean) => isFinishing && !isStuck && through.settle.resolve(),
    refuseAll: (_: CepError, { isGone = false } = {}) => {
      if (isGone) through.settle.resolve();
      given.settle.resolve();
      return [];
    },
  };
  const none = async (): Promise<void> => undefined;
  const parts = {
    record: new PipelineRecord({ id: 'p_1', error: null, isStopped: false } as PipelineDefinition, null),
    ...{ intake, events },
    sinks: { idle: none, settled: none, close: none, openCircuits: [], pending: 0 },
    sources: { start: none, stop: () => (isLate ? ended : through).promise, problems: [] },
    ...{ lookups: { close: none }, tally: { drops: new BudgetDrops() }, ring: { end: () => undefined }, connect },
    saver: { saveWhole: async () => true, saveAll: async () => true, storedSequence: 0, report: () => undefined },
  };
  const life = new PipelineLife({ folderOf: () => null, report: () => undefined } as never as PipelineContext, parts as never as LifeParts);
  await life.start();
  const breakThreads = (): void => {
    isBroken = true;
  };
  const lose = (): (() => void) => {
    const again = deferred<void>();
    repeated = again.promise;
    life.lost(undefined, 'killed');
    ended.settle.resolve();
    return again.settle.resolve;
  };
  return { life, opened: () => opened, breakThreads, lose, workThrough: through.settle.resolve };
}

it('a pipeline that an earlier version has kept reads by what this one says of its program', async () => {
  const connected: unknown[] = [];
  const { life } = await heldUp({ connect: (summary) => void connected.push(summary) });
  const [kept, told] = [undefined, {}];
  expect(connected).toEqual([kept, told]);
  await life.stop();
  await life.start();
  expect(connected).toEqual([kept, told, told]);
});

describe('a pipeline whose sinks take no more', () => {
  it.each([
    ['stop', (life: PipelineLife) => life.stop()],
    ['shutdown', (life: PipelineLife) => life.shutdown()],
    ['close', (life: PipelineLife) => life.close(() => undefined)],
  ])('finishes what its sources wait for: %s', async (_, end) => {
    const { life } = await heldUp();
    await end(life);
    expect(life.status).toBe('stopped');
  });

  it('is put on another thread while it finishes for a restore, and runs on', async () => {
    const { life, opened, workThrough } = await heldUp({ isStuck: true });
    const finishing = life.exclusive(() => life.finish());
    await new Promise(setImmediate);
    life.lost(undefined, 'killed');
    await new Promise(setImmediate);
    expect(opened()).toBe(2);
    workThrough();
    await finishing;
    expect(life.status).toBe('running');
  });

  it('is put on another thread by who drains, where its recovery waits for a change that waits for the lost thread', async () => {
    const { life, opened, workThrough } = await heldUp({ isStuck: true });
    const change = deferred<void>();
    const changed = life.exclusive(() => change.promise);
    const stopping = life.stop();
    life.lost({ entry: undefined, index: 0 }, 'hung');
    change.settle.reject(new Error('its thread is gone'));
    await expect(changed).rejects.toThrow('its thread is gone');
    await vi.waitUntil(() => opened() === 2);
    workThrough();
    await stopping;
    await life.exclusive(async () => undefined);
    expect([opened(), life.status]).toEqual([2, 'stopped']);
  });

  it('has what a thread had that is lost while its sources end, before another state takes its place', async () => {
    const { life, opened, lose, workThrough } = await heldUp({ isStuck: true, isLate: true });
    workThrough();
    const finishing = life.exclusive(() => life.finish());
    await new Promise(setImmediate);
    const again = lose();
    let isFinished = false;
    void finishing.then(() => {
      isFinished = true;
    });
    await new Promise(setImmediate);
    expect([opened(), isFinished]).toEqual([2, false]);
    again();
    await finishing;
  });

  it('ends what was under way when it is given up', async () => {
    const { life } = await heldUp({ isStuck: true });
    const closing = life.close(() => undefined);
    await new Promise(setImmediate);
    life.abandon(new CepError('pipeline_not_running', 'the placement is not here any more'));
    expect(await closing).toBe(false);
  });

  it('ends what was under way when it fails, though its sources wait for what stays', async () => {
    const { life, breakThreads } = await heldUp({ isStuck: true });
    breakThreads();
    const stopping = life.stop();
    await new Promise(setImmediate);
    life.lost(undefined, 'killed');
    await stopping;
    expect(life.status).toBe('stopped');
  });
});
