import type { AckPolicy, ConsumerConfig, NatsConnection } from 'nats';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { NatsStreamSource } from '../../../../worker/connectors/nats/stream-source.ts';
import { ReadingSource } from '../../../unit/connectors/reading-source.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { clientOf, startNats } from './nats-publisher.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const NANOS_PER_MS = 1e6;

describe.skipIf(!(await hasBroker('nats')))('a consumer of nats that somebody else has made', () => {
  let broker: RunningBroker;
  let client: NatsConnection;
  const readings: ReadingSource[] = [];
  beforeAll(async () => {
    broker = await startNats(['brief', 'graded']);
    client = await clientOf(broker.port);
  });
  afterEach(async () => {
    for (const reading of readings.splice(0)) await reading.close();
  });
  afterAll(async () => {
    await client?.close();
    await broker?.stop();
  });

  const readAs = (durable: string, stream: string): ReadingSource => {
    const source = new NatsStreamSource({
      address: {
        door: new OutboundDoor(NetworkPolicy.everywhere),
        servers: [{ host: '127.0.0.1', port: broker.port }],
        login: { user: 'cep', pass: 'secret' },
        tls: false,
      },
      ...{ stream, subject: null, durable, isShared: true, start: 'earliest' },
    });
    const reading = new ReadingSource(source);
    readings.push(reading);
    return reading;
  };

  it.each<[string, Partial<ConsumerConfig>]>([
    ['brief', { ack_wait: 600 * NANOS_PER_MS }],
    ['graded', { ack_wait: 60_000 * NANOS_PER_MS, backoff: [600, 1_000, 60_000].map((ms) => ms * NANOS_PER_MS), max_deliver: 5 }],
  ])('gives nobody else what waits here, however short it waits itself (%s)', async (stream, config) => {
    const { consumers } = await client.jetstreamManager();
    await consumers.add(stream, { durable_name: 'own', ack_policy: 'explicit' as AckPolicy, ...config });
    let open = (): void => undefined;
    const reading = readAs('own', stream);
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    for (const n of [1, 2, 3]) await client.jetstream().publish(`${stream}.a`, JSON.stringify({ event_type: 'Reading', n }));
    await reading.until(() => reading.underWay === 1);
    const consumer = await client.jetstream().consumers.get(stream, 'own');
    // Several times as long as the server waits.
    const given: number[] = [];
    for await (const message of await consumer.fetch({ max_messages: 10, expires: 4_000 })) {
      // What had not come here by then is the other one's.
      if (message.redelivered) given.push(message.seq);
      else message.ack();
    }
    expect(given).toEqual([]);
    open();
    await vi.waitFor(async () => expect((await consumers.info(stream, 'own')).num_ack_pending).toBe(0), { timeout: 30_000, interval: 50 });
  });
});
