import type { Fields } from '../../shared/events/event.ts';
import { readEvents } from '../../shared/events/event-reader.ts';
import type { ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import { jsonLine } from '../../shared/events/writer.ts';
import { type FileResult, readEventFiles } from '../event-files/event-lines.ts';
import { type EventSourceOptions, formatByName } from '../event-files/event-source.ts';
import type { EventProblems, InvalidEvent } from '../simulation/event-problems.ts';
import type { Pace } from '../simulation/pace.ts';

/** A body stays far below what the server takes. */
const BATCH_BYTES_MAX = 4_194_304;

/** Events on their way to a server in one request. */
export interface EventBatch {
  /** JSON lines. */
  readonly text: string;
  /** Of each event: its line in what was read, and its type. */
  readonly events: readonly { readonly line: number; readonly type: string }[];
}

export interface BatchOptions {
  /** How files are to be read, where their names do not say it. */
  readonly source: Omit<EventSourceOptions, 'schemas'>;
  readonly schemas: EventSchemas;
  /** Takes the lines that hold no event. */
  readonly problems: EventProblems;
  readonly eventsMax: number;
  /** Field that says when an event happened, before anything else does. */
  readonly timeField: string | undefined;
  /** Epoch ms from which the offsets of an `.evt` file count. */
  readonly startedAtMs: number;
  /** Takes the fields of each event of a file that says no time. */
  readonly untimed: (fields: Fields) => void;
  /** Takes the members of an event that mean nothing, and are not sent. */
  readonly unknown: (members: readonly string[]) => void;
  /** Lets recorded time pass; undefined sends as fast as the server takes it. */
  readonly pace: Pace | undefined;
}

/** `Type { .. }`, `Type(..)`, `@5s Type { .. }` or `{ .. }`: anything else names a file. */
export function isEventText(text: string): boolean {
  return /^\s*(?:[@{]|[^\s({]+\s*[({])/.test(text);
}

/** The results of the texts of `--event`, one line each; they have no offsets. */
function readEventTexts(texts: readonly string[], schemas: EventSchemas): ReadResult[] {
  return texts.flatMap((text, index) => {
    const reader = readEvents('', { schemas });
    const results = [...reader.write(new TextEncoder().encode(text)), ...reader.end()];
    return results.map((result) => withLine(result, index + 1));
  });
}

function withLine(result: ReadResult, line: number): ReadResult {
  if (result.kind === 'unreadable') return { ...result, diagnostic: { ...result.diagnostic, line } };
  return { ...result, line };
}

/** The highest offset in an `.evt` file, ms; 0 for any other file. @throws CepError `file_not_found`, `io_error` */
export async function lastOffset(path: string, { source, schemas }: Pick<BatchOptions, 'source' | 'schemas'>): Promise<number> {
  if (!hasOffsets(path, source)) return 0;
  let last = 0;
  for await (const { result } of readEventFiles([path], { ...source, schemas })) {
    if (result.kind === 'event') last = Math.max(last, result.event.fallbackTime);
  }
  return last;
}

function hasOffsets(path: string, source: BatchOptions['source']): boolean {
  return (formatByName(path) ?? source.format) === 'evt';
}

/** The events of a file in batches. @throws CepError `file_not_found`, `io_error` */
export function fileBatches(path: string, options: BatchOptions): AsyncGenerator<EventBatch, void, undefined> {
  const { source, schemas, timeField } = options;
  return batches(resultsOf(readEventFiles([path], { ...source, schemas, timeField })), {
    ...options,
    hasOffsets: hasOffsets(path, source),
  });
}

async function* resultsOf(read: AsyncIterable<FileResult>): AsyncGenerator<ReadResult, void, undefined> {
  for await (const { result } of read) yield result;
}

/** The events of the texts of `--event` in batches. */
export function textBatches(texts: readonly string[], options: BatchOptions): AsyncGenerator<EventBatch, void, undefined> {
  return batches(readEventTexts(texts, options.schemas), { ...options, untimed: () => undefined, hasOffsets: false });
}

async function* batches(
  results: Iterable<ReadResult> | AsyncIterable<ReadResult>,
  options: BatchOptions & { readonly hasOffsets: boolean },
): AsyncGenerator<EventBatch, void, undefined> {
  const { problems, eventsMax, pace } = options;
  let batch = new OpenBatch();
  for await (const result of results) {
    if (result.kind === 'unreadable') problems.addUnreadable(result.diagnostic);
    else if (result.kind === 'invalid') problems.addInvalid(result);
    else {
      const mustWait = pace?.mustWait(result.event.fallbackTime) ?? false;
      if (!batch.isEmpty && (mustWait || batch.events.length >= eventsMax || batch.length >= BATCH_BYTES_MAX)) {
        yield batch;
        batch = new OpenBatch();
      }
      if (mustWait) await pace?.wait(result.event.fallbackTime);
      if (result.unknownMembers !== undefined) options.unknown(result.unknownMembers);
      batch.add(result, eventLine(result, options));
    }
  }
  if (!batch.isEmpty) yield batch;
}

class OpenBatch implements EventBatch {
  readonly events: { readonly line: number; readonly type: string }[] = [];
  readonly #lines: string[] = [];
  length = 0;

  get isEmpty(): boolean {
    return this.events.length === 0;
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  add({ line, event }: ReadEvent, text: string): void {
    this.events.push({ line, type: event.type });
    this.#lines.push(text);
    this.length += text.length;
  }
}

/** An event says its time in the envelope, or in a field; else its offset does; else it has the time of its arrival. */
function eventLine({ event }: ReadEvent, options: BatchOptions & { readonly hasOffsets: boolean }): string {
  const { schemas, startedAtMs, hasOffsets, untimed } = options;
  const { timestamp, fallbackTime } = event;
  if (timestamp !== undefined) return jsonLine(event, timestamp);
  const saysItself = schemas.ownTime(event.type, event.fields) !== undefined;
  if (!saysItself && !hasOffsets) untimed(event.fields);
  return jsonLine(event, saysItself || !hasOffsets ? undefined : startedAtMs + fallbackTime);
}

/** What a server said of an event of a batch. */
export function problemOf({ events }: EventBatch, index: number, code: string, error: string): InvalidEvent {
  const { line, type } = events[index] ?? { line: 0, type: '' };
  return { line, type, field: '', message: code === 'invalid_event' ? error : `${code}: ${error}` };
}
