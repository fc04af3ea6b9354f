import { constants, createReadStream, type Stats } from 'node:fs';
import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32, createGunzip } from 'node:zlib';
import { closingOnFailure } from '../../../shared/files/durable-files.ts';
import { fileReason, isMissing } from '../../../shared/files/file-reason.ts';
import { openRegular } from '../../../shared/files/regular-file.ts';
import { limits } from '../../../shared/limits.ts';
import { Backoff } from '../backoff.ts';
import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import {
  type FileFormat,
  type FileLines,
  type FileLinesOptions,
  fileLines,
  formatOf,
  type LinesState,
  sniffed,
  stateBehind,
} from './file-lines.ts';

/** How often it is looked whether there is more. */
const LOOK_MS = 100;
/** Looks without anything new at a file that another has replaced, before it is left: who writes to it may not know yet. */
const LAST_LOOKS = 10;
const CHUNK_BYTES = 262_144;
/** Of a message, about. */
const MESSAGE_BYTES = 128;
/** Of the start of a file, what tells it from another that has its number after it. */
const HEAD_BYTES = 256;
/** Before the position, what tells a file, or a copy of it, from another that begins alike. */
const TAIL_BYTES = 256;
const NEWLINE = 10;

export interface FollowedFileOptions extends Omit<FileLinesOptions, 'format'> {
  readonly path: string;
  /** Reads what is there and waits for more; else it ends with the file. */
  readonly follows: boolean;
  /** Where it begins that has no position. */
  readonly start: 'earliest' | 'latest';
  /** About how many messages are handed over at a time. @default as many as stand in a piece of the file */
  readonly messagesMax?: (() => number | undefined) | undefined;
}

/** Where the reading of a file stands: behind `offset` bytes of the file with this number, whose first `headLength` bytes have this sum. */
interface FilePosition {
  readonly inode: number;
  readonly offset: number;
  readonly head: number;
  readonly headLength: number;
  /** Sum of the last so many bytes before `offset`. */
  readonly tail?: number;
  readonly tailLength?: number;
  readonly format?: FileFormat;
  readonly state: LinesState;
  /** Of the file that was begun behind this one, which was read to its end: the same number where it was cut. */
  readonly next?: number;
}

/** What was in the place of the file, under another name. */
interface Beside {
  readonly path: string;
  readonly stats: Stats;
  readonly isPacked: boolean;
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly inode: number;
}

/**
 * Reads a file from its position on and waits for what is appended. When another file is in its place (it was renamed), the one that
 * it reads is read to its end first, then those that were in its place since, as far as they lie beside it. A file that is shorter than
 * what was read of it, or that begins with something else, was written anew and is read from its beginning. What is compressed (`.gz`) is
 * read once: nothing is appended to it.
 */
export class FollowedFile implements Source {
  readonly #options: FollowedFileOptions;
  readonly #end = new AbortController();
  #work: Promise<void> = Promise.resolve();
  /** Behind what was taken. */
  #position: FilePosition | null = null;
  /** The file of the position was looked for among those that are compressed. */
  #isSought = false;
  /** The file of the position is known to have nothing behind it. */
  #isThrough = false;
  /** Of the newest compressed one that was read, when it was changed last: what lies beside it comes behind, ms. */
  #packedAt = Number.POSITIVE_INFINITY;

  constructor(options: FollowedFileOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    this.#work = this.#readAll(reading);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#work;
  }

