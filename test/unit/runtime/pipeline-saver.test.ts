import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IntakeBase } from '../../../worker/runtime/pipelines/intake.ts';
import { PipelineRecord } from '../../../worker/runtime/pipelines/pipeline-record.ts';
import { PipelineSaver, type SavedParts } from '../../../worker/runtime/pipelines/pipeline-saver.ts';
import { PipelineTally } from '../../../worker/runtime/pipelines/pipeline-tally.ts';
import type { IdleTicks, PipelineDefinition, RuntimeStorage } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import { SourceMarks } from '../../../worker/runtime/pipelines/source-marks.ts';

type Noted = Parameters<PipelineSaver['note']>[0];
type RecordResult = Parameters<PipelineSaver['note']>[1];

/** An engine that gives its state when the test says so, and a disk that notes what it is given. */
function saverUnderTest({
  hasEffect = true,
  failures = 0,
  pending = 0,
  intervalMs = 0,
  placed = undefined as ConstructorParameters<typeof PipelineSaver>[0]['placed'],
  lookups = undefined as SavedParts['lookups'],
} = {}) {
  const reports: unknown[] = [];
  const log: string[] = [];
  const disk = { isStuck: false };
  /** What the thread does before the disk has its turn. */
  const writing = { takes: (): unknown => undefined };
  const give: (() => void)[] = [];
  let program = 'old';
  const sinks = { save: () => ({}) as never, awaitCheckpoint: false, checkpointed: () => undefined, dlqEvents: 0, pending };
  const storage = {
    savePipeline: async ({ version }: PipelineDefinition, checkpoint: { state: Uint8Array } | null) => {
      writing.takes();
      if (failures-- > 0) throw new Error('ENOSPC: no space left on device, write');
      if (disk.isStuck) await new Promise(() => undefined);
      log.push(`version ${version}: state of the ${checkpoint && new TextDecoder().decode(checkpoint.state)} program`);
    },
    saveIdle: async (_id: string, { upTo, ticked }: IdleTicks) => void log.push(`idle up to ${upTo}, ticked at ${ticked}`),
  } as Pick<RuntimeStorage, 'savePipeline' | 'saveIdle'> as RuntimeStorage;
  const record = new PipelineRecord({ id: 'p_1', version: 1 } as PipelineDefinition, storage);
  const intake = {
    save: ((take) =>
      new Promise((resolve) => {
        const state = new TextEncoder().encode(program);
        give.push(() => resolve(take({ sequence: 5, state, durationMs: 0 })));
      })) as SavedParts['intake']['save'],
    rebase: ({ sequence, ticked }: IntakeBase) => void log.push(`base ${sequence}, ticked at ${ticked}`),
    forgetState: () => undefined,
    base: { sequence: 0, state: null },
    doneUpTo: 5,
    doneBytes: 0,
    isChanged: true,
  };
  const saver = new PipelineSaver(
    { pipelineId: 'p_1', intervalMs, arrivalTime: () => 0, report: ({ message, fields }) => void reports.push([message, fields]), placed },
    {
      intake,
      record,
      tally: new PipelineTally(),
      answers: { save: () => [] },
      sinks,
      marks: new SourceMarks(),
      ...(lookups && { lookups }),
    },
    { sequence: 0, deliveries: { sinks: [['Sink', Array(pending).fill({})]], letters: [] } },
  );
  const note = (entry: Partial<Noted>, events: number): void => {
    const result = { events, unreadable: null, outputs: { skipped: 0, time: [] }, deliveries: [], deadLetters: [], log: [] };
    saver.note({ format: null, time: 0, source: null, skip: [], ...entry }, result as unknown as RecordResult);
  };
  const tick = (time: number): void => note({ time }, 0);
  if (hasEffect) note({ format: 'event' }, 1);
  const reload = (): Promise<void> =>
    saver.whileSwitching(async () => {
      log.push('the program changes');
      await new Promise(setImmediate);
      program = 'new';
      await record.change(
        { version: 2 },
        saver.checkpointOf({ sequence: 5, state: new TextEncoder().encode('new'), stateFormat: undefined }),
      );
    });
  /** Saves if that is due, and gives what the disk has noted by then. */
  const saveWhenDue = async (): Promise<readonly string[]> => {
    saver.saveWhenDue();
    await new Promise(setImmediate);
    give.shift()?.();
    await new Promise(setImmediate);
    return log;
  };
  return { reports, saver, note, writing, log, disk, sinks, intake, tick, reload, saveWhenDue, giveState: () => give.shift()?.() };
}

