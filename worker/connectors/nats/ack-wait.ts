import type { ConsumerConfig } from 'nats';

const NANOS_PER_MS = 1e6;
/** For less the server would have to be told of all that waits many times a second, ms. */
const SHORTEST_MS = 300;

/** After this time a server gives a message of the consumer again that it has not heard of, at the earliest, ms. Undefined: it does not say that. */
export function ackWaitOf({ ack_wait: wait, backoff = [] }: Partial<Pick<ConsumerConfig, 'ack_wait' | 'backoff'>>): number | undefined {
  const waits = [...(wait === undefined ? [] : [wait]), ...backoff].filter((nanos) => nanos > 0);
  return waits.length === 0 ? undefined : Math.max(SHORTEST_MS, Math.min(...waits) / NANOS_PER_MS);
}
