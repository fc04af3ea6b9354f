import { type Batching, DeliveryFailure, type Sink } from '../connector.ts';

/** So many messages at a time, each in a request of its own. */
export function together(messages: number, send: Sink['send']): Batching {
  return {
    messages,
    send: async (batch, signal) => {
      const sent = await Promise.allSettled(batch.map((message) => send(message, signal)));
      return sent.map((outcome) => (outcome.status === 'fulfilled' ? 'taken' : failureOf(outcome.reason)));
    },
  };
}

function failureOf(error: unknown): DeliveryFailure {
  if (error instanceof DeliveryFailure) return error;
  return new DeliveryFailure('failed', error instanceof Error ? error.message : String(error), { cause: error });
}
