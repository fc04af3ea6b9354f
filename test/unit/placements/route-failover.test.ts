import { expect, it } from 'vitest';
import { BatchIntake } from '../../../worker/placements/batch-intake.ts';
import { deliveryIn } from '../../../worker/placements/delivery-body.ts';
import { type RoutedEvent, RouteLink } from '../../../worker/placements/route-link.ts';
import { RouteOutbox, type SavedOutbox } from '../../../worker/placements/route-outbox.ts';
import type { ReceivedBody } from '../../../worker/runtime/pipelines/pipeline-events.ts';
import type { PlacedPipeline, PlaceRequest } from '../../../worker/runtime/placed/placement-host.ts';
import { type Receipt, Receipts } from '../../../worker/runtime/placed/receipts.ts';
import type { InjectResult, Output } from '../../../worker/runtime/service.ts';
import { SimulatedPipeline } from '../coordinator/reconcile/simulated-pipeline.ts';

/** What it has taken in it works through when it is told to. */
class BackloggedPipeline extends SimulatedPipeline {
  readonly ids: string[] = [];
  readonly #waiting: (() => void)[] = [];

  override receive({ body }: ReceivedBody, receipt: () => Receipt): Promise<InjectResult> {
    const taken = receipt();
    const { events } = JSON.parse(Buffer.from(body).toString()) as { readonly events: readonly { readonly id: string }[] };
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.ids.push(...events.map(({ id }) => id));
        resolve(super.receive({ body, format: 'batch' }, () => taken));
      });
    });
  }

  work(): void {
    for (const through of this.#waiting.splice(0)) through();
  }
}

