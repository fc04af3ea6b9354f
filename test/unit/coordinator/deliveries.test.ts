import { expect, it } from 'vitest';
import type { ReplicaListener } from '../../../coordinator/cluster/replica.ts';
import { Deliveries } from '../../../coordinator/ingress/deliveries.ts';
import { bounds } from '../../../coordinator/state/bounds.ts';
import {
  type ClusterState,
  emptyState,
  type IngressLog,
  ingressKey,
  type Placement,
  type Worker,
} from '../../../coordinator/state/cluster-state.ts';
import {
  type DeliveryAnswer,
  type DeliveryBody,
  type HeldPlacement,
  WorkerRefusal,
} from '../../../coordinator/workers-client/worker-client.ts';
import { externalSource } from '../../../shared/protocol/placements.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

const placementId = 'g:p:0';
const worker = { id: 'w1', address: 'http://w1', incarnation: 'a' } as Worker;
const long = bounds.ingressCharsMax / 4 + 1;
const halfFull = bounds.ingressCharsMax / 2 + 1;

/** A log whose batches its worker has, all of them, and a checkpoint lacks. */
class WorkedThroughLog {
  /** Of all placements together, in characters. */
  totalChars = 0;
  isRemoved = false;
  epoch = 7;
  nowMs = 1_000;
  /** Checkpoints that were asked for. */
  asked = 0;
  #changed: ReplicaListener = () => undefined;
  #log: IngressLog = { placementId, first: 1, last: 9, chars: 0 };
  #taken: DeliveryBody | undefined;
  #tell: (answer: DeliveryAnswer) => void = () => undefined;
  #refuse: (error: Error) => void = () => undefined;
  #batches = emptyState.ingress;
  #answer: { readonly resolve: (held: HeldPlacement) => void; readonly reject: (error: Error) => void } | undefined;
  readonly #deliveries: Deliveries;

