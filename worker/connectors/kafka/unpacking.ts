import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import type { KafkaMessage } from 'kafkajs';

/** Of what one compressed batch of a broker becomes. */
const UNPACKED_BYTES_MAX = 64 * 1_048_576;
/** What stands before the records of a batch (magic 2), and where in it: the version, the last offset from the first, the number of records. */
const HEAD = { bytes: 61, magicAt: 16, lastOffsetAt: 23, countAt: 57 } as const;
const MAGIC = 2;
const RECORDS_MAX = 4_194_304;
/** Keys of records that stand for what cannot be unpacked: nobody else knows it. */
const mark = randomUUID();
const unpack = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(unzip);

/**
 * The records of a batch in gzip. One that cannot be unpacked, or becomes too large, would be asked for again and again: the library gets
 * records that stand for it, the first with the packed bytes and what is wrong with them, all at the last offset of the batch.
 */
export async function unpackGzip(packed: Buffer): Promise<Buffer> {
  try {
    return await unpack(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (error) {
    const batch = batchOf(packed);
    if (batch === undefined) throw error;
    const isTooLarge = (error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isTooLarge ? `it unpacks to more than ${UNPACKED_BYTES_MAX} bytes` : `it cannot be unpacked (${textOf(error)})`;
    const problem = `found a batch of ${batch.count} messages in gzip: ${reason}`;
    const fillers = Array.from({ length: batch.count - 1 }, () => record(batch.lastOffset, `${mark}-`, Buffer.alloc(0)));
    return Buffer.concat([record(batch.lastOffset, `${mark}+${problem}`, packed), ...fillers]);
  }
}

/** What is wrong with it, where it stands for what could not be unpacked; null where it is one more of those; undefined where it is a message. */
export function unpackingProblem({ key }: KafkaMessage): string | null | undefined {
  if (key === null || key.length <= mark.length || key.toString('latin1', 0, mark.length) !== mark) return undefined;
  return key[mark.length] === PROBLEM ? key.toString('utf8', mark.length + 1) : null;
}

const PROBLEM = 43;

/** The library gives a view of the batch from its records on, with the head still before it. */
function batchOf({ buffer, byteOffset }: Buffer): { readonly count: number; readonly lastOffset: number } | undefined {
  const start = byteOffset - HEAD.bytes;
  if (start < 0) return undefined;
  const head = new DataView(buffer, start, HEAD.bytes);
  const [count, lastOffset] = [head.getInt32(HEAD.countAt), head.getInt32(HEAD.lastOffsetAt)];
  return head.getInt8(HEAD.magicAt) === MAGIC && count > 0 && count <= RECORDS_MAX && lastOffset >= 0 ? { count, lastOffset } : undefined;
}

/** As the protocol has them: attributes, time, offset, key, value, headers, with their length before. */
function record(offset: number, key: string, value: Buffer): Buffer {
  const keyBytes = Buffer.from(key);
  const body = [Buffer.of(0, 0), zigzag(offset), zigzag(keyBytes.length), keyBytes, zigzag(value.length), value, Buffer.of(0)];
  return Buffer.concat([zigzag(body.reduce((sum, part) => sum + part.length, 0)), ...body]);
}

/** A number from 0 up as a varint. */
function zigzag(number: number): Buffer {
  const bytes: number[] = [];
  for (let rest = 2 * number; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) + 128);
    if (rest < 128) return Buffer.from(bytes);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
