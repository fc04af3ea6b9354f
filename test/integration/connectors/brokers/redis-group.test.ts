import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import type { SourcePosition } from '../../../../worker/connectors/connector.ts';
import { type RedisStreamOptions, RedisStreamSource } from '../../../../worker/connectors/redis/stream-source.ts';
import { ReadingSource } from '../../../unit/connectors/reading-source.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { clientOf, startRedis } from './redis-publisher.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

const LONG_MS = 1_000_000;

describe.skipIf(!(await hasBroker('redis')))('a member of a consumer group of redis', () => {
  let broker: RunningBroker;
  let client: Redis;
  const readings: ReadingSource[] = [];
  beforeAll(async () => {
    broker = await startRedis();
    client = clientOf(broker.port);
  });
  afterEach(async () => {
    for (const reading of readings.splice(0)) await reading.close();
  });
  afterAll(async () => {
    client?.disconnect();
    await broker?.stop();
  });

  /** A stream with these entries, all of which were given to a member that acknowledges nothing. */
  const given = async (stream: string, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await client.xadd(stream, id, 'n', id.replace('-0', ''));
    await client.xgroup('CREATE', stream, 'cep', '0');
    await client.xreadgroup('GROUP', 'cep', 'gone', 'STREAMS', stream, '>');
  };
  const readAs = (
    consumer: string,
    stream: string,
    position: SourcePosition | null,
    options: Partial<RedisStreamOptions> = {},
  ): ReadingSource => {
    const address = { host: '127.0.0.1', port: broker.port, tls: false, database: 0, username: undefined, password: 'secret' };
    const source = new RedisStreamSource({
      address: { ...address, door: new OutboundDoor(NetworkPolicy.everywhere) },
      ...{ stream, group: 'cep', consumer, textFields: new Set(), declaredFields: undefined },
      ...options,
    });
    const reading = new ReadingSource(source, position);
    readings.push(reading);
    return reading;
  };
  const pending = async (stream: string): Promise<readonly string[]> => {
    const found = (await client.xpending(stream, 'cep', '-', '+', 100)) as [string, string][];
    return found.map(([id, consumer]) => `${id} ${consumer}`);
  };
  /** Resolves when everything before it has been worked through. */
  const readLast = async (stream: string, reading: ReadingSource): Promise<readonly string[]> => {
    await client.xadd(stream, '1000-0', 'n', '1000');
    await reading.until(() => reading.texts.includes('{"n":1000}'));
    return reading.texts.slice(0, -1);
  };
  const acknowledged = (stream: string, left: readonly string[] = []): Promise<void> =>
    vi.waitFor(async () => expect(await pending(stream)).toEqual(left), { timeout: 20_000 });

  it('takes what was claimed for it, wherever its own place is, and only acknowledges what it has taken', async () => {
    await given('claimed', ['3-0', '10-0', '11-0', '12-0']);
    await client.xclaim('claimed', 'cep', 'me', 0, '3-0', '10-0', '11-0', '12-0');
    const before = [['10-0', '11-0']];
    const reading = readAs('me', 'claimed', { id: '11-0', taken: before });
    expect(await readLast('claimed', reading)).toEqual(['{"n":3}', '{"n":12}']);
    await acknowledged('claimed');
    // As long as a batch may not be acknowledged its entries stand in the position, and no longer.
    const positions = reading.batches.map(({ position }) => position);
    expect(positions).toEqual([
      { id: '11-0', taken: [...before, ['3-0', '3-0']] },
      { id: '12-0', taken: [...before, ['12-0', '12-0']] },
      { id: '1000-0', taken: [['1000-0', '1000-0']] },
    ]);
  });

  it('goes on behind a position of earlier versions', async () => {
    await given('earlier', ['3-0', '10-0', '12-0']);
    await client.xclaim('earlier', 'cep', 'me', 0, '3-0', '10-0', '12-0');
    const reading = readAs('me', 'earlier', { id: '10-0' });
    expect(await readLast('earlier', reading)).toEqual(['{"n":12}']);
    await acknowledged('earlier');
  });

  it('says of entries that are not in the stream any more that they are gone, and makes no events of them', async () => {
    await given('trimmed', ['1-0', '2-0', '3-0', '4-0']);
    await client.xclaim('trimmed', 'cep', 'me', 0, '1-0', '2-0', '3-0');
    await client.xclaim('trimmed', 'cep', 'gone', 0, '4-0', 'IDLE', LONG_MS, 'JUSTID');
    await client.xdel('trimmed', '2-0', '4-0');
    const reading = readAs('me', 'trimmed', null);
    expect(await readLast('trimmed', reading)).toEqual(['{"n":1}', '', '{"n":3}', '']);
    expect(reading.messages.flatMap(({ problem }) => problem ?? [])).toEqual([
      expect.stringMatching(/^the entry 2-0 was deleted or trimmed before it was read: /),
      expect.stringMatching(/^the entry 4-0 was deleted or trimmed before it was read: /),
    ]);
    await acknowledged('trimmed');
  });

  it('takes over what a member has left that is gone, and nothing that another works on', async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `${n + 1}-0`);
    await given('left', [...ids, '31-0']);
    await client.xclaim('left', 'cep', 'alive', 0, '31-0');
    await client.xclaim('left', 'cep', 'gone', 0, ...ids, 'IDLE', LONG_MS, 'JUSTID');
    const reading = readAs('me', 'left', null);
    expect(await readLast('left', reading)).toEqual(ids.map((id) => `{"n":${Number.parseInt(id, 10)}}`));
    await acknowledged('left', ['31-0 alive']);
  });

  it('tells the server that it works on entries as long as they are not safe, so that nobody takes them over', async () => {
    await client.xadd('slow', '1-0', 'n', '1');
    const reading = readAs('me', 'slow', null, { idleMs: 3_000 });
    let open = (): void => undefined;
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    await reading.until(() => reading.underWay === 1);
    await client.xclaim('slow', 'cep', 'me', 0, '1-0', 'IDLE', LONG_MS, 'JUSTID');
    await vi.waitFor(
      async () => {
        const [[, , idleMs] = []] = (await client.xpending('slow', 'cep', '-', '+', 1)) as [string, string, number][];
        expect(idleMs).toBeLessThan(LONG_MS / 2);
      },
      { timeout: 30_000, interval: 50 },
    );
    open();
    await acknowledged('slow');
    expect(reading.texts).toEqual(['{"n":1}']);
  });

  it.each([
    ['as a member takes as many at a time as else, as each of its batches is waited for', 'cep', [1, 8, 11]],
    ['by itself takes no more at a time than are looked up', undefined, [1, 4, 4, 4, 4, 3]],
  ])('where look-ups are waited for, whoever reads %s', async (_, group, sizes) => {
    const stream = `looked-up-${group}`;
    await client.del(stream);
    for (let n = 1; n <= 20; n++) await client.xadd(stream, `${n}-0`, 'n', n);
    const reading = readAs('me', stream, null, { group, messagesMax: () => 4 });
    await reading.until(() => reading.texts.length === 20);
    expect(reading.batches.map(({ messages }) => messages.length)).toEqual(sizes);
  });
});
