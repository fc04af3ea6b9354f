import { join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import type { LoggedRecord } from '../pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../service.ts';
import { diskFiles, type LogFile, type LogFiles } from './log-files.ts';
import { frameOf, type LoggedCut, readFrames } from './log-frame.ts';

const SEGMENT_HEAD = Buffer.from('CEPLOG1\n');
const SEGMENT_BYTES_DEFAULT = 64 * 1_048_576;

export interface EventLogOptions {
  readonly folder: string;
  readonly report: (report: RuntimeReport) => void;
  readonly files?: LogFiles;
  /** A segment that is larger is followed by a new one. */
  readonly segmentBytes?: number;
}

interface Segment {
  readonly number: number;
  readonly path: string;
  /** Bytes that count; behind them nothing does. */
  length: number;
  /** By pipeline: the sequence of its last request, and of its last tick. */
  readonly requests: Map<string, number>;
  readonly ticks: Map<string, number>;
}

interface Waiting {
  readonly record: LoggedRecord;
  readonly frame: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The write-ahead log: segments of records, each with a checksum. What is appended while a write is under way goes out with the next, with one
 * sync for all of it. A write that fails refuses everything it held, and leaves none of it behind: what was on disk before stays what it
 * was. After a failed sync the file is not used again.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  readonly #files: LogFiles;
  readonly #segments: Segment[];
  #file: LogFile | undefined;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #isRetiring = false;
  /** Segments that hold refused records which could not be removed; the next segment says so. */
  #cuts: LoggedCut[] = [];
  #closing: (() => void) | undefined;
  failures = 0;
  syncs = 0;

  /** Opens the log; what was torn at its end is cut, and said. @throws CepError `io_error` */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const files = options.files ?? diskFiles;
    try {
      await files.makeFolder(options.folder);
      const names = (await files.list(options.folder)).filter((name) => /^\d{8}\.log$/.test(name)).sort();
      const segments = names.map(
        (name): Segment => ({
          number: Number.parseInt(name, 10),
          path: join(options.folder, name),
          length: 0,
          requests: new Map(),
          ticks: new Map(),
        }),
      );
      const log = new EventLog(options, segments);
      await log.#examine();
      return log;
    } catch (cause) {
      throw new CepError('io_error', `the event log in '${options.folder}' cannot be opened: ${messageOf(cause)}`, { cause });
    }
  }

  private constructor(options: EventLogOptions, segments: Segment[]) {
    this.#options = options;
    this.#files = options.files ?? diskFiles;
    this.#segments = segments;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { length }) => sum + length, 0);
  }

  /** The largest sequence of any record; 0 when there is none. */
  get lastSequence(): number {
    return Math.max(0, ...this.#segments.flatMap(({ requests, ticks }) => [...requests.values(), ...ticks.values()]));
  }

  /** Reads every segment once: where it ends, what it holds of which pipeline. */
  async #examine(): Promise<void> {
    const cuts: LoggedCut[] = [];
    for (const segment of this.#segments) {
      const bytes = await this.#files.read(segment.path);
      const isLast = segment === this.#segments.at(-1);
      let end = Math.min(SEGMENT_HEAD.length, bytes.length);
      for (const frame of readFrames(bytes, end)) {
        if (frame.kind === 'gap') this.#reportGap(segment, frame, { isTail: isLast && frame.end === bytes.length });
        else if (frame.record.kind === 'cut') cuts.push(frame.record);
        else note(segment, frame.record);
        if (frame.kind === 'record') end = frame.end;
      }
      segment.length = end;
      if (end < bytes.length) await this.#files.truncate(segment.path, end);
    }
    for (const { segment: number, length } of cuts) {
      const segment = this.#segments.find((one) => one.number === number);
      if (segment && segment.length > length) segment.length = length;
    }
  }

  #reportGap(
    { path }: Segment,
    { start, end }: { readonly start: number; readonly end: number },
    { isTail }: { readonly isTail: boolean },
  ): void {
    const fields = { file: path, offset: start, bytes: end - start };
    if (isTail) this.#options.report({ level: 'warn', message: 'Torn end of the event log cut', fields });
    else {
      this.failures++;
      this.#options.report({ level: 'error', message: 'Corrupt record in the event log', fields });
    }
  }

  /** Everything in the log, in order. One segment at a time is in memory. */
  async *records(): AsyncGenerator<LoggedRecord> {
    for (const segment of [...this.#segments]) {
      const bytes = (await this.#files.read(segment.path)).subarray(0, segment.length);
      for (const frame of readFrames(bytes, SEGMENT_HEAD.length)) {
        if (frame.kind === 'record' && frame.record.kind !== 'cut') yield frame.record;
      }
    }
  }

  /** Resolves when it is on disk; a tick as soon as the system has it. @throws CepError `storage_unavailable` */
  append(record: LoggedRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, frame: frameOf(record), resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // What else comes in this turn goes out together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#writeGroup(group);
    }
    this.#isWriting = false;
    this.#closing?.();
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const segment = await this.#openSegment();
      await this.#write(segment, group);
      for (const { record } of group) note(segment, record);
    } catch (error) {
      this.#refuse(group, error);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  async #write(segment: Segment, group: readonly Waiting[]): Promise<void> {
    const file = this.#file as LogFile;
    const bytes = Buffer.concat(group.map(({ frame }) => frame));
    try {
      await file.append(bytes);
      if (group.some(({ record }) => record.kind !== 'tick')) {
        await file.sync();
        this.syncs++;
      }
    } catch (error) {
      await this.#leave(segment, file);
      throw error;
    }
    segment.length += bytes.length;
  }

  /** Nothing of what could not be written may be read later as if it had been. */
  async #leave(segment: Segment, file: LogFile): Promise<void> {
    this.#file = undefined;
    const { number, length, path } = segment;
    try {
      await file.close();
      await this.#files.truncate(path, length);
    } catch (error) {
      this.#options.report({
        level: 'error',
        message: 'Refused records stay in the event log',
        fields: { file: path, reason: messageOf(error) },
      });
      this.#cuts.push({ kind: 'cut', segment: number, length });
    }
  }

  /** The segment that is written to; a new one where there is none, or it is full. */
  async #openSegment(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (this.#file !== undefined && last !== undefined) {
      if (last.length < (this.#options.segmentBytes ?? SEGMENT_BYTES_DEFAULT)) return last;
      await this.#file.close();
      this.#file = undefined;
    }
    return this.#newSegment((last?.number ?? 0) + 1);
  }

  async #newSegment(number: number): Promise<Segment> {
    const { folder } = this.#options;
    const path = join(folder, `${String(number).padStart(8, '0')}.log`);
    const head = Buffer.concat([SEGMENT_HEAD, ...this.#cuts.map(frameOf)]);
    // What is left of an attempt that failed is of no use to anybody.
    await this.#files.remove(path);
    const file = await this.#files.create(path);
    try {
      await file.append(head);
      await file.sync();
      await this.#files.syncFolder(folder);
    } catch (error) {
      await file.close().catch(() => undefined);
      await this.#files.remove(path).catch(() => undefined);
      throw error;
    }
    const segment: Segment = { number, path, length: head.length, requests: new Map(), ticks: new Map() };
    this.#segments.push(segment);
    this.#file = file;
    this.#cuts = [];
    return segment;
  }

  #refuse(group: readonly Waiting[], cause: unknown): void {
    this.failures++;
    const reason = messageOf(cause);
    this.#options.report({ level: 'error', message: 'Event log cannot be written', fields: { reason, refused: group.length } });
    const error = new CepError('storage_unavailable', `the events cannot be kept: ${reason}`, {
      hint: 'send them again when the state directory has room',
      retryAfterSeconds: 5,
      cause,
    });
    for (const { reject } of group) reject(error);
  }

  /** Removes segments of which nothing is needed: `isNeeded` is asked for the last request and tick of each pipeline. */
  async retire(isNeeded: (pipelineId: string, last: { readonly request: number; readonly tick: number }) => boolean): Promise<void> {
    if (this.#isRetiring) return;
    this.#isRetiring = true;
    try {
      await this.#retireAll(isNeeded);
    } finally {
      this.#isRetiring = false;
    }
  }

  async #retireAll(isNeeded: Parameters<EventLog['retire']>[0]): Promise<void> {
    while (this.#segments.length > 1) {
      const segment = this.#segments[0] as Segment;
      const pipelines = new Set([...segment.requests.keys(), ...segment.ticks.keys()]);
      const last = (id: string): { request: number; tick: number } => ({
        request: segment.requests.get(id) ?? 0,
        tick: segment.ticks.get(id) ?? 0,
      });
      if ([...pipelines].some((id) => isNeeded(id, last(id)))) return;
      await this.#files.remove(segment.path);
      this.#segments.shift();
    }
  }

  /** Writes what is waiting, then closes. */
  async close(): Promise<void> {
    if (this.#isWriting) {
      await new Promise<void>((resolve) => {
        this.#closing = resolve;
      });
    }
    await this.#file?.close();
    this.#file = undefined;
  }
}

function note(segment: Segment, record: LoggedRecord): void {
  if (record.kind === 'request') segment.requests.set(record.pipelineId, record.sequence);
  else if (record.kind === 'tick') for (const id of record.pipelineIds) segment.ticks.set(id, record.sequence);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
