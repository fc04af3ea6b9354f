import { crc32c } from '../../../shared/checksum/crc32c.ts';

/** A value of the store with its checksum before it: `[u32 crc32c][u32 head length][head: JSON][body]`, little endian. */
export function seal(head: unknown, body: Uint8Array = new Uint8Array(0)): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const sealed = Buffer.allocUnsafe(8 + text.length + body.byteLength);
  sealed.writeUInt32LE(text.length, 4);
  text.copy(sealed, 8);
  sealed.set(body, 8 + text.length);
  sealed.writeUInt32LE(crc32c(sealed.subarray(4)), 0);
  return sealed;
}

/** What was sealed; undefined when the bytes are not as they were. */
export function unseal<T>(sealed: Uint8Array): { readonly head: T; readonly body: Uint8Array } | undefined {
  if (!isWhole(sealed)) return undefined;
  const bytes = bufferOf(sealed);
  const end = 8 + bytes.readUInt32LE(4);
  return { head: JSON.parse(bytes.toString('utf8', 8, end)) as T, body: Uint8Array.from(bytes.subarray(end)) };
}

/** Whether the bytes are as they were sealed. */
export function isWhole(sealed: Uint8Array): boolean {
  const bytes = bufferOf(sealed);
  return bytes.length >= 8 && crc32c(bytes.subarray(4)) === bytes.readUInt32LE(0);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
