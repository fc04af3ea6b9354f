import { expect, it } from 'vitest';
import { ackWaitOf } from '../../../worker/connectors/nats/ack-wait.ts';

const nanos = (ms: number): number => ms * 1e6;

it.each([
  ['what the consumer waits', { ack_wait: nanos(5_000) }, 5_000],
  ['the shortest of its steps', { ack_wait: nanos(5_000), backoff: [nanos(9_000), nanos(1_000), nanos(60_000)] }, 1_000],
  ['no less than anybody can keep up with', { ack_wait: nanos(1) }, 300],
  ['unknown where the server does not say it', {}, undefined],
  ['unknown where it says nothing of use', { ack_wait: 0, backoff: [] }, undefined],
])('the time after which a server gives again is %s', (_, config, waitMs) => {
  expect(ackWaitOf(config)).toBe(waitMs);
});
