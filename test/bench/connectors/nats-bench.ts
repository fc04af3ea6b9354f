import { connect, headers, type NatsConnection } from 'nats';
import { type BrokerBench, inGroups, payloadOf, rate, read, sent, sourceOf } from './broker-bench.ts';

async function publish(client: NatsConnection, subject: string, count: number): Promise<void> {
  await inGroups(count, async (numbers) => {
    for (const n of numbers) {
      // As the connector sends them.
      const named = headers();
      named.set('Nats-Msg-Id', String(n));
      client.publish(subject, payloadOf(n), { headers: named });
    }
    await client.flush();
  });
}

export const natsBench: BrokerBench = {
  name: 'nats',
  broker: 'nats',
  start: { broker: 'nats', port: 4222 },
  open: async (port, count) => {
    const servers = `127.0.0.1:${port}`;
    const client = await connect({ servers });
    const { streams } = await client.jetstreamManager();
    await streams.add({ name: 'readings', subjects: ['readings.>'], storage: 'memory' as never });
    await streams.add({ name: 'alerts', subjects: ['alerts.>'], storage: 'memory' as never });
    await publish(client, 'readings.a', count);
    const stream = client.jetstream();
    let rounds = 0;
    return {
      close: () => client.close(),
      pairs: [
        {
          what: 'sink to a subject',
          bare: () => rate(count, () => publish(client, 'out', count)),
          connector: () => sent('nats', { servers, subject: 'out' }, count),
        },
        {
          what: 'sink to a stream',
          bare: () => {
            const round = ++rounds;
            return rate(count, () =>
              inGroups(count, (numbers) =>
                Promise.all(numbers.map((n) => stream.publish('alerts.bare', payloadOf(n), { msgID: `bare-${round}-${n}` }))),
              ),
            );
          },
          connector: () => sent('nats', { servers, jetstream: true, subject: 'alerts.ours' }, count),
        },
        {
          what: 'stream, read by place',
          bare: async () => {
            const consumer = await stream.consumers.get('readings');
            return rate(count, async () => {
              let left = count;
              const messages = await consumer.consume({ max_messages: 1_000 });
              for await (const _ of messages) if (--left === 0) break;
            });
          },
          connector: () => rate(count, () => read(sourceOf('nats', { servers, stream: 'readings' }, 'readings.>'), count)),
        },
        {
          what: 'subject',
          bare: async () => {
            const sender = await connect({ servers });
            const subscription = client.subscribe('read');
            await client.flush();
            const found = await rate(count, async () => {
              const sending = publish(sender, 'read', count);
              let left = count;
              for await (const _ of subscription) if (--left === 0) break;
              await sending;
            });
            await sender.close();
            return found;
          },
          connector: async () => {
            const sender = await connect({ servers });
            let started = 0;
            await read(sourceOf('nats', { servers }, 'read'), count, {
              connected: () => {
                started = performance.now();
                void publish(sender, 'read', count);
              },
            });
            const found = (1000 * count) / (performance.now() - started);
            await sender.close();
            return found;
          },
        },
      ],
    };
  },
};
