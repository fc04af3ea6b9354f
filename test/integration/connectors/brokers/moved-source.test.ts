import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasBroker, type RunningBroker } from './containers.ts';
import { allPairs, pairsOverKill } from './moved-source.ts';
import { RedisPublisher, startRedis } from './redis-publisher.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 90_000 });

describe.skipIf(!(await hasBroker('redis')))('a group of redis', () => {
  let broker: RunningBroker;
  beforeAll(async () => {
    broker = await startRedis();
  });
  afterAll(() => broker?.stop());

  it('is told of no entry that a killed worker alone had', async () => {
    const connector = `redis (url: "redis://:secret@127.0.0.1:${broker.port}", group: "cep")`;
    const publisher = new RedisPublisher(broker.port, 'readings');
    expect(await pairsOverKill({ connector, from: 'topic: "readings"', publisher })).toEqual(allPairs);
  });
});
