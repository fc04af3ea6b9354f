import { expect, it, onTestFinished, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import type { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { ArrivalClock } from '../../../worker/runtime/arrival-clock.ts';
import { IdempotencyWindow } from '../../../worker/runtime/pipelines/idempotency-window.ts';
import { type Entry, Intake } from '../../../worker/runtime/pipelines/intake.ts';
import { PipelineEvents } from '../../../worker/runtime/pipelines/pipeline-events.ts';
import { digestOf } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import type { ResultHandler } from '../../../worker/runtime/pipelines/result-handler.ts';
import type { LoggedRequest, RuntimeStorage } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import { SourceMarks } from '../../../worker/runtime/pipelines/source-marks.ts';
import type { InjectRequest, InjectResult } from '../../../worker/runtime/service.ts';
import type { Admission } from '../../../worker/runtime/tenants/event-meter.ts';
import type { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';

const nobody = { result: () => undefined, counters: () => undefined, question: () => undefined, lost: () => undefined };
const admit = (): never => {
  throw new Error('a repeated request is not counted');
};

it.each([
  ['a request', (events: PipelineEvents, request: InjectRequest) => events.inject(request, admit)],
  [
    'what a webhook has received',
    (events: PipelineEvents, { body, timeField, idempotencyKey }: InjectRequest) =>
      events.feed({ body, timeField, mark: { id: 'Hook', position: null }, isTold: true, idempotencyKey: idempotencyKey as string }, admit),
  ],
])(
  '%s that the log holds and that comes again is refused when the pipeline fails over it, and kept for the next start',
  async (_, repeat) => {
    const intake = new Intake(nobody, {} as EnginePool, { sequence: 0, state: null });
    const answers = new IdempotencyWindow<InjectResult>(() => 1);
    const clock = new ArrivalClock({ wallMs: () => 0, elapsedMs: () => 0 });
    const events = new PipelineEvents(
      {
        pipelineId: 'p_1',
        nextSequence: () => 2,
        clock,
        storage: null,
        tracer: undefined,
        outputs: undefined,
        beforeInput: () => undefined,
      },
      { intake, answers, results: {} as ResultHandler, sinks: {} as PipelineSinks, marks: new SourceMarks() },
    );
    const request: InjectRequest = { body: Buffer.from('{}\n'), format: 'ndjson', outputs: false, idempotencyKey: 'k' };
    const logged: LoggedRequest = {
      ...{ kind: 'request', pipelineId: 'p_1', sequence: 1, format: 'ndjson', timeField: undefined, time: 0 },
      ...{ idempotency: { key: 'k', digest: digestOf(request) }, outputs: false, bytes: request.body },
    };
    events.recover(logged, []);
    for (const reason of ['failed', 'failed again']) {
      const refusal = new CepError('pipeline_not_running', reason);
      const repeated = repeat(events, request);
      expect(events.refuseAll(refusal)).toEqual([]);
      await expect(repeated).rejects.toBe(refusal);
      expect(intake.hasWork).toBe(true);
    }
  },
);

it.each([
  ['where nobody takes outputs', undefined],
  ['where somebody takes outputs', { push: () => undefined, isFull: () => false }],
])('what a webhook has received %s is found whether a build before hashed that or not, and has its digest', async (_, outputs) => {
  const answers = new IdempotencyWindow<InjectResult>(() => 1);
  const clock = new ArrivalClock({ wallMs: () => 0, elapsedMs: () => 0 });
  const digests: unknown[] = [];
  const storage = {
    append: async ({ idempotency }: LoggedRequest) => {
      digests.push(idempotency?.digest);
      throw new CepError('storage_unavailable', 'the disk is full');
    },
  } as unknown as RuntimeStorage;
  const events = new PipelineEvents(
    { ...{ pipelineId: 'p_1', nextSequence: () => 1, clock, storage, tracer: undefined, outputs }, beforeInput: () => undefined },
    {
      intake: new Intake(nobody, {} as EnginePool, { sequence: 0, state: null }),
      answers,
      results: { enter: () => undefined, leave: () => undefined } as unknown as ResultHandler,
      sinks: {} as PipelineSinks,
      marks: new SourceMarks(),
    },
  );
  const feed = (text: string, idempotencyKey: string, count: () => Admission): Promise<unknown> =>
    events.feed(
      { body: Buffer.from(text), timeField: undefined, mark: { id: 'Hook', position: null }, isTold: true, idempotencyKey },
      count,
    );
  const digest = (asked: boolean): string => digestOf({ body: Buffer.from('{}\n'), format: 'ndjson', outputs: asked });
  for (const asked of [true, false]) {
    answers.load([['k', digest(asked), 0, {} as InjectResult]], 0);
    await expect(feed('{}\n', 'k', admit)).resolves.toBeUndefined();
    await expect(feed('{"n":1}\n', 'k', admit)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  }
  const admission: Admission = { events: 1, correct: () => undefined };
  await expect(feed('{}\n', 'new', () => admission)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(digests).toEqual([digest(outputs !== undefined)]);
});

it('tells whoever waits for a log that does not answer that nobody knows, and keeps what will be known for the key', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const intake = new Intake(nobody, {} as EnginePool, { sequence: 0, state: null });
  const answers = new IdempotencyWindow<InjectResult>(() => 1);
  let kept = (): void => undefined;
  const storage = { append: () => new Promise<void>((resolve) => (kept = resolve)) } as unknown as RuntimeStorage;
  const entered: Entry[] = [];
  const events = new PipelineEvents(
    {
      pipelineId: 'p_1',
      nextSequence: () => 2,
      clock: new ArrivalClock({ wallMs: () => 0, elapsedMs: () => 0 }),
      storage,
      tracer: undefined,
      outputs: undefined,
      beforeInput: () => undefined,
    },
    {
      intake,
      answers,
      results: { enter: (entry: Entry) => entered.push(entry) } as unknown as ResultHandler,
      sinks: {} as PipelineSinks,
      marks: new SourceMarks(),
    },
  );
  const request: InjectRequest = { body: Buffer.from('{}\n'), format: 'ndjson', durable: true, idempotencyKey: 'k' };
  const asked = [events.inject(request, () => ({}) as Admission), events.inject(request, admit)];
  const codes = Promise.all(asked.map((answer) => answer.catch(({ code }: CepError) => code)));
  vi.advanceTimersByTime(10_000);
  events.answerLate();
  expect(await codes).toEqual(['outcome_unknown', 'outcome_unknown']);
  const [entry] = entered;
  expect(entry).toMatchObject({ isReady: false });
  kept();
  await new Promise(setImmediate);
  expect(entry).toMatchObject({ isReady: true, isDropped: false });
  const again = events.inject(request, admit);
  events.answerLate();
  entry?.settle?.resolve({ errors: [], accepted: 1 } as unknown as InjectResult);
  expect(await again).toMatchObject({ repeated: true, accepted: 1 });
});

it('says of what a source has read, and waits for look-ups, when it is through', async () => {
  const intake = new Intake(nobody, {} as EnginePool, { sequence: 0, state: null });
  const entered: Entry[] = [];
  const clock = new ArrivalClock({ wallMs: () => 0, elapsedMs: () => 0 });
  const events = new PipelineEvents(
    {
      ...{ pipelineId: 'p_1', nextSequence: () => 1, clock, storage: null, tracer: undefined, outputs: undefined },
      ...{ beforeInput: () => undefined, isLookingUp: () => true },
    },
    {
      intake,
      answers: new IdempotencyWindow<InjectResult>(() => 1),
      results: { enter: (entry: Entry) => entered.push(entry) } as unknown as ResultHandler,
      sinks: {} as PipelineSinks,
      marks: new SourceMarks(),
    },
  );
  const feed = (): ReturnType<PipelineEvents['feed']> =>
    events.feed(
      { body: Buffer.from('{}\n'), timeField: undefined, mark: { id: 'S', position: { at: 1 } }, isTold: false },
      () => ({}) as Admission,
    );
  const through = vi.fn();
  const [one, other] = [await feed(), await feed()];
  void one?.through.then(through);
  await new Promise(setImmediate);
  expect(through).not.toHaveBeenCalled();
  entered[0]?.settle?.resolve({} as InjectResult);
  await new Promise(setImmediate);
  expect(through).toHaveBeenCalledOnce();
  entered[1]?.settle?.reject(new CepError('pipeline_not_running', 'failed'));
  await expect(other?.through).rejects.toThrow('failed');
});
