import type { Msg } from 'nats';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SourceBatch, SourceReading } from '../../../worker/connectors/connector.ts';
import type { NatsClient } from '../../../worker/connectors/nats/nats-client.ts';
import { StreamIntake } from '../../../worker/connectors/nats/stream-intake.ts';
import { StreamPull } from '../../../worker/connectors/nats/stream-pull.ts';

const ackWaitMs = 3_000;
let now = 0;
beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const MIB = 1_048_576;

/** A reader of a consumer, to which messages come and which keeps nothing until it is told to. */
function reader() {
  const said: string[] = [];
  const handedOver: SourceBatch[] = [];
  let keep: (isKept: boolean) => void = () => undefined;
  const take = (batch: SourceBatch): Promise<boolean> => {
    handedOver.push(batch);
    return new Promise((resolve) => {
      keep = resolve;
    });
  };
  let give: (error: Error | null, message: Msg) => void = () => undefined;
  const connection = {
    info: { max_payload: 1_000 },
    isClosed: () => false,
    publish: (subject: string, text: Uint8Array | string) => void said.push(`${subject} ${String(text).slice(0, 4)}`),
    subscribe: (_subject: string, { callback }: { callback: typeof give }) => {
      give = callback;
      return { unsubscribe: () => undefined };
    },
  };
  const client = { connection, inbox: () => '_INBOX.x', flushed: async () => undefined } as unknown as NatsClient;
  const intake = new StreamIntake({
    client,
    reading: { take } as unknown as SourceReading,
    isAcknowledging: true,
    ackWaitMs,
    known: [],
    positionBehind: () => ({}),
    taken: () => undefined,
  });
  const problems: string[] = [];
  intake.failed.catch((error: Error) => problems.push(error.message));
  const pull = new StreamPull({ client, stream: 'S', consumer: 'C', intake, pullMs: 2_000, stillMsMax: 5_000 });
  const message = (sequence: number, bytes = 0): Msg =>
    ({
      subject: 'readings',
      reply: `$JS.ACK.S.C.1.${sequence}.1.0.0`,
      data: new Uint8Array(bytes),
      size: () => bytes,
    }) as unknown as Msg;
  const ended = { subject: '_INBOX.x.1', headers: { code: 409, description: 'Message Size Exceeds MaxBytes' } } as unknown as Msg;
  return {
    said,
    problems,
    pull,
    handedOver,
    arrive: (sequence: number, bytes?: number) => give(null, message(sequence, bytes)),
    /** The server has given as many bytes as were asked for. */
    endRequest: () => give(null, ended),
    /** What is under way is safe. */
    keep: async () => {
      keep(true);
      await vi.advanceTimersByTimeAsync(1);
    },
  };
}

/** Time goes by while the process runs. */
async function runFor(ms: number): Promise<void> {
  for (const end = now + ms; now < end; ) {
    now += 100;
    await vi.advanceTimersByTimeAsync(100);
  }
}

it('a reader tells the server that it is working on what it holds', async () => {
  const { said, problems, pull, arrive } = reader();
  pull.ask();
  arrive(1);
  await runFor(ackWaitMs);
  expect(said.filter((text) => text.endsWith('+WPI')).length).toBeGreaterThanOrEqual(2);
  expect(problems).toEqual([]);
});

it('one that stood still for so long that another may have begun asks for nothing more, and claims nothing', async () => {
  const { said, problems, pull, arrive } = reader();
  pull.ask();
  arrive(1);
  await runFor(500);
  const before = said.length;
  now += 60_000;
  arrive(2);
  await runFor(ackWaitMs);
  expect(said.slice(before)).toEqual([]);
  expect(problems).toEqual(['nothing was read for so long that another may have begun']);
});

it('one whose timers come first behind that stops as well', async () => {
  const { said, problems, pull, arrive } = reader();
  pull.ask();
  arrive(1);
  await runFor(500);
  const before = said.length;
  now += 60_000;
  await runFor(1_000);
  arrive(2);
  await runFor(ackWaitMs);
  expect(said.slice(before)).toEqual([]);
  expect(problems).toHaveLength(1);
});

it('one that has eight megabytes waiting asks for nothing more until some of them are safe', async () => {
  const { said, pull, arrive, endRequest, keep } = reader();
  const requests = (): number => said.filter((text) => text.includes('MSG.NEXT')).length;
  pull.ask();
  for (let sequence = 1; sequence <= 8; sequence++) arrive(sequence, MIB);
  endRequest();
  expect(requests()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await keep();
  expect(requests()).toBe(2);
});

it('one hands over a megabyte at a time, and what is larger alone', async () => {
  const { pull, arrive, keep, handedOver } = reader();
  pull.ask();
  const sizes = [0.25, 0.5, 0.25, 0.75, 2, 0.5, 0.5, 0.25];
  for (const [at, size] of sizes.entries()) arrive(at + 1, size * MIB);
  for (let step = 0; step < sizes.length; step++) {
    await vi.advanceTimersByTimeAsync(1);
    await keep();
  }
  const given = handedOver.map(({ messages }) => messages.map(({ bytes }) => bytes.byteLength / MIB));
  expect(given).toEqual([[0.25, 0.5, 0.25], [0.75], [2], [0.5, 0.5], [0.25]]);
});
