import { crc32c } from '../checksum/crc32c.ts';

/**
 * The replica that an event belongs to, by the value of its partition key. Coordinators and workers give the same, in every version: the
 * state for a key is where its events go. What has no key goes to the first.
 */
export function replicaOf(key: unknown, replicas: number): number {
  if (replicas <= 1 || key === undefined || key === null) return 0;
  return crc32c(Buffer.from(JSON.stringify(key))) % replicas;
}
