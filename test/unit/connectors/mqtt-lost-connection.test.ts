import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { MqttSource } from '../../../worker/connectors/mqtt/mqtt-source.ts';
import { MqttBroker } from './mqtt-broker.ts';

describe('of MQTT messages that wait to be taken when the connection is lost', () => {
  let broker: MqttBroker;
  beforeEach(async () => {
    broker = await MqttBroker.start(() => false);
  });
  afterEach(() => broker.close());

  /** Texts that are taken in the end, where the first one is taken only when the connection is gone. */
  async function taken(isDurable: boolean): Promise<readonly string[]> {
    const { port } = broker;
    const address = { door: new OutboundDoor(NetworkPolicy.everywhere), host: '127.0.0.1', port, tls: false };
    const login = { username: undefined, password: undefined };
    const source = new MqttSource({ address: { ...address, ...login }, clientId: 'c', topic: 't', qos: 1, isDurable });
    const said = new EventTarget();
    const tell = (what: string) => () => void said.dispatchEvent(new Event(what));
    const texts: string[] = [];
    const [connected, disconnected, asked, ended] = ['connected', 'disconnected', 'asked', 'ended'].map((what) => once(said, what));
    source.start({
      position: null,
      take: async ({ messages }) => {
        tell('asked')();
        await disconnected;
        texts.push(...messages.map(({ bytes }) => Buffer.from(bytes).toString()));
        if (texts.includes('last')) tell('ended')();
        return true;
      },
      connected: tell('connected'),
      disconnected: tell('disconnected'),
      ended: () => undefined,
    });
    await connected;
    broker.give({ topic: 't', text: 'first', qos: 0 });
    await asked;
    broker.give({ topic: 't', text: 'once', qos: 0 });
    broker.give({ topic: 't', text: 'again', qos: 1, number: 1 });
    broker.give({ topic: 't', text: 'last', qos: 0 });
    broker.endConnections();
    await ended;
    await source.close();
    return texts;
  }

  it('those stay that do not come again', async () => {
    expect(await taken(true)).toEqual(['first', 'once', 'last']);
  });

  it('all stay where the broker keeps no session', async () => {
    expect(await taken(false)).toEqual(['first', 'once', 'again', 'last']);
  });
});
