import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { Intake } from '../../../worker/runtime/pipelines/intake.ts';
import { deferred, newEntry } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import type { InjectResult } from '../../../worker/runtime/service.ts';
import { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';

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
