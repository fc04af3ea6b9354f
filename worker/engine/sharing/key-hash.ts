import { Duration, Timestamp } from '../../../shared/events/value.ts';

const PRIME = 16_777_619;
const BASIS = 0x811c9dc5 | 0;

/** A whole number from 0 on, the same for all values that the engine takes for equal anywhere: a duration is its milliseconds to some. */
export function keyHash(value: unknown): number {
  if (typeof value === 'string') return textHash(value);
  if (typeof value === 'number') return numberHash(value);
  if (value instanceof Duration || value instanceof Timestamp) return numberHash(value.ms);
  return value === true ? 1 : 0;
}

function textHash(text: string): number {
  let hash = BASIS;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return spread(hash);
}

function numberHash(value: number): number {
  if (!Number.isFinite(value)) return 0;
  const low = value | 0;
  // What is no whole number of 32 bits differs in its other parts.
  return spread(low === value ? low : textHash(String(value)));
}

/** The bits that decide depend on all others. */
function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
