import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { Intake } from '../../../worker/runtime/pipelines/intake.ts';
import { newEntry } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
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
  } finally {
    await pool.close();
  }
});
