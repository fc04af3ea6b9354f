import { Redis } from 'ioredis';
import { type BrokerBench, inGroups, payloadOf, rate, read, sent, sourceOf } from './broker-bench.ts';

export const redisBench: BrokerBench = {
  name: 'redis',
  broker: 'redis',
  start: { broker: 'redis', port: 6379 },
  open: async (port, count) => {
    const client = new Redis({ port, host: '127.0.0.1' });
    const url = `redis://127.0.0.1:${port}`;
    const pipelined = (command: (n: number) => readonly [string, ...string[]]): Promise<void> =>
      inGroups(count, async (numbers) => {
        const pipeline = client.pipeline();
        for (const n of numbers) {
          const [name, ...words] = command(n);
          pipeline.call(name, ...words);
        }
        await pipeline.exec();
      });
    const publish = (): Promise<void> => pipelined((n) => ['publish', 'read', payloadOf(n)]);
    await pipelined((n) => ['xadd', 'readings', '*', 'payload', payloadOf(n)]);
    let groups = 0;
    return {
      close: () => client.quit(),
      pairs: [
        {
          what: 'sink to a channel',
          bare: () => rate(count, () => pipelined((n) => ['publish', 'alerts', payloadOf(n)])),
          connector: () => sent('redis', { url, channel: 'alerts' }, count),
        },
        {
          what: 'sink to a stream',
          bare: () => rate(count, () => pipelined((n) => ['xadd', 'bare', '*', 'id', String(n), 'payload', payloadOf(n)])),
          connector: () => sent('redis', { url, stream: 'ours' }, count),
        },
        {
          what: 'channel',
          bare: async () => {
            const subscriber = client.duplicate();
            let left = count;
            const all = new Promise<void>((resolve) => subscriber.on('messageBuffer', () => --left === 0 && resolve()));
            await subscriber.subscribe('read');
            const found = await rate(count, () => Promise.all([publish(), all]));
            subscriber.disconnect();
            return found;
          },
          connector: () => {
            const source = sourceOf('redis', { url, channel: 'read' }, 'read');
            let started = 0;
            return read(source, count, {
              connected: () => {
                started = performance.now();
                void publish();
              },
            }).then(() => (1000 * count) / (performance.now() - started));
          },
        },
        {
          what: 'stream, read by a group',
          bare: async () => {
            const group = `bare-${++groups}`;
            await client.xgroup('CREATE', 'readings', group, '0');
            return rate(count, async () => {
              for (let left = count; left > 0; ) {
                const answer = await client.xreadgroupBuffer('GROUP', group, 'me', 'COUNT', 500, 'STREAMS', 'readings', '>');
                const entries = (answer as unknown as [Buffer, [Buffer, Buffer[]][]][] | null)?.[0]?.[1] ?? [];
                await client.xack('readings', group, ...entries.map(([id]) => id));
                left -= entries.length;
              }
            });
          },
          connector: () => {
            const source = sourceOf('redis', { url, stream: 'readings', group: `ours-${++groups}` }, 'readings');
            return rate(count, () => read(source, count));
          },
        },
      ],
    };
  },
};
