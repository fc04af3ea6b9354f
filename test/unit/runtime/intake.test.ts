import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { Intake } from '../../../worker/runtime/pipelines/intake.ts';
import { deferred, newEntry, tickEntry } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import type { LoggedRecord } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import type { InjectResult } from '../../../worker/runtime/service.ts';
import { frameOf, readFrames } from '../../../worker/runtime/storage/log-frame.ts';
import { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';
import type { RecordResult } from '../../../worker/runtime/threads/messages.ts';

const owner = { result: () => undefined, counters: () => undefined, question: () => undefined, lost: () => undefined };

it('whoever waits for the inputs of a pipeline waits no longer when it is given up, though what came from sources stays', async () => {
  const pool = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  try {
    const intake = new Intake(owner, pool, { sequence: 0, state: null });
    const source = { id: 'Kafka/orders', position: { offset: 1 } };
    const request = { body: Buffer.from('{}'), format: 'ndjson' } as const;
    intake.accept(newEntry(request, { sequence: 1, time: 1, settle: null, idempotencyKey: null, source }));
    let isDrained = false;
    const drained = intake.drained().then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDrained).toBe(false);
    expect(intake.refuseAll(new CepError('pipeline_not_running', 'it has failed'))).toEqual([]);
    await drained;
    expect(intake.hasWork).toBe(true);
    await intake.drained();
  } finally {
    await pool.close();
  }
});

it('takes times that a connector has read by their size, and those of requests as milliseconds, also where a cluster sends them', async () => {
  const pool = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  try {
    const times: number[] = [];
    const heard = { ...owner, result: (_: unknown, { outputs }: RecordResult) => void times.push(...outputs.time) };
    const intake = new Intake(heard, pool, { sequence: 0, state: null });
    const program = { source: 'event A: n: int\nstream S = A.emit(n)\n', files: {} };
    const folder = { path: '.', refused: [] };
    await intake.open({ program, folder, strictEvents: false, isWatched: false }, { tenantId: 't', isSuspect: false, state: null });
    const read = { id: 'K/a', position: null };
    for (const [at, source] of [null, { ...read, answer: 'whole' as const }, read].entries()) {
      // A plain event, and one that is not.
      const lines = ['"data":{"n":1}', '"data":{"n":1,"m":{}}'].map((data) => `{"event_type":"A","timestamp":1700000000,${data}}\n`);
      const request = { body: Buffer.from(lines.join('')), format: 'ndjson', outputs: true } as const;
      intake.accept(newEntry(request, { sequence: at + 1, time: 1, settle: null, idempotencyKey: null, source }));
    }
    await intake.drained();
    const [ms, s] = [1_700_000_000, 1_700_000_000_000];
    expect(times).toEqual([ms, ms, ms, ms, s, s]);
  } finally {
    await pool.close();
  }
});

it('nothing stays of what came from sources where nobody will work on it any more', async () => {
  const pool = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  try {
    const intake = new Intake(owner, pool, { sequence: 0, state: null });
    const source = { id: 'File/orders', position: { offset: 1 } };
    const { promise, settle } = deferred<InjectResult>();
    const request = { body: Buffer.from('{}'), format: 'ndjson' } as const;
    intake.accept(newEntry(request, { sequence: 1, time: 1, settle, idempotencyKey: null, source }));
    const reason = new CepError('pipeline_not_running', 'it is not here any more');
    intake.refuseAll(reason, { isGone: true });
    await expect(promise).rejects.toBe(reason);
    expect(intake.hasWork).toBe(false);
  } finally {
    await pool.close();
  }
});

