import { isUtf8 } from 'node:buffer';
import type { DeadLetter } from '../delivery/dead-letters.ts';

/** Of a message that is no event, what a dead letter keeps. */
const KEPT_BYTES = 65_536;

/** A message that is no event as a dead letter has it: as text under `raw`, or as `raw_base64`; `raw_bytes` says its length where that is cut. */
export function rawEvent(bytes: Uint8Array, time: number): DeadLetter['event'] {
  const kept = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, KEPT_BYTES));
  const raw = isUtf8(kept) ? { raw: kept.toString('utf8') } : { raw_base64: kept.toString('base64') };
  return { event_type: '', timestamp: time, data: { ...raw, ...(kept.length < bytes.byteLength ? { raw_bytes: bytes.byteLength } : {}) } };
}

/** The connector of a subscription `<connector>/<topic>`. */
export function connectorOf(subscription: string): string {
  return subscription.split(/[/#]/, 1)[0] ?? subscription;
}