// What writing takes is part of the time between saves.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('saves the state of the old program before another takes its place, never over the state of the new one', async () => {
  const { saver, log, reload, giveState } = saverUnderTest();
  const saved = saver.saveOrReport();
  const changed = reload();
  await new Promise(setImmediate);
  expect(log).toEqual([]);
  giveState();
  await Promise.all([saved, changed]);
  expect(log).toEqual(['version 1: state of the old program', 'the program changes', 'version 2: state of the new program']);
});

it('saves what a placed pipeline has besides in the format of its state, also when a later one is agreed on meanwhile', async () => {
  let agreed = 4;
  const formats: (number | undefined)[] = [];
  const save = (_positions: object, format: number) => {
    formats.push(format);
    return { ids: [], receipts: {}, routed: [] };
  };
  const { saver, giveState } = saverUnderTest({ placed: { stateFormat: () => agreed, save } });
  const saved = saver.saveOrReport();
  await new Promise(setImmediate);
  agreed = 5;
  giveState();
  expect(await saved).toBe(true);
  expect(formats).toEqual([4]);
});

it('asks no engine for its state while another takes its place', async () => {
  const { saver, log, reload, giveState } = saverUnderTest();
  const changed = reload();
  const saved = saver.saveOrReport();
  giveState(); // There is none to give yet.
  await changed;
  await new Promise(setImmediate);
  giveState();
  expect(await saved).toBe(true);
  expect(log).toEqual(['the program changes', 'version 2: state of the new program', 'version 2: state of the new program']);
});

it('goes on saving after a change that failed', async () => {
  const { saver, log, giveState } = saverUnderTest();
  const changed = saver.whileSwitching(() => Promise.reject(new Error('refused')));
  const saved = saver.saveOrReport();
  await expect(changed).rejects.toThrow('refused');
  await new Promise(setImmediate);
  giveState();
  expect(await saved).toBe(true);
  expect(log).toEqual(['version 1: state of the old program']);
});

it('saves the state once the disk takes it again, although nothing but ticks has come since', async () => {
  const { saver, log, giveState } = saverUnderTest({ failures: 1 });
  const failed = saver.saveOrReport();
  await new Promise(setImmediate);
  giveState();
  expect(await failed).toBe(false);
  const saved = saver.saveOrReport();
  await new Promise(setImmediate);
  giveState();
  expect(await saved).toBe(true);
  expect(log).toEqual(['version 1: state of the old program']);
});

it('leaves several times as long between saves as one takes, with what it takes to write down the answers', async () => {
  const { saver, note, writing, saveWhenDue } = saverUnderTest();
  writing.takes = () => vi.advanceTimersByTime(1_000);
  expect(await saveWhenDue()).toHaveLength(1);
  writing.takes = () => undefined;
  note({ format: 'event' }, 1);
  vi.advanceTimersByTime(19_999);
  expect(await saveWhenDue()).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await saveWhenDue()).toHaveLength(2);
  expect(saver.storedSequence).toBe(5);
});

it('has the last of the ticks without effect done again, so that what comes late comes late after a crash too', async () => {
  const { tick, saveWhenDue } = saverUnderTest();
  tick(1_000);
  expect(await saveWhenDue()).toEqual(['version 1: state of the old program']);
  for (let time = 3_000; time <= 61_000; time += 2_000) tick(time);
  expect((await saveWhenDue()).slice(1)).toEqual(['idle up to 4, ticked at 61000', 'base 4, ticked at 61000']);
});

it.each<[string, readonly number[]]>([
  ['does not follow another of the same engine', [1_000]],
  ['comes behind a time in which nobody listened', [1_000, 61_000]],
  ['comes by a clock that was set back', [61_000, 1_000]],
])('saves the state behind a tick that %s: what it heard of silence is not to be found from a later one', async (_, times) => {
  const { tick, saveWhenDue } = saverUnderTest({ hasEffect: false });
  let saved: readonly string[] = [];
  for (const time of times) {
    tick(time);
    saved = await saveWhenDue();
  }
  expect(saved).toEqual(times.map(() => 'version 1: state of the old program'));
});

