import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { ends } from './hostile-server.ts';
import { lookUpAt, readFrom, sendTo } from './hostile-trial.ts';

const MIB = 1_048_576;
/** Connections that hold less than usual, so that a flood need not be long. */
const door = new OutboundDoor(NetworkPolicy.everywhere, 4 * MIB);
/** What all of them together may take for a while in this process, bytes. */
const GROWTH_MAX = 96 * MIB;
const sinks = ['http', 'websocket', 'mqtt', 'redis', 'nats', 'kafka', 'postgres', 'mysql', 'smtp'];
const lookups = ['http', 'redis', 'postgres', 'mysql'];
const sources = ['websocket', 'mqtt', 'redis', 'redis_stream', 'nats', 'kafka'];

describe.each(Object.keys(ends))('a server that %s', (name) => {
  const end = ends[name] ?? ((): undefined => undefined);

  it.concurrent.each(sinks)('makes dead letters of what %s sends there, and opens its circuit', { timeout: 90_000 }, async (type) => {
    const { codes, isOpen, growth } = await sendTo({ end, type, door });
    // Redirects are a refusal of the message, which says nothing of the server.
    expect(isOpen || codes.includes('http_302')).toBe(true);
    expect(growth).toBeLessThan(GROWTH_MAX);
  });

  it.concurrent.each(sources)('is told of, and tried again, where %s reads there', { timeout: 90_000 }, async (type) => {
    const { growth, messages } = await readFrom({ end, type, door });
    expect(messages).toEqual([]);
    expect(growth).toBeLessThan(GROWTH_MAX);
  });

  it.concurrent.each(lookups)('fails each look-up of %s with a reason', { timeout: 90_000 }, async (type) => {
    expect((await lookUpAt({ end, type, door })).growth).toBeLessThan(GROWTH_MAX);
  });
});
