import { crc32 } from 'node:zlib';
import { invariant } from '../../../shared/errors/error.ts';
import type { Operation } from '../storage/log-storage.ts';

/**
 * A frame is its length and a CRC-32 of what follows, 32 bits each, then its kind and operations: 1 or 0 for put or delete, the length of the
 * key and the key, and for a put the length and the bytes of the value. All big endian. A length of 0 is where nothing was written yet.
 */
const headBytes = 8;
const kinds = { alive: 1, allAlive: 2, batch: 3 } as const;
/** Of what is alive, so many bytes go into one frame. */
const alivePartBytes = 1_048_576;

export function encodeFrames(operations: readonly Operation[]): Uint8Array {
  return encodeFrame(kinds.batch, operations);
}

/** What a file begins with; only with the last of them it is whole. */
export function* encodePutFrames(records: ReadonlyMap<string, Uint8Array>): Generator<Uint8Array> {
  let [part, bytes]: [Operation[], number] = [[], 0];
  for (const [key, value] of records) {
    part.push({ type: 'put', key, value });
    bytes += value.length;
    if (bytes < alivePartBytes) continue;
    yield encodeFrame(kinds.alive, part);
    [part, bytes] = [[], 0];
  }
  yield encodeFrame(kinds.allAlive, part);
}

function encodeFrame(kind: number, operations: readonly Operation[]): Uint8Array {
  let length = headBytes + 1;
  for (const operation of operations) length += 2 + operation.key.length + (operation.type === 'put' ? 4 + operation.value.length : 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = bytes.writeUInt8(kind, headBytes);
  for (const operation of operations) {
    const { type, key } = operation;
    invariant(key.length < 256, `the key ${key} is too long`);
    at = bytes.writeUInt8(type === 'put' ? 1 : 0, at);
    at = bytes.writeUInt8(key.length, at);
    at += bytes.write(key, at, 'latin1');
    if (type === 'delete') continue;
    at = bytes.writeUInt32BE(operation.value.length, at);
    bytes.set(operation.value, at);
    at += operation.value.length;
  }
  bytes.writeUInt32BE(length - headBytes, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(headBytes)), 4);
  return bytes;
}

/** What the frames make, up to the first that is none or is damaged. */
export function readFrames(file: Buffer): { readonly records: Map<string, Uint8Array>; readonly isWhole: boolean } {
  const records = new Map<string, Uint8Array>();
  let isWhole = false;
  for (let at = 0; at + headBytes <= file.length; ) {
    const length = file.readUInt32BE(at);
    const frame = file.subarray(at + headBytes, at + headBytes + length);
    if (length === 0 || frame.length < length || crc32(frame) !== file.readUInt32BE(at + 4)) break;
    take(frame, records);
    if (frame[0] === kinds.allAlive) isWhole = true;
    at += headBytes + length;
  }
  return { records, isWhole };
}

/** The checksum was right, so the operations are what was written. */
function take(frame: Buffer, records: Map<string, Uint8Array>): void {
  for (let at = 1; at < frame.length; ) {
    const isPut = frame[at] === 1;
    const keyEnd = at + 2 + (frame[at + 1] as number);
    const key = frame.toString('latin1', at + 2, keyEnd);
    records.delete(key);
    at = keyEnd;
    if (!isPut) continue;
    const length = frame.readUInt32BE(at);
    at += 4 + length;
    // A copy: what is alive must not keep the whole file.
    records.set(key, Uint8Array.prototype.slice.call(frame, at - length, at));
  }
}
