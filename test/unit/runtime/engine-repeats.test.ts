import { describe, expect, it } from 'vitest';
import { EngineSwitch, type SwitchParts } from '../../../worker/runtime/pipelines/engine-switch.ts';
import { Intake, type IntakeOwner } from '../../../worker/runtime/pipelines/intake.ts';
import { newEntry } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import type { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';
import type { EngineThread, NewCall, SlotOwner } from '../../../worker/runtime/threads/engine-thread.ts';
import type { RecordResult, WorkRecord } from '../../../worker/runtime/threads/messages.ts';

const INPUTS = 600;

/** Works through what it was sent when the test says so; its state is the number of the last input. Answers calls behind what was sent before. */
class SlowThread {
  readonly #tasks: (() => void)[] = [];
  #owner: SlotOwner | undefined;
  #last = 0;

  attach(owner: SlotOwner): number {
    this.#owner = owner;
    return 1;
  }

  settle(): void {
    // It has one engine.
  }

  detach(): void {
    this.#owner = undefined;
  }

  send({ sequence }: WorkRecord): void {
    this.#tasks.push(() => {
      this.#last = sequence;
      this.#owner?.result({ sequence, failure: null } as RecordResult);
    });
  }

  call(call: NewCall, take: (value: unknown) => unknown = (value) => value): Promise<unknown> {
    if (call.kind === 'load') return Promise.resolve({});
    return new Promise((resolve) => {
      this.#tasks.push(() => resolve(take({ state: Uint8Array.of(this.#last >> 8, this.#last & 255), durationMs: 1 })));
    });
  }

  work(): void {
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) task();
  }

  lose(): void {
    this.#owner?.lost(undefined, 'another program hung');
  }
}

const load = {} as Parameters<Intake['open']>[0];
const place = { tenantId: 't', isSuspect: false, state: null };

/** A pipeline whose thread was lost after many inputs, and that is on another one, which has worked through none of them. */
async function onAnotherThread() {
  let thread = new SlowThread();
  const through: number[] = [];
  const owner: IntakeOwner = {
    result: ({ sequence }) => void through.push(sequence),
    ...{ counters: () => undefined, question: () => undefined, lost: () => undefined },
  };
  const pool = { place: () => thread as unknown as EngineThread } as unknown as EnginePool;
  const intake = new Intake(owner, pool, { sequence: 0, state: null });
  await intake.open(load, place);
  const accept = (sequence: number): void =>
    intake.accept(newEntry({ body: Uint8Array.of(1), format: 'batch' }, { sequence, time: 0, settle: null, idempotencyKey: null }));
  for (let sequence = 1; sequence <= INPUTS; sequence++) accept(sequence);
  thread.work();
  const lost = thread;
  thread = new SlowThread();
  lost.lose();
  await intake.open(load, place);
  return { intake, through, accept, work: () => thread.work(), lose: () => thread.lose() };
}

const save = (intake: Intake): Promise<number> =>
  intake.save(({ sequence, state: [high = 0, low = 0] }) => {
    expect(high * 256 + low).toBe(sequence);
    return sequence;
  });

/** Works on until nothing more comes of it. */
async function workOn({ work }: { readonly work: () => void }): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    work();
    await new Promise(setImmediate);
  }
}

describe('an engine on another thread, which is sent again what the lost one had worked through', () => {
  it('says its state when it has been sent all of that', async () => {
    const pipeline = await onAnotherThread();
    const saved = save(pipeline.intake);
    await workOn(pipeline);
    expect(await saved).toBe(INPUTS);
    expect(pipeline.through).toHaveLength(INPUTS);
  });

  it('is sent that although the sinks take no more, and nothing else', async () => {
    const pipeline = await onAnotherThread();
    pipeline.intake.pause();
    pipeline.accept(INPUTS + 1);
    const saved = save(pipeline.intake);
    await workOn(pipeline);
    expect(await saved).toBe(INPUTS);
    expect(pipeline.intake.hasWork).toBe(true);
    pipeline.intake.resume();
    await workOn(pipeline);
    expect(pipeline.intake.hasWork).toBe(false);
    expect(pipeline.through).toHaveLength(INPUTS + 1);
  });

  it.each([
    ['its thread is lost too', ({ lose }: { readonly lose: () => void }) => lose()],
    ['the pipeline ends', ({ intake }: { readonly intake: Intake }) => intake.close()],
  ])('says no state when %s before', async (_, end) => {
    const pipeline = await onAnotherThread();
    const saved = save(pipeline.intake);
    end(pipeline);
    await expect(saved).rejects.toMatchObject({ code: 'not_ready' });
  });

  it('gives way to another program behind that, and not before', async () => {
    const pipeline = await onAnotherThread();
    const { intake } = pipeline;
    let sequence = 0;
    const parts = {
      intake,
      saver: {
        whileSwitching: (change: () => Promise<unknown>) => change(),
        checkpointOf: (made: { readonly sequence: number }) => {
          sequence = made.sequence;
        },
        isSaved: () => undefined,
      },
      record: { definition: { program: {} }, change: async () => undefined },
      tally: { counts: () => ({}) },
      marks: { restore: () => undefined },
      clock: { notBefore: () => undefined },
      connect: () => undefined,
    };
    const changed = new EngineSwitch(parts as never as SwitchParts).watch(true);
    await workOn(pipeline);
    await changed;
    expect(sequence).toBe(INPUTS);
    expect(intake.base.sequence).toBe(INPUTS);
  });
});