describe('a checkpoint that lists what sinks have taken since', () => {
  const saved = 'version 1: state of the old program';

  it('is followed by one that does not when the process ends, although nothing else came through', async () => {
    const { saver, log, sinks, giveState } = saverUnderTest({ hasEffect: false, pending: 3 });
    sinks.pending = 0;
    const all = saver.saveAll();
    await new Promise(setImmediate);
    giveState();
    expect([await all, log]).toEqual([true, [saved]]);
  });

  it('is followed by one when that is due, each time that sinks have taken something and no other time', async () => {
    const { sinks, intake, saveWhenDue } = saverUnderTest({ hasEffect: false, pending: 3 });
    intake.isChanged = false;
    expect(await saveWhenDue()).toEqual([]);
    sinks.pending = 2;
    expect(await saveWhenDue()).toEqual([saved]);
    expect(await saveWhenDue()).toEqual([saved]);
    sinks.pending = 0;
    expect(await saveWhenDue()).toEqual([saved, saved]);
    expect(await saveWhenDue()).toEqual([saved, saved]);
  });

  it('is followed by one once the disk takes it, although nothing came through meanwhile', async () => {
    const { sinks, intake, saveWhenDue } = saverUnderTest({ hasEffect: false, pending: 1, failures: 1 });
    intake.isChanged = false;
    sinks.pending = 0;
    expect(await saveWhenDue()).toEqual([]);
    expect(await saveWhenDue()).toEqual([saved]);
  });

  it('is followed by one after a change of the program whose checkpoint was not kept', async () => {
    const { saver, sinks, intake, saveWhenDue } = saverUnderTest({ hasEffect: false, pending: 1 });
    intake.isChanged = false;
    sinks.pending = 0;
    const changed = saver.whileSwitching(async () => {
      saver.checkpointOf({ sequence: 5, state: new Uint8Array(), stateFormat: undefined });
      throw new Error('ENOSPC: no space left on device, write');
    });
    await expect(changed).rejects.toThrow('ENOSPC');
    expect(await saveWhenDue()).toEqual([saved]);
  });
});

describe('the age of what is saved', () => {
  const pass = (seconds: number): void => void vi.advanceTimersByTime(1_000 * seconds);

  it('is the time since a checkpoint that was kept, however many have failed since', async () => {
    const { saver, saveWhenDue } = saverUnderTest({ failures: 3, intervalMs: 10_000 });
    for (const age of [10, 20, 30]) {
      pass(10);
      expect(await saveWhenDue()).toEqual([]);
      expect(saver.ageSeconds).toBe(age);
    }
    pass(10);
    expect(await saveWhenDue()).toHaveLength(1);
    expect(saver.ageSeconds).toBe(0);
  });

  it('waits for the next time after a failure as after a success', async () => {
    const { saveWhenDue } = saverUnderTest({ failures: 1, intervalMs: 10_000 });
    pass(10);
    expect(await saveWhenDue()).toEqual([]);
    pass(9);
    expect(await saveWhenDue()).toEqual([]);
    pass(1);
    expect(await saveWhenDue()).toHaveLength(1);
  });

  it('does not grow while there is nothing to save', async () => {
    const { saver, intake, saveWhenDue } = saverUnderTest({ hasEffect: false });
    intake.isChanged = false;
    for (let n = 0; n < 10; n++) {
      pass(60);
      await saveWhenDue();
      expect(saver.ageSeconds).toBe(0);
    }
  });

  it('grows while the disk keeps a checkpoint waiting, although nothing comes in', async () => {
    const { saver, disk, intake, saveWhenDue } = saverUnderTest();
    disk.isStuck = true;
    await saveWhenDue();
    intake.isChanged = false;
    pass(60);
    await saveWhenDue();
    expect(saver.ageSeconds).toBe(60);
  });

  it('is that of the state, not of the moment in which it was on disk', async () => {
    const { saver, giveState } = saverUnderTest();
    const saved = saver.saveOrReport();
    await new Promise(setImmediate);
    pass(7);
    giveState();
    await saved;
    expect(saver.ageSeconds).toBe(7);
  });
});

it.each([
  ['look-ups: 3 in Users, the oldest for 11.0 s; 1 in Prices, the oldest for 2.0 s', [3, 0, 1]],
  ['the engine, which is at work', [0, 0, 0]],
])('says what a checkpoint waits for that waits for long, and since when: %s', async (told, counts) => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const names = ['Users', 'Codes', 'Prices'];
  const underWay = names.map((connector, at) => ({ connector, count: counts[at] ?? 0, oldestSeconds: [11, 0, 2][at] ?? 0 }));
  const { saver, reports, giveState } = saverUnderTest({ lookups: { underWay } });
  const saved = saver.saveOrReport();
  await new Promise(setImmediate);
  vi.advanceTimersByTime(9_999);
  expect([reports, saver.waitingSeconds]).toEqual([[], 9.999]);
  vi.advanceTimersByTime(20_000);
  expect(reports).toEqual([['Checkpoint waits', { pipeline: 'p_1', seconds: 10, for: told }]]);
  giveState();
  expect(await saved).toBe(true);
  expect([reports.length, saver.waitingSeconds]).toEqual([1, 0]);
});
