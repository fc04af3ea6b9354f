import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../shared/events/event.ts';
import { evtReader } from '../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../shared/events/jsonl-reader.ts';
import type { MovableReader, ReadEvent, ReaderPosition, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { Duration, Timestamp, type Value } from '../../shared/events/value.ts';
import type { EventEntries, EventEntry } from '../../worker/engine/fusion/event-entry.ts';
import { createByteReader } from '../../worker/engine/reading/byte-reader.ts';
import { EventFastPath } from '../../worker/engine/reading/event-fast-path.ts';
import { type Format, type RandomType, randomFile, randomTypes } from './event-lines.ts';
import { Tape } from './tape.ts';

/** `FUZZ_SEED=random FUZZ_FILES=200000 npx vitest run test/fuzz/readers.test.ts` is the long run. */
const files = Number(process.env['FUZZ_FILES'] ?? 500);

const tapes = fc.tuple(fc.uint16Array({ maxLength: 60, size: 'max' }), fc.uint16Array({ minLength: 40, maxLength: 600, size: 'max' }));
const cuts = fc.uint8Array({ maxLength: 24, size: 'max' });

/** What an entry was told, or what went the long way. */
type Seen = { readonly type: string; readonly args: readonly unknown[]; readonly whole: InputEvent | undefined } | ReadResult;

for (const format of ['evt', 'jsonl'] as const) {
  test(`generated readers of random types see in random ${format} files what the general reader sees`, { timeout: 3_600_000 }, () => {
    let lines = 0;
    let entered = 0;
    const property = fc.property(tapes, cuts, fc.boolean(), ([typeTape, fileTape], cutTape, asksForAll) => {
      const types = randomTypes(new Tape(typeTape));
      const schemas = new EventSchemas(types);
      const tape = new Tape(fileTape);
      const bytes = damaged(tape, new TextEncoder().encode(randomFile(tape, types, format)));
      const chunks = cutUp(bytes, cutTape);
      const expected = readGenerally(format, schemas, chunks);
      const actual = readShortly(format, types, schemas, chunks, asksForAll);
      const file = JSON.stringify(new TextDecoder().decode(bytes));
      expect(actual.seen, file).toEqual(expected.results.map((result, at) => asSeen(result, actual.seen[at], types, schemas)));
      expect(actual.position, file).toEqual(expected.position);
      lines += expected.results.length;
      entered += actual.seen.filter((one) => 'args' in one).length;
    });
    fc.assert(property, { numRuns: files });
    expect(entered, 'many lines take the fast path').toBeGreaterThan(lines * 0.25);
  });
}

/** So often a line comes before it is expected, and a little more. */
const REPEATED = 300;

for (const format of ['evt', 'jsonl'] as const) {
  test(`and so they do of types that nobody declared, in ${format}`, { timeout: 3_600_000 }, () => {
    let enteredUnread = 0;
    const property = fc.property(tapes, cuts, ([typeTape, fileTape], cutTape) => {
      const types = randomTypes(new Tape(typeTape));
      const declared = types.slice(1);
      const schemas = new EventSchemas(declared);
      const tape = new Tape(fileTape);
      const known = new TextEncoder().encode(`${randomFile(tape, types.slice(0, 1), format)}\n`.repeat(REPEATED));
      const chunks = [known, ...cutUp(new TextEncoder().encode(randomFile(tape, types, format)), cutTape)];
      const expected = readGenerally(format, schemas, chunks);
      const actual = readShortly(format, declared, schemas, chunks, true);
      expect(actual.seen).toEqual(expected.results.map((result, at) => asSeen(result, actual.seen[at], declared, schemas)));
      expect(actual.position).toEqual(expected.position);
      enteredUnread += actual.seen.slice(-12).filter((one) => 'args' in one && one.type === types[0]?.name).length;
    });
    fc.assert(property, { numRuns: Math.ceil(files / 20) });
    expect(enteredUnread, 'some take the fast path').toBeGreaterThan(files / 100);
  });
}

test('what a door lets in is what would be admitted, with the same values', { timeout: 3_600_000 }, () => {
  let events = 0;
  let entered = 0;
  const property = fc.property(tapes, ([typeTape, fileTape]) => {
    const types = randomTypes(new Tape(typeTape));
    const schemas = new EventSchemas(types);
    const seen: Seen[] = [];
    const entries = recordingEntries(types, seen, true);
    const door = new EventFastPath(entries);
    const tape = new Tape(fileTape);
    const { results } = readGenerally('jsonl', schemas, [new TextEncoder().encode(randomFile(tape, types, 'jsonl'))]);
    for (const { event } of results.filter((result): result is ReadEvent => result.kind === 'event')) {
      const isEntered = door.push(event);
      if (isEntered) expect(seen.pop()).toEqual(entryOf(event, types, schemas, true));
      expect(seen).toEqual([]);
      events++;
      if (isEntered) entered++;
    }
  });
  fc.assert(property, { numRuns: files });
  expect(entered, 'many take the fast path').toBeGreaterThan(events * 0.3);
});

interface Reading<T> {
  readonly results: readonly T[];
  readonly position: ReaderPosition;
}

function readGenerally(format: Format, schemas: EventSchemas, chunks: readonly Uint8Array[]): Reading<ReadResult> {
  const reader: MovableReader = format === 'evt' ? evtReader({ schemas }) : jsonlReader({ schemas });
  const results = chunks.flatMap((chunk) => reader.write(chunk));
  return { results: [...results, ...reader.end()], position: reader.position };
}

function readShortly(
  format: Format,
  types: readonly RandomType[],
  schemas: EventSchemas,
  chunks: readonly Uint8Array[],
  asksForAll: boolean,
) {
  const seen: Seen[] = [];
  const entries = recordingEntries(types, seen, asksForAll);
  const reader = createByteReader(entries, { format, schemas, slow: (result) => seen.push(result) });
  for (const chunk of chunks) reader.read(chunk);
  reader.end();
  expect(reader.entered).toBe(seen.filter((one) => 'args' in one).length);
  return { seen, position: reader.position };
}

/** Entries that remember; `asksForAll`: also the whole event. */
function recordingEntries(types: readonly RandomType[], seen: Seen[], asksForAll: boolean): EventEntries {
  const enterOf =
    (type: string): EventEntry['enter'] =>
    (...args) =>
      seen.push({ type, args, whole: asksForAll ? entries.source?.() : undefined });
  const unread = (type: string): EventEntry['enter'] | null => (types.some(({ name }) => name === type) ? null : enterOf(type));
  const entries: EventEntries & { readonly entries: EventEntry[] } = {
    entries: [],
    source: null,
    place: { partition: null },
    isOf: () => false,
    unread,
  };
  for (const { name: type, fields, reads } of types) {
    const timeField = fields.findIndex((field) => field.type.kind === 'timestamp');
    entries.entries.push({
      type,
      fields: fields.map((field, at) => ({ name: field.name, type: field.type, isRead: reads[at] === true })),
      timeField: timeField < 0 ? null : timeField,
      enter: enterOf(type),
    });
  }
  return entries;
}

/** What should have been seen in the place of what was: the same result, or, where an entry was told, what it had to be told. */
function asSeen(result: ReadResult, actual: Seen | undefined, types: readonly RandomType[], schemas: EventSchemas): Seen {
  if (result.kind !== 'event' || actual === undefined || !('args' in actual)) return result;
  return entryOf(result.event, types, schemas, actual.whole !== undefined);
}

function entryOf(event: InputEvent, types: readonly RandomType[], schemas: EventSchemas, asksForAll: boolean): Seen {
  const admission = schemas.admit(event, { strict: true });
  const type = types.find(({ name }) => name === event.type);
  if (admission.status === 'invalid' || (type !== undefined && event.fields.size !== type.fields.length))
    throw new Error(`${JSON.stringify(event)} was entered: ${JSON.stringify(admission)}`);
  const isArrival = event.timestamp === undefined && schemas.ownTime(event.type, admission.fields) === undefined;
  const values = (type?.fields ?? []).filter((_, at) => type?.reads[at]).map(({ name }) => plain(admission.fields.get(name) ?? null));
  return { type: event.type, args: [admission.time, isArrival, ...values], whole: asksForAll ? event : undefined };
}

function plain(value: Value): Value {
  return value instanceof Timestamp || value instanceof Duration ? value.ms : value;
}

/** Now and then with a byte that is not UTF-8. */
function damaged(tape: Tape, bytes: Uint8Array): Uint8Array {
  if (!tape.chance(10) || bytes.length === 0) return bytes;
  const copy = bytes.slice();
  copy[tape.below(bytes.length)] = 0xff;
  return copy;
}

/** Pieces of random lengths, of which some have other bytes behind them and some nothing. */
function cutUp(bytes: Uint8Array, lengths: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    const piece = bytes.slice(at, at + length);
    pieces.push(length % 2 === 0 ? piece : inRoom(piece));
    at += length;
  }
  return [...pieces, at < bytes.length ? bytes.slice(at) : new Uint8Array()];
}

function inRoom(piece: Uint8Array): Uint8Array {
  const room = new Uint8Array(piece.length + 16).fill(0x7d);
  room.set(piece, 7);
  return room.subarray(7, 7 + piece.length);
}
