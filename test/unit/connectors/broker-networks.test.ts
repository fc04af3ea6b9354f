import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { openSink, openSource, settingsOf } from '../../../worker/connectors/registry.ts';

const tenant = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.publicAnd(['10.1.0.0/16'])) };
const server = { ...tenant, door: new OutboundDoor(NetworkPolicy.everywhere) };

/** Each broker, as a program names one at an address. */
const brokers = [
  [
    'mqtt',
    (host: string) =>
      [
        ['host', host],
        ['topic', 't'],
      ] as const,
  ],
  [
    'mqtt',
    (host: string) =>
      [
        ['url', `mqtt://${host}:1883`],
        ['topic', 't'],
      ] as const,
  ],
  [
    'redis',
    (host: string) =>
      [
        ['url', `redis://${host}`],
        ['channel', 't'],
      ] as const,
  ],
  [
    'redis',
    (host: string) =>
      [
        ['url', `rediss://${host}:6380`],
        ['stream', 't'],
      ] as const,
  ],
  [
    'kafka',
    (host: string) =>
      [
        ['brokers', `${host}:9092`],
        ['topic', 't'],
      ] as const,
  ],
] as const;

describe.each(brokers)('%s in a program of a tenant', (type, parametersOf) => {
  const settings = (host: string) => settingsOf('B', type, parametersOf(host));
  const source = (host: string) => ({ ...settings(host), subscription: 's', topic: 't', textFields: [] });

  it.each(['8.8.8.8', '127.0.0.1', '169.254.169.254'])('is refused at %s, which no operator has named', (host) => {
    expect(() => openSink(settings(host), tenant)).toThrow(/operator has named/);
    expect(() => openSource(source(host), tenant)).toThrow(/operator has named/);
  });

  it('is taken in a network that the operator has named, and anywhere in programs of the server key', async () => {
    for (const [host, environment] of [
      ['10.1.2.3', tenant],
      ['8.8.8.8', server],
    ] as const) {
      await openSink(settings(host), environment).close();
      await openSource(source(host), environment).close();
    }
  });
});

it('a name that leads to a public address is refused when it is connected to', async () => {
  const error = await new Promise((resolve) => tenant.door.withoutPublic().connect({ host: 'localhost', port: 9 }).once('error', resolve));
  expect(error).toMatchObject({ code: 'forbidden_address' });
});
