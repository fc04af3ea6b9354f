/**
 * The last batch of the log from which a delivery comes, when it was sent: what is behind those of the delivery waits at the coordinator. A
 * header, for a worker of the version before refuses a body with a field that it does not know. Who is not sent it takes the log to end there.
 */
export const LOG_END_HEADER = 'x-cep-log-end';

/** Undefined when it is no number of a batch. */
export function logEndSaid(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
