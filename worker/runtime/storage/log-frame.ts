import { crc32c } from '../../../shared/checksum/crc32c.ts';
import type { LoggedRecord, LoggedRequest, SourceMark } from '../pipelines/runtime-storage.ts';
import type { InjectFormat } from '../service.ts';

/**
 * How records stand in a segment of the log, little endian:
 * `[u32 mark][u32 length][u32 crc32c][payload]`, where payload is `[u32 head length][head: JSON][body]`, and `length` and the checksum
 * are of the payload. The mark lets a reader find the next record behind bytes that are not as they were.
 */
const MARK = 0x9c45504c;
const HEADER_BYTES = 12;

/** In a later segment: what the other segment holds behind this length was refused. */
export interface LoggedCut {
  readonly kind: 'cut';
  readonly segment: number;
  readonly length: number;
}

type Head =
  | {
      readonly k: 'request';
      readonly p: string;
      readonly s: number;
      readonly f: InjectFormat;
      readonly n?: string;
      readonly t: number;
      readonly i?: { readonly key: string; readonly digest: string };
      readonly o: boolean;
      readonly c?: SourceMark;
    }
  | { readonly k: 'tick'; readonly s: number; readonly t: number; readonly p: readonly string[] }
  | { readonly k: 'skip'; readonly p: string; readonly s: number; readonly i: number }
  | { readonly k: 'cut'; readonly n: number; readonly l: number };

export function frameOf(record: LoggedRecord | LoggedCut): Buffer {
  const head = Buffer.from(JSON.stringify(headOf(record)));
  const body = record.kind === 'request' ? record.bytes : undefined;
  const length = 4 + head.length + (body?.byteLength ?? 0);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32LE(MARK, 0);
  frame.writeUInt32LE(length, 4);
  frame.writeUInt32LE(head.length, HEADER_BYTES);
  head.copy(frame, HEADER_BYTES + 4);
  if (body) frame.set(body, HEADER_BYTES + 4 + head.length);
  frame.writeUInt32LE(crc32c(frame.subarray(HEADER_BYTES)), 8);
  return frame;
}

function headOf(record: LoggedRecord | LoggedCut): Head {
  switch (record.kind) {
    case 'request': {
      const { pipelineId: p, sequence: s, format: f, timeField: n, time: t, idempotency: i, outputs: o, source: c } = record;
      return { k: 'request', p, s, f, ...(n && { n }), t, o, ...(i && { i }), ...(c && { c }) };
    }
    case 'tick':
      return { k: 'tick', s: record.sequence, t: record.time, p: record.pipelineIds };
    case 'skip':
      return { k: 'skip', p: record.pipelineId, s: record.sequence, i: record.index };
    case 'cut':
      return { k: 'cut', n: record.segment, l: record.length };
  }
}

/** What stands in a segment, in order. A gap is a stretch that cannot be read; at the end of the segment it is a torn tail. */
export type FoundFrame =
  | { readonly kind: 'record'; readonly record: LoggedRecord | LoggedCut; readonly end: number }
  | { readonly kind: 'gap'; readonly start: number; readonly end: number };

export function* readFrames(bytes: Buffer, start: number): Generator<FoundFrame> {
  for (let at = start; at < bytes.length; ) {
    const end = frameEnd(bytes, at);
    if (end !== undefined) {
      yield { kind: 'record', record: recordOf(bytes.subarray(at + HEADER_BYTES, end)), end };
      at = end;
      continue;
    }
    const next = nextFrame(bytes, at + 1);
    yield { kind: 'gap', start: at, end: next };
    at = next;
  }
}

/** The end of the frame that begins here; undefined when none does. */
function frameEnd(bytes: Buffer, at: number): number | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== MARK) return undefined;
  const end = at + HEADER_BYTES + bytes.readUInt32LE(at + 4);
  if (end > bytes.length) return undefined;
  return crc32c(bytes.subarray(at + HEADER_BYTES, end)) === bytes.readUInt32LE(at + 8) ? end : undefined;
}

const mark = Buffer.alloc(4);
mark.writeUInt32LE(MARK);

function nextFrame(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(mark, from); at >= 0; at = bytes.indexOf(mark, at + 1)) if (frameEnd(bytes, at) !== undefined) return at;
  return bytes.length;
}

function recordOf(payload: Buffer): LoggedRecord | LoggedCut {
  const bodyStart = 4 + payload.readUInt32LE(0);
  const head = JSON.parse(payload.toString('utf8', 4, bodyStart)) as Head;
  switch (head.k) {
    case 'request':
      return requestOf(head, Uint8Array.from(payload.subarray(bodyStart)));
    case 'tick':
      return { kind: 'tick', sequence: head.s, time: head.t, pipelineIds: head.p };
    case 'skip':
      return { kind: 'skip', pipelineId: head.p, sequence: head.s, index: head.i };
    case 'cut':
      return { kind: 'cut', segment: head.n, length: head.l };
  }
}

function requestOf({ p, s, f, n, t, i, o, c }: Extract<Head, { k: 'request' }>, bytes: Uint8Array): LoggedRequest {
  const further = { ...(n === undefined ? {} : { timeField: n }), ...(c && { source: c }) };
  return { kind: 'request', pipelineId: p, sequence: s, format: f, ...further, time: t, idempotency: i ?? null, outputs: o, bytes };
}
