import { expect, it } from 'vitest';
import { BatchIntake } from '../../../worker/placements/batch-intake.ts';
import { deliveryIn } from '../../../worker/placements/delivery-body.ts';
import { type RoutedEvent, RouteLink } from '../../../worker/placements/route-link.ts';
import type { ReceivedBody } from '../../../worker/runtime/pipelines/pipeline-events.ts';
import type { PlacedPipeline, PlaceRequest } from '../../../worker/runtime/placed/placement-host.ts';
import { type Receipt, Receipts } from '../../../worker/runtime/placed/receipts.ts';
import type { InjectResult } from '../../../worker/runtime/service.ts';
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
