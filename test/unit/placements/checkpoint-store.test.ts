import { describe, expect, it } from 'vitest';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from '../../../worker/membership/coordinator-client.ts';
import { CheckpointStore } from '../../../worker/placements/checkpoint-store.ts';
import type { PipelineCheckpoint } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import { unseal } from '../../../worker/runtime/storage/sealed-value.ts';

const checkpoint: PipelineCheckpoint = {
  ...{ sequence: 1, state: Buffer.from('{}'), savedAt: 0, answers: [], deliveries: { sinks: [], letters: [] }, sources: {} },
  counts: { eventsProcessed: 0, outputEventsEmitted: 0, eventsInvalid: 0, eventsRefused: 0 },
};

/** Checkpoints of a placement whose next life has begun under epoch 2 once `isOver`. */
function storeOf(answer: (request: CoordinatorRequest) => CoordinatorAnswer): {
  readonly life: { isOver: boolean; stale: number };
  readonly asked: string[];
  readonly store: CheckpointStore;
} {
  const life = { isOver: false, stale: 0 };
  const asked: string[] = [];
  const store = new CheckpointStore({
    ...{ isFormer: () => false, isOfChange: () => false, pause: async () => undefined },
    placementId: 'p',
    coordinators: {
      url: 'any',
      learn: () => undefined,
      ask: async (request) => {
        asked.push(`${request.method} ${request.path.replace(/\?.*/, '')}`);
        return answer(request);
      },
    },
    epoch: () => (life.isOver ? 2 : 1),
    isOver: () => life.isOver,
    onCommit: () => undefined,
    onStale: () => {
      life.stale++;
    },
  });
  return { life, asked, store };
}

const ok = (body: object, status = 200): CoordinatorAnswer => ({
  ...{ status, bytes: Buffer.from(JSON.stringify(body)), code: undefined, message: undefined },
});
const isOver = expect.objectContaining({ code: 'pipeline_not_running' });

describe('a checkpoint of a life that is over', () => {
  it('is not sent under the epoch of the next life when it had to wait for what became of the one before', async () => {
    const made = storeOf(({ method, path }) => {
      if (path.endsWith('/commit')) throw new NoCoordinator('nobody answers');
      if (method === 'GET') made.life.isOver = true;
      return method === 'GET' ? { ...ok({}), status: 404 } : ok({ locations: ['c1'] });
    });
    await expect(made.store.savePipeline({} as never, checkpoint)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(made.store.savePipeline({} as never, checkpoint)).rejects.toEqual(isOver);
    expect(made.asked).toEqual(['PUT /checkpoints/p/1/1', 'POST /checkpoints/p/1/1/commit', 'GET /checkpoints/p']);
  });

  it('is not committed when the life ended while its bytes were sent', async () => {
    const made = storeOf(() => {
      made.life.isOver = true;
      return ok({ locations: ['c1'] });
    });
    await expect(made.store.savePipeline({} as never, checkpoint)).rejects.toEqual(isOver);
    expect([made.asked, made.store.manifest]).toEqual([['PUT /checkpoints/p/1/1'], undefined]);
  });
});

describe('a checkpoint under an epoch that is over', () => {
  it('fails, so that it is made again under the next one, and has the coordinators asked', async () => {
    let isOver = true;
    const made = storeOf(({ path }) => {
      if (isOver && path.endsWith('/commit')) return { ...ok({}, 409), code: 'stale_epoch', message: 'its epoch is 2' };
      return ok({ locations: ['c1'] });
    });
    await expect(made.store.savePipeline({} as never, checkpoint)).rejects.toMatchObject({
      ...{ code: 'storage_unavailable', message: 'the coordinators refuse the checkpoint: its epoch is 2' },
    });
    expect([made.life.stale, made.store.manifest]).toEqual([1, undefined]);
    isOver = false;
    await made.store.savePipeline({} as never, checkpoint);
    expect([made.life.stale, made.store.manifest?.sequence]).toEqual([1, 1]);
  });
});

it('a checkpoint is one of a version before where that reads it, and else one that it refuses', async () => {
  const versions: number[] = [];
  const { store } = storeOf(({ method, body }) => {
    if (method === 'PUT') versions.push(unseal<{ readonly version: number }>(body as Uint8Array)?.head.version ?? 0);
    return ok({ locations: ['c1'] });
  });
  for (const stateFormat of [undefined, 4, 5]) {
    await store.savePipeline({} as never, { ...checkpoint, ...(stateFormat !== undefined && { stateFormat }) });
  }
  expect(versions).toEqual([1, 1, 2]);
});