  constructor() {
    const log = this;
    const noPlacements = { ...emptyState, workers: emptyState.workers.set(worker.id, worker) };
    const group = {
      get state(): ClusterState {
        if (log.isRemoved) return noPlacements;
        const placement = { id: placementId, workerId: worker.id, epoch: log.epoch } as Placement;
        const placed = { ...noPlacements, placements: noPlacements.placements.set(placementId, placement) };
        const ingressLogs = placed.ingressLogs.set(placementId, log.#log).set('other', { ...log.#log, placementId: 'other' });
        return { ...placed, ingress: log.#batches, ingressLogs, ingressChars: log.totalChars };
      },
      status: () => ({ role: 'leader' }) as never,
      onStatus: () => () => undefined,
      onChange: (listener: ReplicaListener) => {
        this.#changed = listener;
        return () => undefined;
      },
    };
    const received = { [externalSource]: this.#log.last };
    const held = { get: () => ({ epoch: this.epoch, status: 'running', received }) };
    const controller = {
      ...{ isLeading: true, isClosing: () => false, onLook: () => undefined },
      ...{ leases: { isOver: () => false }, observations: { of: () => ({ held }) } },
    };
    const client = {
      deliver: (_at: unknown, body: DeliveryBody): Promise<DeliveryAnswer> => {
        this.#taken = body;
        return new Promise((resolve, reject) => {
          this.#tell = resolve;
          this.#refuse = reject;
        });
      },
      checkpoint: (): Promise<HeldPlacement> => {
        this.asked++;
        return new Promise((resolve, reject) => {
          this.#answer = { resolve, reject };
        });
      },
    };
    const telemetry = new Telemetry(silentLogger, new MetricRegistry());
    this.#deliveries = new Deliveries({ group, client, controller: controller as never, telemetry, now: () => this.nowMs });
  }

  /** Appends batches, and gives how they go to the worker. */
  delivered(lists: readonly string[]): DeliveryBody {
    for (const events of lists) {
      const sequence = this.#log.last + 1;
      const batch = { placementId, sequence, receivedAtMs: 1, events, eventCount: 1 };
      this.#batches = this.#batches.set(ingressKey(placementId, sequence), batch);
      this.#log = { ...this.#log, last: sequence };
    }
    this.#deliveries.deliver(placementId);
    return this.#taken as DeliveryBody;
  }

  /** What the worker made of a batch, while that is not known yet. */
  result(sequence: number): Promise<{ readonly outputs: string } | undefined> {
    return this.#deliveries.result(placementId, sequence, 1_000);
  }

  /** The worker says what it made of a batch. */
  workerSays(sequence: number, outputs: string): void {
    this.answering()(sequence, outputs);
  }

  /** The way to answer what the worker was handed last. */
  answering(): (sequence: number, outputs: string) => void {
    const tell = this.#tell;
    return (sequence, outputs) => tell({ received: sequence, results: [{ sequence, is_repeat: false, errors: [], outputs }] } as never);
  }

  /** The worker says that nothing makes it take what it was handed. */
  workerRefuses(): void {
    this.#refuse(new WorkerRefusal(400, { code: 'validation_error', error: 'a field that it does not know' }));
  }

  /** The pipeline is taken out of its group, and comes back: its log begins again. */
  isReplaced(): void {
    const update = [{ type: 'GroupUpdated', id: 'g' }];
    this.isRemoved = true;
    this.#changed(emptyState, update);
    this.isRemoved = false;
    this.epoch++;
    this.#log = { placementId, first: 1, last: 0, chars: 0 };
    this.#changed(emptyState, update);
  }

  /** Later the log has so many characters. Gives how many checkpoints were asked for until then. */
  has(chars: number, { afterMs }: { readonly afterMs: number }): number {
    this.nowMs += afterMs;
    this.#log = { ...this.#log, chars };
    this.#deliveries.deliver(placementId);
    return this.asked;
  }

  async checkpointEnds({ afterMs, as }: { readonly afterMs: number; readonly as: 'committed' | 'failed' }): Promise<void> {
    this.nowMs += afterMs;
    if (as === 'committed') this.#answer?.resolve({} as HeldPlacement);
    else this.#answer?.reject(new Error('no coordinator takes it'));
    await turn();
  }
}

/** What was answered has been taken in. */
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const ofNow = <T>(answer: Promise<T>): Promise<T | string> => Promise.race([answer, turn().then(() => 'not known yet')]);

it('says with each delivery how far the log goes, also behind what has room in it', () => {
  const half = `["${'x'.repeat(600_000)}"]`;
  const { json, logEnd } = new WorkedThroughLog().delivered([half, half, half]);
  const { batches } = JSON.parse(Buffer.from(json).toString()) as { readonly batches: readonly object[] };
  expect([batches.length, logEnd]).toEqual([1, 12]);
});

it('says of a delivery where in it the lists of events stand', () => {
  const lists = ['[{"event_type":"A","fields":{"t":"ä]"}}]', '[]', '[{"event_type":"B","fields":{"t":"\u{1f600}"}}]'];
  const log = new WorkedThroughLog();
  const { json, lists: said = '' } = log.delivered(lists);
  const body = Buffer.from(json);
  expect(said.split(',').map((one) => body.toString('utf8', ...(one.split('-').map(Number) as [number, number])))).toEqual(lists);
  expect(JSON.parse(body.toString())).toMatchObject({ batches: lists.map((events) => ({ events: JSON.parse(events) })) });
});

it('says nothing of where very many lists stand', () => {
  const of = (count: number) => new WorkedThroughLog().delivered(Array.from({ length: count }, () => '[]')).lists;
  expect([of(128)?.split(',').length, of(129)]).toEqual([128, undefined]);
});

it('a log that has become long waits between checkpoints, and one that is half full does not', async () => {
  const log = new WorkedThroughLog();
  expect(log.has(long - 1, { afterMs: 0 })).toBe(0);
  expect(log.has(long, { afterMs: 0 })).toBe(1);
  expect(log.has(halfFull, { afterMs: 1 })).toBe(1);
  await log.checkpointEnds({ afterMs: 9, as: 'committed' });
  expect(log.has(long, { afterMs: 249 })).toBe(1);
  expect(log.has(long, { afterMs: 1 })).toBe(2);
  await log.checkpointEnds({ afterMs: 10, as: 'committed' });
  expect(log.has(long, { afterMs: 0 })).toBe(2);
  expect(log.has(halfFull, { afterMs: 0 })).toBe(3);
});

it('checkpoints that take long take little more than half of the time, however full a log is', async () => {
  const log = new WorkedThroughLog();
  log.has(halfFull, { afterMs: 0 });
  await log.checkpointEnds({ afterMs: 5_000, as: 'committed' });
  expect(log.has(bounds.ingressCharsMax, { afterMs: 4_499 })).toBe(1);
  expect(log.has(bounds.ingressCharsMax, { afterMs: 1 })).toBe(2);
});

it('a checkpoint that fails at once is not asked for again at once', async () => {
  const log = new WorkedThroughLog();
  log.has(halfFull, { afterMs: 0 });
  await log.checkpointEnds({ afterMs: 0, as: 'failed' });
  expect(log.has(halfFull, { afterMs: 249 })).toBe(1);
  expect(log.has(halfFull, { afterMs: 1 })).toBe(2);
});

it('where many logs fill the room of all, one that is short waits for a checkpoint too', () => {
  const log = new WorkedThroughLog();
  const half = bounds.ingressTotalCharsMax / 2;
  log.totalChars = half;
  expect(log.has(long - 1, { afterMs: 0 })).toBe(0);
  log.totalChars = 4 * (long - 1);
  expect(log.has(long - 1, { afterMs: 0 })).toBe(0);
  log.totalChars = half + 1;
  expect(log.has(1, { afterMs: 0 })).toBe(0);
});

it('of a pipeline that was removed nothing is said to be what its successor made of a batch', async () => {
  const log = new WorkedThroughLog();
  log.delivered(['[]']);
  const before = log.result(10);
  log.workerSays(10, '["before"]');
  expect((await before)?.outputs).toBe('["before"]');
  const waiting = log.result(11);
  waiting.catch(() => undefined);
  log.isReplaced();
  await expect(waiting).rejects.toMatchObject({ code: 'pipeline_not_found' });
  log.delivered(Array.from({ length: 10 }, () => '[]'));
  expect(await ofNow(log.result(10))).toBe('not known yet');
});

it('what a worker answers when the pipeline was removed is not what its successor made of a batch', async () => {
  const log = new WorkedThroughLog();
  log.delivered(['[]']);
  log.isReplaced();
  log.workerSays(10, '["before"]');
  await turn();
  log.delivered(Array.from({ length: 10 }, () => '[]'));
  expect(await ofNow(log.result(10))).toBe('not known yet');
});

it('what a worker refuses when the pipeline was removed is handed to its successor all the same', async () => {
  const log = new WorkedThroughLog();
  log.delivered(['["before"]']);
  log.isReplaced();
  log.workerRefuses();
  await turn();
  const { json } = log.delivered([...Array.from({ length: 9 }, () => '[]'), '["after"]']);
  expect(JSON.parse(Buffer.from(json).toString()).batches.at(-1)).toMatchObject({ sequence: 10, events: ['after'] });
});

it('what a worker answers when it has the pipeline under another epoch is what it made of the batch', async () => {
  const log = new WorkedThroughLog();
  log.delivered(['[]']);
  const waiting = log.result(10);
  const tell = log.answering();
  log.epoch++;
  log.delivered(['[]']);
  tell(10, '["made"]');
  expect((await waiting)?.outputs).toBe('["made"]');
});

it('what a worker made of a batch is kept for whoever asks again, the newest where it is much text', async () => {
  const log = new WorkedThroughLog();
  const outputs = `["${'x'.repeat(40_000_000)}"]`;
  for (const sequence of [10, 11]) {
    log.delivered(['[]']);
    const first = log.result(sequence);
    log.workerSays(sequence, outputs);
    expect((await first)?.outputs.length).toBe(outputs.length);
    await turn();
  }
  expect((await log.result(11))?.outputs.length).toBe(outputs.length);
  expect(await ofNow(log.result(10))).toBe('not known yet');
});
