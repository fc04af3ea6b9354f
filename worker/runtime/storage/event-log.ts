import { copyFile, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import type { LoggedRecord } from '../pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../service.ts';
import { damageHint, reportDamage } from './damage.ts';
import { requireFormat } from './inventory.ts';
import { diskFiles, type LogFile, type LogFiles } from './log-files.ts';
import { frameOf, type LoggedCut, readFrames } from './log-frame.ts';
import { NO_ANSWER, Pending } from './pending.ts';

const SEGMENT_HEAD = Buffer.from('CEPLOG1\n');
const SEGMENT_BYTES_DEFAULT = 64 * 1_048_576;

export interface EventLogOptions {
  readonly folder: string;
  readonly report: (report: RuntimeReport) => void;
  readonly files?: LogFiles;
  /** A segment that is larger is followed by a new one. */
  readonly segmentBytes?: number;
  /** The segments that there must be, by number, with their lengths; null where it is not known. @default nothing is known */
  readonly listed?: SegmentLengths;
  /** A write failed. */
  readonly onFailure?: (cause: unknown) => void;
  /** Told before a segment is written to or removed, and at the end; what it throws is what the change throws. */
  readonly list?: (segments: SegmentLengths) => Promise<void>;
}

export type SegmentLengths = Readonly<Record<string, number | null>>;

/** Records are missing: behind the input of one number, and before that of the other, which is infinite at the end. */
export interface LogGap {
  readonly file: string;
  readonly reason: string;
  readonly after: number;
  before: number;
}

interface Segment {
  readonly number: number;
  readonly path: string;
  /** Bytes that count; behind them nothing does. */
  length: number;
  /** By pipeline: the sequence of its last request, or of what is skipped, and of its last tick. */
  readonly requests: Map<string, number>;
  readonly ticks: Map<string, number>;
  /** Numbers of the segments of which it says what was refused. */
  readonly cuts: Set<number>;
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
  readonly #write = new Pending();
  #isWriting = false;
  #isRetiring = false;
  /** Readers of all segments, and copies that are being made: nothing is removed meanwhile. */
  #holds = 0;
  /** On its way out: off the list, its file perhaps still there. */
  #leaving: Segment | undefined;
  /** Number of the segment that is being made, listed before it is written to. */
  #coming: number | undefined;
  /** The last write failed, which was said. */
  #isRefusing = false;
  /** Segments that hold refused records which could not be removed; the next segment says so. */
  #cuts: LoggedCut[] = [];
  #closing: (() => void) | undefined;
  /** Found when it was opened, in order. */
  readonly gaps: LogGap[] = [];
  #lastExamined = 0;
  failures = 0;
  syncs = 0;

  /** Opens the log; what was torn at its end is cut, and said. @throws CepError `io_error` */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const files = options.files ?? diskFiles;
    try {
      await files.makeFolder(options.folder);
      const names = (await files.list(options.folder)).filter((name) => /^\d{8}\.log$/.test(name)).sort();
      const segments = names.map((name): Segment => newSegment(Number.parseInt(name, 10), join(options.folder, name)));
      const log = new EventLog(options, segments);
      await log.#examine();
      return log;
    } catch (cause) {
      if (cause instanceof CepError) throw cause;
      throw new CepError('io_error', `the event log in '${options.folder}' cannot be opened: ${messageOf(cause)}`, {
        hint: damageHint,
        cause,
      });
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

  get segments(): number {
    return this.#segments.length;
  }

  /** Of all segments; none is written to before the first record comes. */
  get lengths(): SegmentLengths {
    return Object.fromEntries(this.#segments.map(({ number, length }) => [number, length]));
  }

  /** The largest sequence of any record; 0 when there is none. */
  get lastSequence(): number {
    return Math.max(0, ...this.#segments.flatMap(({ requests, ticks }) => [...requests.values(), ...ticks.values()]));
  }

  /** Reads every segment once: where it ends, what it holds of which pipeline. */
  async #examine(): Promise<void> {
    const cuts: LoggedCut[] = [];
    const missing = Object.keys(this.#options.listed ?? {}).filter(
      (number) => !this.#segments.some((one) => one.number === Number(number)),
    );
    for (const segment of [...this.#segments]) {
      this.#miss(missing, segment.number);
      await this.#examineSegment(segment, cuts);
    }
    this.#miss(missing, Number.POSITIVE_INFINITY);
    for (const { segment: number, length } of cuts) {
      const segment = this.#segments.find((one) => one.number === number);
      if (segment && segment.length > length) segment.length = length;
    }
  }

  async #examineSegment(segment: Segment, cuts: LoggedCut[]): Promise<void> {
    const { path, number } = segment;
    const bytes = await this.#files.read(path);
    if (this.#isUnused(number, bytes)) return await this.#forget(segment);
    this.#examineHead(path, bytes);
    const isLast = segment === this.#segments.at(-1);
    const listedLength = this.#options.listed?.[number] ?? 0;
    let end = Math.min(SEGMENT_HEAD.length, bytes.length);
    for (const frame of readFrames(bytes, end)) {
      if (frame.kind === 'gap') {
        this.#reportGap(segment, frame, { isTail: isLast && frame.end === bytes.length && frame.start >= listedLength });
        continue;
      }
      if (frame.record.kind === 'cut') {
        cuts.push(frame.record);
        segment.cuts.add(frame.record.segment);
      } else this.#examined(segment, frame.record);
      end = frame.end;
    }
    segment.length = end;
    if (bytes.length < listedLength) this.#gap(path, `it has ${bytes.length} bytes, and had ${listedLength}`);
    if (end < bytes.length) await this.#files.truncate(path, end);
  }

  /** @throws CepError `io_error` when a later version wrote it */
  #examineHead(path: string, bytes: Buffer): void {
    const head = bytes.subarray(0, SEGMENT_HEAD.length);
    if (head.equals(SEGMENT_HEAD)) return;
    const later = /^CEPLOG(\d)\n$/.exec(head.toString('latin1'))?.[1];
    if (later !== undefined) requireFormat(Number(later), path);
    this.#gap(path, 'its first bytes are not as they were');
  }

  /** An attempt that was given up, or a crash before anything was written to it. */
  #isUnused(number: number, bytes: Buffer): boolean {
    const isBeginning = bytes.length < SEGMENT_HEAD.length && SEGMENT_HEAD.subarray(0, bytes.length).equals(bytes);
    return isBeginning && this.#options.listed?.[number] === undefined;
  }

  /** Listed as it is, it would look damaged at the next start. */
  async #forget(segment: Segment): Promise<void> {
    await this.#files.remove(segment.path);
    this.#segments.splice(this.#segments.indexOf(segment), 1);
  }

  #examined(segment: Segment, record: LoggedRecord): void {
    note(segment, record);
    if (record.kind === 'skip') return;
    for (const gap of this.gaps) if (gap.before === Number.POSITIVE_INFINITY) gap.before = record.sequence;
    this.#lastExamined = record.sequence;
  }

  /** Segments that are listed and not there, up to this one. */
  #miss(missing: string[], before: number): void {
    while (missing.length > 0 && Number(missing[0]) < before) this.#gap(this.#pathOf(Number(missing.shift())), 'it is gone');
  }

  #gap(file: string, reason: string): void {
    this.failures++;
    this.gaps.push({ file, reason, after: this.#lastExamined, before: Number.POSITIVE_INFINITY });
    reportDamage(this.#options.report, 'Damaged file of the event log', { file, reason });
  }

  #reportGap(
    { path }: Segment,
    { start, end }: { readonly start: number; readonly end: number },
    { isTail }: { readonly isTail: boolean },
  ): void {
    const fields = { file: path, offset: start, bytes: end - start };
    if (isTail) {
      this.#options.report({ level: 'warn', message: 'Torn end of the event log cut', fields });
      return;
    }
    this.failures++;
    this.gaps.push({
      file: path,
      reason: `${end - start} bytes at ${start} are not as they were`,
      after: this.#lastExamined,
      before: Number.POSITIVE_INFINITY,
    });
    reportDamage(this.#options.report, 'Corrupt record in the event log', fields);
  }

  #pathOf(number: number): string {
    return join(this.#options.folder, `${String(number).padStart(8, '0')}.log`);
  }

  /** What there is from now on. Segments come and go at the same time: each list knows of both. */
  #list(): Promise<void> {
    const kept = this.#segments.filter((segment) => segment !== this.#leaving);
    const lengths = kept.map(({ number, length }) => [number, length] as const);
    const open = this.#coming ?? this.#openNumber;
    const all = [...lengths, ...(open === undefined ? [] : [[open, null] as const])];
    return this.#options.list?.(Object.fromEntries(all)) ?? Promise.resolve();
  }

  /** Everything in the log, in order. One segment at a time is in memory. */
  async *records(): AsyncGenerator<LoggedRecord> {
    await this.#hold();
    try {
      for (const segment of [...this.#segments]) {
        const bytes = (await this.#files.read(segment.path)).subarray(0, segment.length);
        for (const frame of readFrames(bytes, SEGMENT_HEAD.length)) {
          if (frame.kind === 'record' && frame.record.kind !== 'cut') yield frame.record;
        }
      }
    } finally {
      this.#holds--;
    }
  }

  /** The last request of each pipeline that has none in the newest segments, of which there are so many. */
  lastRequestsBefore(newest: number): ReadonlyMap<string, number> {
    const last = new Map<string, number>();
    for (const { requests } of this.#segments.slice(0, -newest)) for (const [id, sequence] of requests) last.set(id, sequence);
    for (const { requests } of this.#segments.slice(-newest)) for (const id of requests.keys()) last.delete(id);
    return last;
  }

  /** Nothing is removed from here on until `#holds` says that nobody needs that. */
  async #hold(): Promise<void> {
    this.#holds++;
    while (this.#isRetiring) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** The write that is under way may never end. */
  get isLate(): boolean {
    return this.#write.isLate;
  }

  /** Refuses what waits behind a write that may never end; to be called from time to time. What is in the write itself may be on disk or not. */
  refuseLate(): void {
    if (this.isLate && this.#waiting.length > 0) this.#refuse(this.#waiting.splice(0), new Error(NO_ANSWER));
  }

  /** Resolves when it is on disk; a tick as soon as the system has it. @throws CepError `storage_unavailable` */
  append(record: LoggedRecord): Promise<void> {
    if (this.isLate) return Promise.reject(refusal(NO_ANSWER));
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
      await this.#write.during(() => this.#writeGroup(group));
    }
    this.#isWriting = false;
    this.#closing?.();
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const segment = await this.#openSegment();
      await this.#append(segment, group);
      for (const { record } of group) note(segment, record);
      this.#isRefusing = false;
    } catch (error) {
      this.#refuse(group, error);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  async #append(segment: Segment, group: readonly Waiting[]): Promise<void> {
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
    const path = this.#pathOf(number);
    const head = Buffer.concat([SEGMENT_HEAD, ...this.#cuts.map(frameOf)]);
    // What is left of an attempt that failed is of no use to anybody.
    await this.#files.remove(path);
    const file = await this.#files.create(path);
    try {
      await file.append(head);
      await file.sync();
      await this.#files.syncFolder(folder);
      this.#coming = number;
      await this.#list();
    } catch (error) {
      await file.close().catch(() => undefined);
      await this.#files.remove(path).catch(() => undefined);
      throw error;
    } finally {
      this.#coming = undefined;
    }
    const segment: Segment = { ...newSegment(number, path), length: head.length, cuts: new Set(this.#cuts.map((cut) => cut.segment)) };
    this.#segments.push(segment);
    this.#file = file;
    this.#cuts = [];
    return segment;
  }

  #refuse(group: readonly Waiting[], cause: unknown): void {
    this.failures++;
    const reason = messageOf(cause);
    if (!this.#isRefusing) {
      this.#options.report({ level: 'error', message: 'Event log cannot be written', fields: { reason, refused: group.length } });
    }
    this.#isRefusing = true;
    this.#options.onFailure?.(cause);
    const error = refusal(reason, cause);
    for (const { reject } of group) reject(error);
  }

  /** Removes segments of which nothing is needed, wherever they stand: `isNeeded` is asked for the last request and tick of each pipeline. */
  async retire(isNeeded: (pipelineId: string, last: { readonly request: number; readonly tick: number }) => boolean): Promise<void> {
    if (this.#isRetiring || this.#holds > 0) return;
    this.#isRetiring = true;
    try {
      await this.#retireAll(isNeeded);
    } finally {
      this.#isRetiring = false;
    }
  }

  /**
   * Copies all segments into a folder that is there; `before` comes first, and nothing is removed from the log from then on until the copy is
   * made. Gives the lengths of the copies.
   */
  async copyTo(folder: string, before: () => Promise<void>): Promise<SegmentLengths> {
    await this.#hold();
    try {
      await before();
      const segments = this.#segments.map(({ number, path, length }) => ({ number, path, length }));
      for (const { path, length } of segments) {
        const copy = join(folder, basename(path));
        await copyFile(path, copy);
        await truncate(copy, length);
      }
      return Object.fromEntries(segments.map(({ number, length }) => [number, length]));
    } finally {
      this.#holds--;
    }
  }

  async #retireAll(isNeeded: Parameters<EventLog['retire']>[0]): Promise<void> {
    // The newest stays: it is written to, and gives the next one its number.
    for (const segment of this.#segments.slice(0, -1)) {
      if (this.#holds > 0) return;
      if (this.#isNeeded(segment, isNeeded)) continue;
      this.#leaving = segment;
      try {
        await this.#list();
        await this.#files.remove(segment.path);
        // A crash of the machine must not bring it back without the one that says what of it was refused.
        await this.#files.syncFolder(this.#options.folder);
        this.#segments.splice(this.#segments.indexOf(segment), 1);
      } finally {
        this.#leaving = undefined;
      }
    }
  }

  #isNeeded({ requests, ticks, cuts }: Segment, isNeeded: Parameters<EventLog['retire']>[0]): boolean {
    if (this.#segments.some(({ number }) => cuts.has(number))) return true;
    const pipelines = new Set([...requests.keys(), ...ticks.keys()]);
    return [...pipelines].some((id) => isNeeded(id, { request: requests.get(id) ?? 0, tick: ticks.get(id) ?? 0 }));
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
    await this.#list().catch((error) =>
      this.#options.report({ level: 'error', message: 'Event log not listed', fields: { reason: messageOf(error) } }),
    );
  }

  /** Of the segment that is written to: its length says nothing yet. */
  get #openNumber(): number | undefined {
    return this.#file === undefined ? undefined : this.#segments.at(-1)?.number;
  }
}

function newSegment(number: number, path: string): Segment {
  return { number, path, length: 0, requests: new Map(), ticks: new Map(), cuts: new Set() };
}

/** What is skipped is kept as long as it must be known that it is. */
function note(segment: Segment, record: LoggedRecord): void {
  if (record.kind === 'tick') {
    for (const id of record.pipelineIds) segment.ticks.set(id, record.sequence);
    return;
  }
  const { pipelineId, sequence } = record;
  segment.requests.set(pipelineId, Math.max(sequence, segment.requests.get(pipelineId) ?? 0));
}

function refusal(reason: string, cause?: unknown): CepError {
  return new CepError('storage_unavailable', `the events cannot be kept: ${reason}`, {
    hint: 'send them again once /ready answers 200: until then it says what the state directory lacks',
    retryAfterSeconds: 5,
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
