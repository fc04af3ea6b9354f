import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropWebSocketClients, WebSocketClient } from '../clients/websocket-client.ts';
import { Service, serverKey } from './service.ts';

const hour = 3_600_000;

/** A wall clock that is set by hand; what has elapsed is the machine's. */
class SetClock {
  offset = 0;
  wallMs = (): number => Date.now() + this.offset;
  elapsedMs = (): number => performance.now();
}

/** A match needs time to stand still or go on: what is late opens no run, and counts in `events_late`. */
const followed =
  'stream Pair = A as a -> B as b within 10m\n    .emit(n: b.n)\n\nstream Each = A.window(1s).aggregate(n: count()).emit(n: n)\n';

type Send = (service: Service, path: string, types: readonly string[]) => Promise<void>;
const eventsOf = (types: readonly string[]): object[] => types.map((event_type) => ({ event_type, fields: { n: 1 } }));

const ways: readonly (readonly [string, Send])[] = [
  [
    'single requests',
    async (service, path, types) => {
      for (const one of eventsOf(types)) expect(await service.post(`${path}/events`, one)).toMatchObject({ status: 200 });
    },
  ],
  [
    'a batch',
    async (service, path, types) => {
      const answer = await service.post(`${path}/events-batch`, { events: eventsOf(types) });
      expect(answer).toMatchObject({ status: 200, body: { accepted: types.length } });
    },
  ],
  [
    'lines',
    async (service, path, types) => {
      const body = eventsOf(types)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join('');
      const answer = await service.post(`${path}/events-batch`, body, { headers: { 'content-type': 'application/x-ndjson' } });
      expect(answer).toMatchObject({ status: 200, body: { accepted: types.length } });
    },
  ],
];

describe('a wall clock that is set', () => {
  let clock: SetClock;
  let service: Service;
  let stateDir: string;

  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-clock-'));
    clock = new SetClock();
    service = await Service.start({ clock, stateDir });
  });
  afterEach(async () => {
    dropWebSocketClients();
    await service.close();
    rmSync(stateDir, { recursive: true });
  });

  const late = async (path: string): Promise<number> => (await service.get(`${path}/metrics`)).body.events_late;
  const matches = async (path: string): Promise<number> => {
    const { streams } = (await service.get(`${path}/metrics`)).body;
    return streams.find(({ name }: { name: string }) => name === 'Pair').events_out;
  };

  describe.each(ways)('makes nothing late that comes by %s', (_name, send) => {
    it.each([
      ['back', [-hour]],
      ['forward', [hour]],
      ['forward and back', [hour, 0]],
      ['back and forward', [-hour, 0]],
    ])('%s', async (_direction, offsets) => {
      const path = await service.deploy(followed);
      await send(service, path, ['A', 'B']);
      expect(await matches(path)).toBe(1);
      for (const offset of offsets) {
        clock.offset = offset;
        await send(service, path, ['A', 'B', 'A', 'B']);
      }
      expect(await late(path)).toBe(0);
      expect(await matches(path)).toBe(1 + 2 * offsets.length);
    });
  });

  it('makes nothing late that comes over a WebSocket', async () => {
    const client = await WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, [], { 'x-api-key': serverKey });
    const count = (type: string): number => client.messages.filter((message) => message.type === type).length;
    client.send({ type: 'load', source: 'stream Pair = A as a -> B as b within 10m\n    .emit(n: b.n)\n' });
    await client.until(() => count('load_result') === 1);
    for (const offset of [0, -hour, hour, 0]) {
      clock.offset = offset;
      for (const one of ['A', 'B']) client.send({ type: 'event', data: { event_type: one, n: 1 } });
    }
    await client.until(() => count('event_injected') === 8);
    expect(count('output_event')).toBe(4);
  });

  it('makes nothing late behind a restart', async () => {
    const path = await service.deploy(followed);
    clock.offset = hour;
    const durable = await service.post(`${path}/events?durable=true`, { event_type: 'A', fields: { n: 1 } });
    expect(durable.status).toBe(200);
    await service.close();
    clock.offset = 0;
    service = await Service.start({ clock, stateDir });
    const { body } = await service.post(`${path}/events`, { event_type: 'B', fields: { n: 2 } });
    // The window of a second may close too, when the second is over.
    expect(body.output_events.filter(({ event_type }: { event_type: string }) => event_type === 'Pair')).toHaveLength(1);
    await ways[1]?.[1](service, path, ['A', 'B']);
    expect([await late(path), await matches(path)]).toEqual([0, 2]);
  });

  it('makes nothing late behind a restore from a server whose clock is ahead, nor moves the clock of another pipeline', async () => {
    const [path, other] = [await service.deploy(followed), await service.deploy(followed)];
    const fast = new SetClock();
    fast.offset = 2 * hour;
    const ahead = await Service.start({ clock: fast });
    const there = await ahead.deploy(followed);
    await ways[1]?.[1](ahead, there, ['A', 'B', 'A']);
    const { text } = await ahead.post(`${there}/checkpoint`);
    await ahead.close();
    const watermark = async (at: string): Promise<number> => (await service.get(`${at}/metrics`)).body.watermark;
    expect(await service.post(`${path}/restore`, text)).toMatchObject({ status: 200 });
    const restart = async (): Promise<void> => {
      await service.close();
      service = await Service.start({ clock, stateDir });
    };
    for (const between of [async () => undefined, restart]) {
      await between();
      for (const [, send] of ways) for (const at of [path, other]) await send(service, at, ['A', 'B', 'A']);
      expect([await late(path), await late(other)]).toEqual([0, 0]);
      expect(await watermark(path)).toBeGreaterThan(Date.now() + hour);
      expect(await watermark(other)).toBeLessThan(Date.now() + hour);
    }
  });
});
