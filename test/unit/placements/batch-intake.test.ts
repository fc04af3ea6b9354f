import { describe, expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { BatchIntake } from '../../../worker/placements/batch-intake.ts';
import { TickLimit } from '../../../worker/placements/tick-limit.ts';
import type { ReceivedBody } from '../../../worker/runtime/pipelines/pipeline-events.ts';
import type { PlacedPipeline, PlaceRequest } from '../../../worker/runtime/placed/placement-host.ts';
import { type Receipt, Receipts } from '../../../worker/runtime/placed/receipts.ts';
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

/** Takes or refuses at once, as an engine does. */
class FullPipeline extends SimulatedPipeline {
  isFull = false;

  override receive(...given: Parameters<SimulatedPipeline['receive']>): Promise<InjectResult> {
    if (this.isFull) throw new CepError('queue_full', 'there is no room');
    const [body, receipt] = given;
    const taken = receipt();
    return super.receive(body, () => taken);
  }
}

const forEver = (_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });

it('a batch that the program has given up is answered as refused, each time, and what follows it is taken', async () => {
  const pipeline = new BusyPipeline({ id: 'p' } as PlaceRequest) as unknown as PlacedPipeline;
  const intake = new BatchIntake(pipeline, new Receipts(), () => ({}), { wait: forEver });
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

it('what was made of batches is kept for a sender that has not heard it, the newest where it is much', async () => {
  const outputs = [{ fieldsJson: 'x'.repeat(10_000_000) }];
  const received: Record<string, number> = {};
  const receive = async (_body: ReceivedBody, receipt: () => Receipt): Promise<unknown> => {
    received['_external'] = receipt().sequence;
    return { outputs, errors: [] };
  };
  const intake = new BatchIntake({ receive, received } as never, new Receipts(), () => ({}), { wait: forEver });
  const delivery = { from: { placement_id: '_external', epoch: 0 }, batches: [batch(1, 'A'), batch(2, 'A')] };
  const made = async () => (await intake.deliver(delivery)).results.map(({ isRepeat, result }) => [isRepeat, result?.outputs.length]);
  expect([await made(), await made()]).toEqual([
    [
      [false, 1],
      [false, 1],
    ],
    [
      [true, undefined],
      [true, 1],
    ],
  ]);
});

it('batches that ticks have overtaken arrive with the last tick, those that are repeated when they did the first time', async () => {
  const taken: Receipt[] = [];
  const received = async (_body: ReceivedBody, receipt: () => Receipt) => {
    taken.push(receipt());
    return { outputs: [], errors: [] };
  };
  const receipts = new Receipts();
  const ticks = new TickLimit({ receipts, repeatedUpTo: 2, now: () => 0, clusterTime: () => 0 });
  const intake = new BatchIntake({ receive: received, received: {} } as never, receipts, () => ({}), { wait: forEver, ticks });
  ticks.timeOf(5_000);
  await intake.deliver({ from: { placement_id: '_external', epoch: 0 }, batches: [1, 2, 3].map((sequence) => batch(sequence, 'A')) });
  await intake.deliver({ from: { placement_id: 'g_1:q:0', epoch: 1 }, batches: [batch(1, 'A')] });
  expect(taken.map(({ sequence, time, isMoved = false }) => [sequence, time, isMoved])).toEqual([
    [1, 1, true],
    [2, 1, true],
    [3, 5_000, true],
    [1, 1, false],
  ]);
});

describe('deliveries that overtake each other', () => {
  const makeIntake = (wait = forEver) => {
    const pipeline = new FullPipeline({ id: 'p' } as PlaceRequest);
    const intake = new BatchIntake(pipeline as unknown as PlacedPipeline, new Receipts(), () => ({}), { wait });
    const deliverUnder = async (epoch: number, ...sequences: number[]) => {
      const delivery = { from: { placement_id: '_external', epoch }, batches: sequences.map((sequence) => batch(sequence, 'A')) };
      await intake.turn(delivery);
      return (await intake.deliver(delivery)).received;
    };
    const deliver = (...sequences: number[]) => deliverUnder(0, ...sequences);
    return { pipeline, deliver, deliverUnder };
  };
  const gap = expect.objectContaining({ code: 'sequence_gap' });

  it('are taken in their order, whichever comes first', async () => {
    const { pipeline, deliver } = makeIntake();
    await Promise.all([deliver(5, 6), deliver(4), deliver(2, 3), deliver(1)]);
    expect(pipeline.seen).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('are refused when those before them take too long', async () => {
    const { pipeline, deliver } = makeIntake(async () => undefined);
    await expect(deliver(2)).rejects.toEqual(gap);
    expect(await deliver(1)).toBe(1);
    expect(pipeline.seen).toEqual([1]);
  });

  it('are refused with those before them, at once', async () => {
    const { pipeline, deliver } = makeIntake();
    const early = deliver(2);
    pipeline.isFull = true;
    await expect(deliver(1)).rejects.toEqual(expect.objectContaining({ code: 'queue_full' }));
    await expect(early).rejects.toEqual(expect.objectContaining({ code: 'queue_full' }));
    pipeline.isFull = false;
    expect([await deliver(1), await deliver(2)]).toEqual([1, 2]);
  });

  it('are refused at once under an epoch that is over', async () => {
    const { deliverUnder } = makeIntake();
    await deliverUnder(2, 1);
    await expect(deliverUnder(1, 5)).rejects.toEqual(expect.objectContaining({ code: 'stale_epoch' }));
  });

  it('wait eight at a time: one more is refused at once', async () => {
    const { pipeline, deliver } = makeIntake();
    const early = Array.from({ length: 8 }, (_, at) => deliver(9 - at));
    await expect(deliver(10)).rejects.toEqual(gap);
    await Promise.all([...early, deliver(1)]);
    expect(pipeline.seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
