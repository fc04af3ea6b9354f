import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { LATEST_STATE_FORMAT } from '../../../worker/engine/state/format.ts';
import type { RuntimeStorage } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import { ContentIds } from '../../../worker/runtime/placed/content-ids.ts';
import type { PlacedPipeline } from '../../../worker/runtime/placed/placement-host.ts';
import { createRuntime } from '../../../worker/runtime/runtime.ts';

const source = 'stream S = A .emit(n: n)\n';

it('of two placed pipelines of one id each can be given up, and only that one ends', async () => {
  const runtime = await createRuntime({ engineThreads: 1, report: () => undefined });
  await runtime.start();
  const { placements } = runtime;
  const given: string[] = [];
  const place = async (name: string): Promise<PlacedPipeline> => {
    const storage: RuntimeStorage = {
      savePipeline: async () => undefined,
      readState: async () => undefined,
      append: async () => undefined,
      saveIdle: async () => undefined,
      deletePipeline: async () => void given.push(name),
    };
    return placements.place({
      ...{ id: 'p', name, program: await placements.check({ source }), checkpoint: undefined, opened: Promise.resolve() },
      placing: {
        ...{ storage, ids: new ContentIds('p'), mayDeliver: () => true, now: Date.now, tickTime: () => undefined },
        outputs: { push: () => undefined, isFull: () => false },
        ...{ clockSpoke: () => undefined, taken: async () => undefined, safe: async () => undefined, replica: () => undefined },
        ...{ stateFormat: () => LATEST_STATE_FORMAT, save: () => ({ ids: [], receipts: {}, routed: [] }) },
      },
    });
  };
  const reason = new CepError('pipeline_not_running', 'it is not here any more');
  const shown = (): string[] => runtime.pipelines.all().map(({ name }) => name);
  try {
    const [first, second] = [await place('first'), await place('second')];
    placements.abandon(first, reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect([given, shown()]).toEqual([['first'], ['second']]);
    placements.abandon(second, reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect([given, shown()]).toEqual([['first', 'second'], []]);
  } finally {
    await runtime.shutdown({ deadlineMs: 5_000 });
  }
});
