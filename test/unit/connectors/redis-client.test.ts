import { afterEach, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { redisClient } from '../../../worker/connectors/redis/redis-client.ts';

afterEach(() => vi.useRealTimers());

it('leaves no timer behind where no server is: the process could not end before that', async () => {
  const place = { host: '127.0.0.1', port: 1, tls: false, database: 0, username: undefined, password: undefined };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const refused = redisClient({ ...place, door: new OutboundDoor(NetworkPolicy.everywhere) });
  await expect(refused).rejects.toThrow(/ECONNREFUSED/);
  expect(vi.getTimerCount()).toBe(0);
});