const event = (id: string): RoutedEvent => ({ id, type: 'A', time: 1, fieldsJson: '{}' });

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn > 1_000) throw new Error('it does not come to that');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('events of a sender that goes on elsewhere all come through, also while the receiver has a batch of it that waits', async () => {
  const pipeline = new BackloggedPipeline({ id: 'r' } as PlaceRequest);
  let durable: Readonly<Record<string, number>> = {};
  const intake = new BatchIntake(pipeline as unknown as PlacedPipeline, new Receipts(), () => durable, { wait: async () => undefined });
  const answered: number[] = [];
  const sender = (epoch: number, events: readonly RoutedEvent[]): RouteLink =>
    new RouteLink({
      ...{ placementId: 's', epoch: () => epoch, target: { placement_id: 'r', epoch: 1, address: 'http://r' }, events },
      ...{ mayDeliver: () => true, onChange: () => undefined, report: () => undefined, now: () => 0 },
      post: async (_url, body) => {
        const result = await intake.deliver(deliveryIn(Buffer.from(body)));
        answered.push(result.received);
        return { status: 200, code: undefined, message: undefined, body: JSON.parse(JSON.stringify({ ...result, results: [] })) };
      },
      wait: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });

  const first = sender(5, [event('a')]);
  first.resume();
  await until(() => answered.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  first.close();
  // Its batch waits at the receiver. Who goes on has made more by then.
  const second = sender(9, [event('a'), event('b')]);
  second.resume();
  await until(() => answered.length === 2);
  await new Promise((resolve) => setImmediate(resolve));
  pipeline.work();
  await until(() => pipeline.ids.length === 2);
  expect(pipeline.ids).toEqual(['a', 'b']);

  await until(() => second.held === 2);
  durable = pipeline.received;
  second.moveTo({ placement_id: 'r', epoch: 2, address: 'http://r' });
  await until(() => second.held === 0);
  second.close();
});

/** A receiver with all that it has been given, as it came, that has a checkpoint of it after each answer. */
function receiverOf() {
  const pipeline = new BackloggedPipeline({ id: 'r' } as PlaceRequest);
  const receipts = new Receipts();
  let durable: Readonly<Record<string, number>> = {};
  const intake = new BatchIntake(pipeline as unknown as PlacedPipeline, receipts, () => durable, { wait: async () => undefined });
  const told: unknown[] = [];
  /** Of a version before, which would refuse what it does not know. */
  const world = { isEarlier: false };
  const outboxOf = (epoch: number, saved: SavedOutbox): RouteOutbox => {
    const outbox = new RouteOutbox({
      ...{ placementId: 's', epoch: () => epoch, mayDeliver: () => true, onChange: () => undefined, report: () => undefined },
      ...{ now: () => 0, saved, saveUntil: () => new Promise(() => undefined) },
      post: async (_url, body) => {
        const delivery = deliveryIn(Buffer.from(body));
        told.push(delivery.unrepeated);
        const delivered = intake.deliver(delivery);
        pipeline.work();
        const { readsUnrepeated, ...result } = await delivered;
        durable = pipeline.received;
        const answer = {
          ...result,
          ...(!world.isEarlier && { reads_unrepeated: readsUnrepeated }),
          durable: durable['s'] ?? 0,
          results: [],
        };
        return { status: 200, code: undefined, message: undefined, body: JSON.parse(JSON.stringify(answer)) };
      },
      wait: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    outbox.setRoutes([{ event_types: ['*'], targets: [{ placement_id: 'r', replica: 0, address: 'http://r', epoch: 1 }] }]);
    return outbox;
  };
  return { pipeline, told, receipts, world, outboxOf };
}

const saidBy = (outbox: RouteOutbox): SavedOutbox => JSON.parse(JSON.stringify(outbox.save()));
const output = (id: string): Output => ({ id, eventType: 'A', timestamp: 1, fieldsJson: '{}' }) as Output;
const push = (outbox: RouteOutbox, from: number, to: number): void => {
  for (let at = from; at < to; at++) outbox.push(output(`s-${at}`));
};
const emptied = (outbox: RouteOutbox) => until(() => saidBy(outbox).every(([, events]) => events.length === 0));

it('one input may have made any number of events that are made again', async () => {
  const { pipeline, outboxOf } = receiverOf();
  const first = outboxOf(5, []);
  push(first, 0, 70_000);
  await emptied(first);
  first.close();
  const second = outboxOf(9, []);
  push(second, 0, 70_000);
  push(second, 70_000, 70_010);
  await emptied(second);
  second.close();
  expect([pipeline.ids.length, new Set(pipeline.ids).size]).toEqual([70_010, 70_010]);
});

it('what a checkpoint of the sender knows to be elsewhere is forgotten there, and nothing else', async () => {
  const { pipeline, told, receipts, outboxOf } = receiverOf();
  const known = (): number => Array.from({ length: 1_200 }, (_, at) => `s-${at}`).filter((id) => receipts.isKnown('s', id)).length;
  const first = outboxOf(5, []);
  push(first, 0, 1_000);
  await emptied(first);
  const [kept, saved] = [first.save(), saidBy(first)];
  push(first, 1_000, 1_100);
  await emptied(first);
  expect([known(), told[0], told.at(-1)]).toEqual([1_100, undefined, { from: 1, through: 0 }]);
  first.committed(kept);
  push(first, 1_100, 1_101);
  await emptied(first);
  expect([known(), told.at(-1)]).toEqual([101, { from: 1, through: 2 }]);
  first.close();

  // It goes on elsewhere from that checkpoint, and makes what followed again.
  const second = outboxOf(9, saved);
  push(second, 1_000, 1_050);
  await emptied(second);
  expect([known(), told.at(-1)]).toEqual([101, { from: 1, through: 2 }]);
  const next = second.save();
  second.committed(next);
  push(second, 1_050, 1_150);
  await emptied(second);
  second.close();
  expect([pipeline.ids.length, new Set(pipeline.ids).size, told.at(-1)]).toEqual([1_150, 1_150, { from: 6, through: 6 }]);
});

it('a receiver of a version before is told nothing of that, also when it has come in the place of a later one', async () => {
  const { told, world, outboxOf } = receiverOf();
  const outbox = outboxOf(5, []);
  push(outbox, 0, 10);
  await emptied(outbox);
  expect(told.splice(0).at(-1)).toEqual({ from: 1, through: 0 });
  world.isEarlier = true;
  outbox.committed(outbox.save());
  outbox.setRoutes([{ event_types: ['*'], targets: [{ placement_id: 'r', replica: 0, address: 'http://r', epoch: 2 }] }]);
  push(outbox, 10, 20);
  await emptied(outbox);
  outbox.close();
  expect([told.length > 1, new Set(told)]).toEqual([true, new Set([undefined])]);
});
