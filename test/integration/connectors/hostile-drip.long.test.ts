import { expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { drip } from '../../unit/connectors/hostile-server.ts';
import { lookUpAt, readFrom, sendTo } from '../../unit/connectors/hostile-trial.ts';

const door = new OutboundDoor(NetworkPolicy.everywhere);
const msMax = 300_000;
const sinks = ['http', 'websocket', 'mqtt', 'redis', 'nats', 'kafka', 'postgres', 'mysql', 'smtp'];
const sources = ['websocket', 'mqtt', 'redis', 'redis_stream', 'nats', 'kafka'];

it.concurrent.each(sinks)('a server that gives a byte a second makes dead letters of what %s sends there', async (type) => {
  expect((await sendTo({ end: drip, type, door, msMax })).isOpen).toBe(true);
});

it.concurrent.each(sources)('a server that gives a byte a second is told of, and tried again, where %s reads there', async (type) => {
  expect((await readFrom({ end: drip, type, door, msMax })).messages).toEqual([]);
});

it.concurrent.each(['http', 'redis', 'postgres', 'mysql'])('a server that gives a byte a second fails each look-up of %s', async (type) => {
  // As the stream gives it up, unless the connector does.
  await lookUpAt({ end: drip, type, door, msMax: 60_000 });
});