  get #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  async #readAll(reading: SourceReading): Promise<void> {
    this.#position = reading.position as FilePosition | null;
    const isCompressed = this.#options.path.endsWith('.gz');
    const backoff = new Backoff();
    while (!this.#isClosed) {
      try {
        await (isCompressed ? this.#readCompressed(reading) : this.#readOn(reading));
        if (this.#isClosed) return;
        if (isCompressed || !this.#options.follows) return reading.ended();
      } catch (error) {
        if (this.#isClosed) return;
        reading.disconnected(`${this.#options.path}: ${reasonOf(error)}`);
        // What cannot be unpacked is read from its beginning each time.
        await this.#pause(isCompressed && !isMissing(error) ? backoff.next() : LOOK_MS);
      }
    }
  }

  /** Reads one file to where another begins. */
  async #readOn(reading: SourceReading): Promise<void> {
    if (this.#options.follows && !this.#isSought) await this.#readPacked(reading);
    if (this.#isClosed) return;
    const file = await this.#find();
    try {
      reading.connected();
      if (this.#position === null) await this.#begin(file, reading);
      const position = this.#position as FilePosition | null;
      const isCut = position?.next === file.inode;
      const isOn = position !== null && !isCut && file.inode === position.inode && (await isReadUpTo(file.handle, position));
      if (!isOn && position !== null && !(await this.#leave(position, file, reading))) return;
      const reader = new FileReader(file, isOn ? position : beginningOf(file.inode), this.#options);
      while (!this.#isClosed && (await this.#readToEnd(reader, reading))) {
        if (!this.#options.follows || (await this.#isLeft(file, reader))) {
          await reader.step(true);
          this.#isThrough = await this.#handOver(reader, reading);
          return;
        }
        await this.#pause(LOOK_MS);
        if (await reader.isWrittenAnew()) {
          if (reader.isBehind) await this.#goOnInCopy(reader.position, file, reading);
          else if (await this.#sayNext(reader.position, file, reading)) this.#position = beginningOf(file.inode);
          return;
        }
      }
    } finally {
      await file.handle.close();
    }
  }

  /** Where it begins that was never read. That it does is kept, so that what comes now is not passed over after a crash. */
  async #begin(file: OpenFile, reading: SourceReading): Promise<void> {
    const position = this.#options.start === 'latest' ? await endOf(file, this.#options) : beginningOf(file.inode);
    if (position.offset === 0 || (await reading.take({ messages: [], position: { ...position } }))) this.#position = position;
  }

  /** For another file, or what was written over it. What it may have had behind the position is a dead letter. False when something else comes first. */
  async #leave(position: FilePosition, file: OpenFile, reading: SourceReading): Promise<boolean> {
    const isThrough = this.#isThrough || !this.#options.follows;
    this.#isThrough = false;
    if (!this.#options.follows || position.next === file.inode) return true;
    if (isThrough) return this.#sayNext(position, file, reading);
    return (await this.#goOnInNext(position)) ? false : this.#goOnInCopy(position, file, reading);
  }

  /** The one that was begun behind it may have been renamed before anything of it was taken. */
  async #goOnInNext({ next }: FilePosition): Promise<boolean> {
    if (next === undefined || !(await this.#beside()).some(({ stats, isPacked }) => !isPacked && stats.ino === next)) return false;
    this.#position = beginningOf(next);
    return true;
  }

  /** Before anything is read of the next one the position stays: what is behind it is found by how the file of the position begins. */
  async #sayNext(before: FilePosition, { inode }: OpenFile, reading: SourceReading): Promise<boolean> {
    const position = { ...before, next: inode };
    if (!(await reading.take({ messages: [], position: { ...position } }))) return false;
    this.#position = position;
    return true;
  }

  /** Who cuts a file may have copied it before (`copytruncate`). Where there is no copy that is told. False when the copy comes first. */
  async #goOnInCopy(before: FilePosition, file: OpenFile, reading: SourceReading): Promise<boolean> {
    const copy = await this.#copyOf(before, file);
    if (copy === undefined) return this.#tellGone(before, file, reading);
    this.#position = { ...before, inode: copy };
    return false;
  }

  /** The number of the only file beside it that begins as it did, and has there what was read last. What has less than a whole head may be like any other. */
  async #copyOf(position: FilePosition, { inode }: OpenFile): Promise<number | undefined> {
    if (position.headLength < HEAD_BYTES) return undefined;
    const alike: number[] = [];
    for (const { path, stats, isPacked } of await this.#beside()) {
      if (!isPacked && stats.ino !== inode && (await isCopy(path, position))) alike.push(stats.ino);
    }
    return alike.length === 1 ? alike[0] : undefined;
  }

  async #tellGone(before: FilePosition, file: OpenFile, reading: SourceReading): Promise<boolean> {
    const { inode, head, offset } = before;
    const what = inode === file.inode ? 'was written over' : 'was removed, or renamed to where it is not looked for,';
    const problem =
      `the file of which ${offset} bytes were read ${what} before it was seen to its end: what it may have had behind them was not read, ` +
      'and reading goes on with what is in its place: leave it beside that until it is read';
    const position = beginningOf(file.inode);
    const placeOf = (): string => `gone ${inode} ${head} ${offset}`;
    if (!(await reading.take({ messages: [{ bytes: Buffer.alloc(0), problem }], position: { ...position }, placeOf }))) return false;
    this.#position = position;
    return true;
  }

  /** False when reading has ended. */
  async #readToEnd(reader: FileReader, reading: SourceReading): Promise<boolean> {
    while (await reader.step(false)) if (!(await this.#handOver(reader, reading))) return false;
    return this.#handOver(reader, reading);
  }

  async #handOver(reader: FileReader, reading: SourceReading): Promise<boolean> {
    const messages = reader.takeMessages();
    const { position } = reader;
    if (messages.length > 0 && !(await reading.take({ messages, position: { ...position } }))) return false;
    this.#position = position;
    return !this.#isClosed;
  }

  /** Another file is in its place, and nothing has come for a while. */
  async #isLeft(file: OpenFile, reader: FileReader): Promise<boolean> {
    if (!(await this.#isReplaced(file))) return false;
    const { mtimeMs } = await file.handle.stat();
    if (Date.now() - mtimeMs > LAST_LOOKS * LOOK_MS) return !(await reader.isGrown());
    for (let looks = 0; looks < LAST_LOOKS && !this.#isClosed; looks++) {
      await this.#pause(LOOK_MS);
      if (await reader.isGrown()) return false;
    }
    return true;
  }

  /** The file that comes next: that of the position while it has more to give, else the one behind it, else the one of the name. */
  async #find(): Promise<OpenFile> {
    const { path } = this.#options;
    const position = this.#position;
    const behind = await this.#behindPacked();
    if (behind !== undefined) return openFile(behind);
    const current = position === null ? undefined : await stat(path).catch(() => undefined);
    if (position === null || current?.ino === position.inode) return openFile(path);
    const before = await this.#replaced(position);
    if (before !== undefined) return openFile(before);
    const file = await openFile(path);
    // It may have been replaced between the two looks: then another lies between it and the position now.
    const between = await this.#replaced(position);
    if (between === undefined || (await stat(between)).ino === file.inode) return file;
    await file.handle.close();
    return openFile(between);
  }

  /** Of what lies beside the file and was in its place once: the one of the position if there is more in it, else the one that followed it. */
  async #replaced(position: FilePosition): Promise<string | undefined> {
    const files = (await this.#beside()).filter(({ isPacked }) => !isPacked);
    const at = files.findIndex(({ stats }) => stats.ino === position.inode);
    if (at < 0) return undefined;
    this.#isThrough = true;
    const readBytes = position.next === position.inode ? 0 : position.offset;
    return files.slice(at).find(({ stats }) => stats.ino !== position.inode || stats.size > readBytes)?.path;
  }

  /** The first that was in its place behind those that were compressed. */
  async #behindPacked(): Promise<string | undefined> {
    const packedAt = this.#packedAt;
    this.#packedAt = Number.POSITIVE_INFINITY;
    if (packedAt === this.#packedAt) return undefined;
    return (await this.#beside()).find(({ isPacked, stats }) => !isPacked && stats.mtimeMs > packedAt)?.path;
  }

  /** What was in the place of the file once, by its name. Oldest first. */
  async #beside(): Promise<readonly Beside[]> {
    const names = (await readdir(dirname(this.#options.path))).filter((name) => name.startsWith(`${basename(this.#options.path)}.`));
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(dirname(this.#options.path), name);
        return { path, stats: await stat(path).catch(() => undefined) };
      }),
    );
    const files = found.flatMap(({ path, stats }) => (stats?.isFile() ? [{ path, stats, isPacked: path.endsWith('.gz') }] : []));
    // Of those of one moment the one with the higher number is older, as rotation gives them.
    return files.sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs || b.path.localeCompare(a.path, 'en', { numeric: true }));
  }

  /**
   * Goes on with a file that was renamed and compressed before it was read to its end, and with those that were since. It is known by how it
   * begins: where several begin so, none is taken for it.
   */
  async #readPacked(reading: SourceReading): Promise<void> {
    const position = this.#position;
    this.#isSought = true;
    if (position === null || position.headLength === 0) return;
    const beside = await this.#beside();
    const packed = beside.filter(({ isPacked }) => isPacked);
    if (packed.length === 0) return;
    const others = beside.filter(({ isPacked }) => !isPacked).map(({ path }) => path);
    for (const path of [this.#options.path, ...others]) if (await beginsAs(path, position)) return;
    const alike: number[] = [];
    for (const [at, { path }] of packed.entries()) if (await this.#isSameUnpacked(path, position).catch(() => false)) alike.push(at);
    const [first] = alike;
    if (first === undefined || alike.length > 1) return;
    reading.connected();
    for (const [at, { path, stats }] of packed.slice(first).entries()) {
      if (!(await this.#readUnpacked(path, at === 0 ? position : beginningOf(stats.ino), reading))) return;
      this.#packedAt = stats.mtimeMs;
    }
    this.#isThrough = true;
  }

  async #isReplaced({ inode, path }: OpenFile): Promise<boolean> {
    if (path !== this.#options.path) return true;
    const now = await stat(path).catch(() => undefined);
    return now !== undefined && now.ino !== inode;
  }

  async #readCompressed(reading: SourceReading): Promise<void> {
    const { path } = this.#options;
    const { ino } = await stat(path);
    reading.connected();
    const isOn = this.#position?.inode === ino && (await this.#isSameUnpacked(path, this.#position));
    await this.#readUnpacked(path, isOn && this.#position !== null ? this.#position : beginningOf(ino), reading);
  }

  /** From a position on. False when reading has ended. */
  async #readUnpacked(path: string, position: FilePosition, reading: SourceReading): Promise<boolean> {
    const reader = new FileReader(undefined, position, this.#options);
    let skip = position.offset;
    for await (const chunk of await this.#unpacked(path)) {
      const rest = chunk.subarray(Math.min(skip, chunk.length));
      skip -= chunk.length - rest.length;
      if (rest.length === 0) continue;
      reader.add(rest, false);
      if (!(await this.#handOver(reader, reading))) return false;
    }
    reader.add(Buffer.alloc(0), true);
    return this.#handOver(reader, reading);
  }

  async #unpacked(path: string): Promise<AsyncIterable<Buffer>> {
    const fd = await openRegular(path, constants.O_RDONLY);
    const packed = createReadStream('', { fd, signal: this.#end.signal });
    const unpacked = packed.pipe(createGunzip({ chunkSize: chunkBytesOf(this.#options) }));
    packed.once('error', (error) => unpacked.destroy(error));
    unpacked.once('close', () => packed.destroy());
    return unpacked;
  }

  /** Whether what is packed begins as what was read did. */
  async #isSameUnpacked(path: string, { head, headLength }: FilePosition): Promise<boolean> {
    let begun: Buffer = Buffer.alloc(0);
    for await (const chunk of await this.#unpacked(path)) {
      begun = Buffer.concat([begun, chunk]).subarray(0, headLength);
      if (begun.length === headLength) break;
    }
    return headLength === 0 || crc32(begun) === head;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }
}

function chunkBytesOf(options: FollowedFileOptions): number {
  const messagesMax = options.messagesMax?.();
  return messagesMax === undefined ? CHUNK_BYTES : Math.min(CHUNK_BYTES, messagesMax * MESSAGE_BYTES);
}

/** One file on its way: bytes that are read, records that are whole, messages that are to be handed over. */
class FileReader {
  readonly #file: OpenFile | undefined;
  readonly #options: FollowedFileOptions;
  readonly #inode: number;
  #lines: FileLines | undefined;
  #format: FileFormat | undefined;
  #state: LinesState;
  /** Behind the bytes that were made messages of. */
  #offset: number;
  #head: number;
  #headLength: number;
  #headBytes: Buffer = Buffer.alloc(0);
  #tail: Pick<FilePosition, 'tail' | 'tailLength'>;
  #rest: Buffer = Buffer.alloc(0);
  #messages: SourceMessage[] = [];
  /** In the middle of a line that is too long. */
  #isSkipping = false;
  /** The end of the file was not seen yet. */
  #isBehind = false;

  constructor(file: OpenFile | undefined, position: FilePosition, options: FollowedFileOptions) {
    const { inode, offset, head, headLength, tail, tailLength, format, state } = position;
    this.#file = file;
    this.#options = options;
    this.#inode = inode;
    this.#offset = offset;
    this.#head = head;
    this.#headLength = headLength;
    this.#tail = tail === undefined || tailLength === undefined ? {} : { tail, tailLength };
    this.#state = state;
    this.#format = format ?? formatOf(options.path);
  }

  get position(): FilePosition {
    const format = this.#format === undefined ? {} : { format: this.#format };
    const [inode, offset, head, headLength] = [this.#inode, this.#offset, this.#head, this.#headLength];
    return { inode, offset, head, headLength, ...this.#tail, ...format, state: this.#lines?.state ?? this.#state };
  }

  /** Reads on; false when there is no more for now. `isEnd`: what stands behind the last line end is a line too. */
  async step(isEnd: boolean): Promise<boolean> {
    const size = chunkBytesOf(this.#options);
    const buffer = Buffer.allocUnsafe(size);
    const { bytesRead = 0 } = (await this.#file?.handle.read(buffer, 0, size, this.#offset + this.#rest.length)) ?? {};
    this.add(buffer.subarray(0, bytesRead), isEnd);
    if (bytesRead > 0) this.#isBehind = bytesRead === size;
    return bytesRead > 0;
  }

  /** There may have been more in the file than was read of it when it was written anew. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  add(bytes: Buffer, isEnd: boolean): void {
    if (this.#headBytes.length < HEAD_BYTES && this.#offset + this.#rest.length === this.#headBytes.length) {
      this.#headBytes = Buffer.concat([this.#headBytes, bytes.subarray(0, HEAD_BYTES - this.#headBytes.length)]);
    }
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#rest.length === 0) return;
    this.#format ??= sniffed(this.#rest);
    this.#lines ??= fileLines({ ...this.#options, format: this.#format }, this.#state);
    if (this.#isSkipping) this.#skipOn();
    const whole = isEnd ? this.#rest.length : this.#lines.wholeLength(this.#rest);
    if (whole > 0) this.#takeWhole(this.#lines, whole, isEnd);
    else if (this.#rest.length > limits.eventBytesMax) this.#skipLong();
  }

  #takeWhole(lines: FileLines, length: number, isEnd: boolean): void {
    const whole = this.#rest.subarray(0, length);
    this.#drop(length);
    const last = whole.subarray(-TAIL_BYTES);
    this.#tail = { tail: crc32(last), tailLength: last.length };
    const hasEnd = whole.at(-1) === NEWLINE;
    const ended = isEnd && !hasEnd ? Buffer.concat([whole, Buffer.of(NEWLINE)]) : whole;
    for (const message of lines.messages(ended)) this.#messages.push(message);
    if (this.#headBytes.length === 0) return;
    this.#headLength = Math.min(this.#headBytes.length, this.#offset);
    this.#head = crc32(this.#headBytes.subarray(0, this.#headLength));
  }

  /** What has no end within the length of an event is none. */
  #skipLong(): void {
    const problem = `found a line of more than ${limits.eventBytesMax} bytes, expected an event`;
    this.#messages.push({ bytes: this.#rest, problem });
    this.#isSkipping = true;
    this.#drop(this.#rest.length);
  }

  /** What comes up to the next line end belongs to the line that is too long. */
  #skipOn(): void {
    const newline = this.#rest.indexOf(NEWLINE);
    this.#isSkipping = newline < 0;
    this.#drop(newline < 0 ? this.#rest.length : newline + 1);
  }

  #drop(length: number): void {
    this.#rest = Buffer.from(this.#rest.subarray(length));
    this.#offset += length;
    this.#tail = {};
  }

  /** What has been made of the bytes up to the position. */
  takeMessages(): SourceMessage[] {
    return this.#messages.splice(0);
  }

  async isGrown(): Promise<boolean> {
    return ((await this.#file?.handle.stat())?.size ?? 0) > this.#offset + this.#rest.length;
  }

  /** Somebody has made it shorter, or has put something else in the place of what was read. */
  async isWrittenAnew(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const { position } = this;
    const isAnew = !(await isSame(this.#file.handle, { ...position, offset: position.offset + this.#rest.length }));
    this.#isBehind &&= isAnew;
    return isAnew;
  }
}

async function openFile(path: string): Promise<OpenFile> {
  return closingOnFailure(openRegular(path, constants.O_RDONLY), async (handle) => {
    const { ino } = await handle.stat();
    return { path, handle, inode: ino };
  });
}

/** Whether there is a file that begins as the one of the position does. */
function beginsAs(path: string, position: FilePosition): Promise<boolean> {
  return holds(path, (handle) => isSame(handle, { ...position, offset: 0 }));
}

/** Whether there is one that has before the position what was read last, too. */
function isCopy(path: string, position: FilePosition): Promise<boolean> {
  return holds(path, (handle) => isReadUpTo(handle, position));
}

/** Whether the file has before the position what was read last, too; positions of builds before do not say what that was. */
async function isReadUpTo(handle: FileHandle, position: FilePosition): Promise<boolean> {
  const { offset, tail, tailLength = 0 } = position;
  if (!(await isSame(handle, position))) return false;
  if (tail === undefined || tailLength > TAIL_BYTES) return true;
  const bytes = Buffer.alloc(tailLength);
  await handle.read(bytes, 0, tailLength, offset - tailLength);
  return crc32(bytes) === tail;
}

async function holds(path: string, isSo: (handle: FileHandle) => Promise<boolean>): Promise<boolean> {
  const file = await openFile(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    return await isSo(file.handle);
  } finally {
    await file.handle.close();
  }
}

/** Whether the file is the one of the position, and not one that has got its number, or was begun anew. */
async function isSame(handle: FileHandle, { offset, head, headLength }: FilePosition): Promise<boolean> {
  const { size } = await handle.stat();
  if (size < offset || headLength > HEAD_BYTES) return false;
  if (headLength === 0) return true;
  const bytes = Buffer.alloc(headLength);
  await handle.read(bytes, 0, headLength, 0);
  return crc32(bytes) === head;
}

/**
 * Behind the last line of a file that has its end. What only the lines before it say is known: the columns of CSV, and what a line of
 * `.evt` takes over, as far as that stands in the last ones.
 */
async function endOf({ handle, inode, path }: OpenFile, options: FollowedFileOptions): Promise<FilePosition> {
  const { size } = await handle.stat();
  const first = await bytesAt(handle, 0, Math.min(size, CHUNK_BYTES));
  const last = await bytesAt(handle, Math.max(0, size - CHUNK_BYTES), Math.min(size, CHUNK_BYTES));
  if (size === 0) return beginningOf(inode);
  const format = formatOf(path) ?? sniffed(first);
  const lastEnd = last.lastIndexOf(NEWLINE) + 1;
  const offset = lastEnd === 0 && size > CHUNK_BYTES ? size : size - last.length + lastEnd;
  const whole = last.subarray(size > CHUNK_BYTES ? last.indexOf(NEWLINE) + 1 : 0, lastEnd);
  const begun = first.subarray(0, Math.min(HEAD_BYTES, offset));
  const state = stateBehind({ ...options, format }, { first: first.subarray(0, offset), last: whole });
  return { inode, offset, head: crc32(begun), headLength: begun.length, format, state };
}

async function bytesAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, from);
  return bytes.subarray(0, bytesRead);
}

function beginningOf(inode: number): FilePosition {
  return { inode, offset: 0, head: 0, headLength: 0, state: {} };
}

function reasonOf(error: unknown): string {
  if (isMissing(error)) return 'there is no such file';
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return String(code).startsWith('Z_') ? `it cannot be unpacked (${message})` : fileReason(error);
}
