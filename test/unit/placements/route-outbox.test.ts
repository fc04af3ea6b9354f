import { describe, expect, it } from 'vitest';
import { RouteOutbox, type SavedOutbox } from '../../../worker/placements/route-outbox.ts';
import type { Output } from '../../../worker/runtime/service.ts';

/** A sender whose receiver has a checkpoint of all that it was sent, or of nothing. */
function outboxOf(saved: SavedOutbox = []) {
  const world = { isDurable: true, sent: 0, wanted: [] as (() => boolean)[] };
  let last = 0;
  const outbox = new RouteOutbox({
    ...{
      placementId: 's',
      epoch: () => 1,
      mayDeliver: () => true,
      report: () => undefined,
      now: () => 0,
      saved,
      onChange: () => undefined,
    },
    post: async (_url, body) => {
      const { batches } = JSON.parse(body) as {
        readonly batches: readonly { readonly sequence: number; readonly events: readonly unknown[] }[];
      };
      for (const { sequence, events } of batches) {
        world.sent += sequence > last ? events.length : 0;
        last = Math.max(last, sequence);
      }
      const answer = { received: last, durable: world.isDurable ? last : 0, results: [] };
      return { status: 200, code: undefined, message: undefined, body: answer };
    },
    wait: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    saveUntil: async (isSaved) => {
      world.wanted.push(isSaved);
      await new Promise(() => undefined);
    },
  });
  const targets = [{ placement_id: 'r', replica: 0, address: 'http://r', epoch: 1 }];
  outbox.setRoutes([{ event_types: ['*'], targets }]);
  let made = 0;
  const push = async (events: number): Promise<void> => {
    for (let at = 0; at < events; at++) outbox.push({ id: `e${made++}`, eventType: 'A', timestamp: 1, fieldsJson: '{}' } as Output);
    while (world.sent < made + (saved[0]?.[1].length ?? 0)) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { world, outbox, push };
}

describe('what a receiver would get twice if its sender went on from its last checkpoint', () => {
  it('is bounded by checkpoints of the sender, which holds back until one counts', async () => {
    const { world, outbox, push } = outboxOf();
    await push(25_000);
    expect([world.wanted.length, outbox.isFull]).toEqual([0, false]);
    await push(1);
    expect([world.wanted.map((isSaved) => isSaved()), outbox.isFull]).toEqual([[false], false]);
    await push(24_999);
    expect(outbox.isFull).toBe(false);
    await push(1);
    expect(outbox.isFull).toBe(true);

    const saved = outbox.save();
    outbox.committed([]);
    expect(outbox.isFull).toBe(true);
    await push(10);
    outbox.committed(saved);
    expect([outbox.isFull, world.wanted[0]?.()]).toEqual([false, true]);
    await push(25_000);
    expect(world.wanted[0]?.()).toBe(false);
    outbox.close();
  });

  it('asks for no checkpoint of the sender that would not help: it waits for those of the receiver', async () => {
    const { world, outbox, push } = outboxOf([['r', [{ id: 'before', type: 'A', time: 1, fieldsJson: '{}' }]]]);
    world.isDurable = false;
    await push(50_000);
    expect([world.wanted.length, outbox.isFull]).toEqual([0, true]);
    outbox.close();
  });
});

describe('events on their way to a replica that leaves', () => {
  const key = 'k';
  const targetsOf = (count: number, name = 'b') =>
    Array.from({ length: count }, (_, replica) => ({
      placement_id: `g:${name}:${replica}`,
      replica,
      address: `http://${name}${replica}`,
      epoch: 1,
    }));

  function outboxTo(isThere: (host: string) => boolean) {
    const got = new Map<string, string[]>();
    const said: object[] = [];
    const outbox = new RouteOutbox({
      ...{ placementId: 's', epoch: () => 1, mayDeliver: () => true, now: () => 0, saved: [], onChange: () => undefined },
      report: ({ message, fields }) => said.push({ message, ...fields }),
      post: async (url, body) => {
        const { host } = new URL(url);
        if (!isThere(host)) throw new Error('it does not answer');
        const { batches } = JSON.parse(body) as { batches: { sequence: number; events: { id: string }[] }[] };
        const known = got.get(host) ?? [];
        got.set(host, [...known, ...batches.flatMap(({ events }) => events.map(({ id }) => id))]);
        return {
          status: 200,
          code: undefined,
          message: undefined,
          body: { received: batches.at(-1)?.sequence ?? 0, durable: 0, results: [] },
        };
      },
      wait: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      saveUntil: async () => undefined,
    });
    const push = (count: number): void => {
      for (let n = 0; n < count; n++) outbox.push({ id: `e${n}`, eventType: 'A', timestamp: 1, fieldsJson: `{"k":${n}}` } as Output);
    };
    return { outbox, push, got, said };
  }

  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('wait for it while a route without types leads there, and go to the others once none does', async () => {
    const { outbox, push, got, said } = outboxTo((host) => host === 'b0');
    outbox.setRoutes([{ event_types: ['*'], partition_key: key, targets: targetsOf(2) }]);
    push(20);
    await turns();
    const first = got.get('b0') ?? [];
    expect([first.length > 0, first.length < 20, outbox.isReceived]).toEqual([true, true, false]);
    const [staying, leaving] = targetsOf(2) as [ReturnType<typeof targetsOf>[0], ReturnType<typeof targetsOf>[0]];
    outbox.setRoutes([
      { event_types: ['*'], targets: [staying] },
      { event_types: [], targets: [leaving] },
    ]);
    await turns();
    expect([got.get('b0'), outbox.isReceived]).toEqual([first, false]);
    outbox.setRoutes([{ event_types: ['*'], targets: [staying] }]);
    await turns();
    expect([new Set(got.get('b0')).size, got.get('b0')?.length, outbox.isReceived, said]).toEqual([20, 20, true, []]);
    outbox.close();
  });

  it('are given up, and counted, where its pipeline is gone', async () => {
    const { outbox, push, said } = outboxTo(() => false);
    outbox.setRoutes([{ event_types: ['*'], targets: targetsOf(1) }]);
    push(3);
    outbox.setRoutes([{ event_types: ['*'], targets: targetsOf(1, 'c') }]);
    push(2);
    outbox.giveUp();
    const about = { message: 'Routed events given up', pipeline: 's' };
    expect(said).toEqual([
      { ...about, to: 'g:b:0', events: 3 },
      { ...about, to: 'g:c:0', events: 2 },
    ]);
  });
});
