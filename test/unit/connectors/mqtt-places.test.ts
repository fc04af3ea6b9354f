import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { SourceBatch, SourcePosition } from '../../../worker/connectors/connector.ts';
import { MqttSource } from '../../../worker/connectors/mqtt/mqtt-source.ts';
import { type Given, MqttBroker } from './mqtt-broker.ts';

describe('where an MQTT message stands among those of the topic', () => {
  let broker: MqttBroker;
  beforeEach(async () => {
    broker = await MqttBroker.start(() => false);
  });
  afterEach(() => broker.close());

  /** Batches of what the broker gives, one message each. With the last one the process ends, if it is not taken. */
  async function read(
    given: readonly Given[],
    { position = null, isLastTaken = true, isDurable = true }: Partial<Record<'isLastTaken' | 'isDurable', boolean>> & Start = {},
  ): Promise<readonly SourceBatch[]> {
    const { port } = broker;
    const address = {
      ...{ door: new OutboundDoor(NetworkPolicy.everywhere), host: '127.0.0.1', port },
      ...{ tls: false, username: undefined, password: undefined },
    };
    const source = new MqttSource({ address, clientId: 'c', topic: 't', qos: 1, isDurable });
    const said = new EventTarget();
    const batches: SourceBatch[] = [];
    const connected = once(said, 'connected');
    source.start({
      position,
      take: async (batch) => {
        batches.push(batch);
        said.dispatchEvent(new Event('batch'));
        return isLastTaken || batches.length < given.length;
      },
      connected: () => void said.dispatchEvent(new Event('connected')),
      disconnected: () => undefined,
      ended: () => undefined,
    });
    await connected;
    for (const one of given) {
      const taken = once(said, 'batch');
      broker.give(one);
      await taken;
    }
    await source.close();
    return batches;
  }

  const places = (batches: readonly SourceBatch[]): (string | undefined)[] => batches.map(({ placeOf }) => placeOf?.(0));
  const bad = { topic: 't', text: 'garbage', qos: 1 } as const;

  it('is not said of what does not come again', async () => {
    const batches = await read([
      { ...bad, qos: 0 },
      { ...bad, qos: 0 },
    ]);
    expect(batches.every(({ placeOf }) => placeOf !== undefined)).toBe(true);
    expect(places(batches)).toEqual([undefined, undefined]);
    expect(places(await read([bad], { isDurable: false }))).toEqual([undefined]);
  });

  it('is another for each, also where the broker uses a number again', async () => {
    const other = { ...bad, text: 'other' };
    const first = await read([bad, other, bad, other, bad]);
    const second = await read([bad], { position: first.at(-1)?.position ?? null });
    expect(new Set(places([...first, ...second])).size).toBe(6);
    expect(places(first)).not.toContain(undefined);
  });

  it('is the same when it comes again, as the process has ended before it was taken', async () => {
    const [taken, lost] = await read([bad, { ...bad, number: 2 }], { isLastTaken: false });
    const again = await read([{ ...bad, number: 2, isRepetition: true }], { position: taken?.position ?? null });
    expect(lost?.placeOf?.(0)).toBeDefined();
    expect(places(again)).toEqual([lost?.placeOf?.(0)]);
  });
});

interface Start {
  readonly position?: SourcePosition | null;
}
