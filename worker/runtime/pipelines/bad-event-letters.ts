import type { DeadLetter } from '../../connectors/delivery/dead-letters.ts';
import { connectorOf, rawEvent } from '../../connectors/sources/raw-message.ts';
import type { RecordResult } from '../threads/messages.ts';
import type { Entry } from './intake.ts';
import type { SourceMark } from './runtime-storage.ts';

type BadEventLetter = Pick<DeadLetter, 'id' | 'connector' | 'stream' | 'event' | 'error' | 'code'>;

/** For each line that a source gave and the program did not take, its dead letter; `id` is the index of the line. */
export function badEventLetters({ bytes, time }: Entry, { id }: SourceMark, { problems }: RecordResult): readonly BadEventLetter[] {
  if (problems.length === 0 || bytes === null) return [];
  const lines = linesOf(bytes);
  return problems.map(({ index, code, field, message }) => ({
    id: String(index),
    connector: connectorOf(id),
    stream: '',
    event: rawEvent(lines[index] ?? new Uint8Array(), time),
    error: field === '' || message.includes(`\`${field}\``) ? message : `field \`${field}\`: ${message}`,
    code,
  }));
}

function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.byteLength : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