it('what the log holds from before is refused by no failure', async () => {
  const pool = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  try {
    const intake = new Intake(owner, pool, { sequence: 0, state: null });
    const request = { body: Buffer.from('{}'), format: 'ndjson' } as const;
    const common = { time: 1, settle: null, idempotencyKey: null };
    intake.accept(newEntry(request, { ...common, sequence: 1, isRecovered: true }));
    intake.accept(newEntry(request, { ...common, sequence: 2 }));
    const reason = new CepError('pipeline_not_running', 'it has failed');
    expect(intake.refuseAll(reason).map(({ sequence }) => sequence)).toEqual([2]);
    expect(intake.hasWork).toBe(true);
    expect(intake.refuseAll(reason, { isGone: true }).map(({ sequence }) => sequence)).toEqual([1]);
  } finally {
    await pool.close();
  }
});

it('an engine comes to the same state, byte by byte, by what the log holds of partitions, from the beginning and from the middle', async () => {
  const pool = new EnginePool({ threads: 1, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  const text = `
connector K = kafka(brokers: "127.0.0.1:9092")
event Reading:
    at: timestamp
stream Counted = Reading.from(K, topic: "a").watermark(idle: 5s).window(10s).aggregate(n: count()).emit(n)
`;
  const began = 1_700_000_000_000;
  let sequence = 0;
  const tick = (seconds: number): LoggedRecord => ({
    kind: 'tick',
    sequence: ++sequence,
    time: began + seconds * 1_000,
    pipelineIds: ['p'],
  });
  const request = (seconds: number, partition: string, at: readonly number[], awaited?: readonly string[]): LoggedRecord => {
    const lines = at.map((second) => `{"event_type":"Reading","at":${began - 600_000 + second * 1_000}}\n`);
    return {
      ...{ kind: 'request', pipelineId: 'p', sequence: ++sequence, format: 'ndjson', time: began + seconds * 1_000 },
      ...{ idempotency: null, outputs: false, bytes: Buffer.from(lines.join('')) },
      source: { id: 'K/a', position: null, partition, awaited },
    };
  };
  const live = [
    ...[tick(0), request(1, '0', [1, 12, 25], ['0', '1']), tick(2), request(3, '1', [2, 13]), tick(4)],
    // The first partition becomes idle, and comes back; then the other is waited for once more.
    ...[request(6, '1', [14, 31]), tick(9), request(10, '0', [44]), tick(11), request(12, '0', [55], ['1']), tick(13)],
  ];
  const logged = [...readFrames(Buffer.concat(live.map(frameOf)), 0)].map((found) => (found as { readonly record: LoggedRecord }).record);
  const stateOf = async (records: readonly LoggedRecord[], state: Uint8Array | null = null): Promise<Uint8Array> => {
    const intake = new Intake(owner, pool, { sequence: 0, state });
    const folder = { path: '.', refused: [] };
    await intake.open(
      { program: { source: text, files: {} }, folder, strictEvents: false, isWatched: false },
      { tenantId: 't', isSuspect: false, state },
    );
    for (const record of records) {
      if (record.kind === 'tick') intake.accept(tickEntry(record));
      if (record.kind !== 'request') continue;
      const { bytes, format, outputs, source = null, time } = record;
      intake.accept(
        newEntry({ body: bytes, format, outputs }, { sequence: record.sequence, time, settle: null, idempotencyKey: null, source }),
      );
    }
    await intake.drained();
    const saved = await intake.save(({ state: now }) => now);
    intake.close();
    return saved;
  };
  const textOf = (state: Uint8Array): string => Buffer.from(state).toString();
  try {
    const whole = textOf(await stateOf(live));
    expect(textOf(await stateOf(logged))).toBe(whole);
    for (const middle of [2, 4, 6, 8, 10]) {
      expect(textOf(await stateOf(logged.slice(middle), await stateOf(logged.slice(0, middle))))).toBe(whole);
    }
    // As earlier versions wrote it.
    const without = logged.map((record) => (record.kind === 'request' ? { ...record, source: { id: 'K/a', position: null } } : record));
    expect(textOf(await stateOf(without))).not.toBe(whole);
  } finally {
    await pool.close();
  }
});
