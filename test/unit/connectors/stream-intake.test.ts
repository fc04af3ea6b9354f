import type { Msg } from 'nats';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SourceReading } from '../../../worker/connectors/connector.ts';
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

/** A reader of a consumer, to which messages come and which keeps nothing. */
function reader() {
  const said: string[] = [];
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
  const client = { connection, inbox: () => '_INBOX.x' } as unknown as NatsClient;
  const intake = new StreamIntake({
    client,
    reading: { take: () => new Promise(() => undefined) } as unknown as SourceReading,
    isAcknowledging: true,
    ackWaitMs,
    known: [],
    positionBehind: () => ({}),
    taken: () => undefined,
  });
  const problems: string[] = [];
  intake.failed.catch((error: Error) => problems.push(error.message));
  const pull = new StreamPull({ client, stream: 'S', consumer: 'C', intake, pullMs: 2_000, stillMsMax: 5_000 });
  const message = (sequence: number): Msg =>
    ({ subject: 'readings', reply: `$JS.ACK.S.C.1.${sequence}.1.0.0`, data: new Uint8Array() }) as unknown as Msg;
  return { said, problems, pull, arrive: (sequence: number) => give(null, message(sequence)) };
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
