import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { BatchIntake } from '../../../worker/placements/batch-intake.ts';
import type { ReceivedBody } from '../../../worker/runtime/pipelines/pipeline-events.ts';
import type { PlacedPipeline, PlaceRequest } from '../../../worker/runtime/placed/placement-host.ts';
import { Receipts } from '../../../worker/runtime/placed/receipts.ts';
import type { InjectResult } from '../../../worker/runtime/service.ts';
import { SimulatedPipeline } from '../coordinator/reconcile/simulated-pipeline.ts';

/** A program that gives up what keeps it busy for too long: it is through then, and refused. */
class BusyPipeline extends SimulatedPipeline {
  override async receive(received: ReceivedBody, ...rest: [Parameters<SimulatedPipeline['receive']>[1]]): Promise<InjectResult> {
    const result = await super.receive(received, ...rest);
    if (Buffer.from(received.body).includes('busy')) throw new CepError('budget_exceeded', 'it kept the program busy for too long');
    return result;
  }
}

const batch = (sequence: number, ...types: string[]) => ({
  sequence,
  received_at: 1,
  events: Buffer.from(JSON.stringify({ events: types.map((type) => ({ event_type: type, fields: {} })) })),
});

it('a batch that the program has given up is answered as refused, each time, and what follows it is taken', async () => {
  const pipeline = new BusyPipeline({ id: 'p' } as PlaceRequest) as unknown as PlacedPipeline;
  const intake = new BatchIntake(pipeline, new Receipts(), () => ({}));
  const from = { placement_id: '_external', epoch: 0 };
  const delivery = { epoch: 1, from, batches: [batch(1, 'A'), batch(2, 'busy', 'busy'), batch(3, 'A')] };
  for (const isRepeat of [false, true]) {
    const { received, results } = await intake.deliver(delivery);
    expect(received).toBe(3);
    expect(results.map((one) => [one.sequence, one.isRepeat, one.result?.rejected])).toEqual([
      [1, isRepeat, 0],
      [2, isRepeat, 2],
      [3, isRepeat, 0],
    ]);
    expect(results[1]?.result?.errors.map(({ index, code }) => [index, code])).toEqual([
      [0, 'budget_exceeded'],
      [1, 'budget_exceeded'],
    ]);
  }
});
