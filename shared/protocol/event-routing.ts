import { crc32c } from '../checksum/crc32c.ts';

const encoder = new TextEncoder();

/** Whether a route takes events of a type: it names the type, the beginning of it with `*`, or `*` alone. */
export function isRouted(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.some((wanted) => (wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type));
}

/**
 * The replica, from 0, that has the events with this value of the partition key. Coordinators and workers agree on it, in every version:
 * state is kept by it.
 */
export function replicaOf(value: unknown, replicas: number): number {
  if (replicas <= 1) return 0;
  const text = typeof value === 'string' ? `s${value}` : `j${JSON.stringify(value ?? null)}`;
  return crc32c(encoder.encode(text)) % replicas;
}
