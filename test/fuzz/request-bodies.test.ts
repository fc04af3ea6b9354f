import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { PlainBodies } from '../../worker/runtime/requests/plain-bodies.ts';
import { RequestReader } from '../../worker/runtime/requests/request-reader.ts';
import { Heartbeat } from '../../worker/runtime/threads/heartbeat.ts';
import { BODY_PADDING_BYTES, type RecordResult, type SaveReply } from '../../worker/runtime/threads/messages.ts';
import { fullResult } from '../../worker/runtime/threads/record-outcome.ts';
import { Slot } from '../../worker/runtime/threads/slot.ts';

const source = `event Reading:
    sensor: str
    value: float
    count: int
event Beat:
    at: timestamp
    ok: bool
    took: duration
event Empty:
    text: str

stream Hot = Reading.where(value > 5 and count < 100).emit(sensor: sensor, value: value)
stream All = Reading
stream Means = Reading.partition_by(sensor).window(3).aggregate(mean: avg(value), n: count()).emit(sensor: sensor, mean: mean, n: n)
stream Late = Beat.where(not ok).emit(took: took, at: at)
stream Pair = Reading as r -> Beat as b
    .within(10s)
    .emit(sensor: r.sensor, ok: b.ok)
stream Seen = Unknown.emit(a: a)
`;

const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
/** Mostly what is usual. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 80 }, { arbitrary: odd, weight: 1 });
const text = mostly(oneOf('"a"', '"b c"', '"sensor-17"', '""'), oneOf('"\\u0041"', '"é"', '"\\"', 'null', '5', '"x\\"y"', '"line\nend"'));
const number = mostly(
  oneOf('1', '7.25', '-3', '0', '1234567.5', '120', '0.12345678901234567'),
  oneOf(
    ...['1.0', '-0', '1e3', '12345678901234567890', '01', 'null', '"1"', '1.'],
    ...['12345678901234567890.0', '3.14159265358979323846', '-9007199254740993.0', '0.00000000000000000000001'],
  ),
);
const whole = mostly(oneOf('1', '-3', '0', '99', '123456'), oneOf('1.0', '9007199254740993', 'null', 'true', '1.5'));
const bool = mostly(oneOf('true', 'false'), oneOf('tru', '1', 'null'));
const moment = mostly(
  oneOf('"2026-01-31T10:00:00Z"', '1767225600250', '"2026-01-31T10:00:01.250Z"'),
  oneOf('"soon"', '5', 'null', '-1', '1e99', '1767225600250000000'),
);
const stated = mostly(
  oneOf('', '1767225600250', '1767225603', '"2026-01-01T00:00:07Z"'),
  oneOf('1767225605000.5', '"never"', 'null', '1', '17672256002501234'),
);

const readingFields = fc
  .tuple(text, number, whole)
  .map((values) => ['sensor', 'value', 'count'].map((name, at) => [name, values[at]] as const));
const beatFields = fc.tuple(moment, bool, number).map((values) => ['at', 'ok', 'took'].map((name, at) => [name, values[at]] as const));
const otherFields = text.map((value) => [['text', value] as const]);
const typed = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('Reading'), readingFields), weight: 6 },
  { arbitrary: fc.tuple(fc.constant('Beat'), beatFields), weight: 3 },
  { arbitrary: fc.tuple(oneOf('Empty', 'Unknown', 'Readings', ''), otherFields), weight: 1 },
);
const change = mostly(
  oneOf('none', 'none', 'swapped'),
  oneOf('missing', 'more', 'twice', 'flat', 'data', 'type', 'id', 'nothing', 'array'),
);
const gap = mostly(oneOf('', ''), oneOf(' ', '  ', '\t', '\n', '\r\n '));

/** An event, mostly a plain one. */
const event = fc
  .record({ typed, change, stated, gap, timeFirst: fc.boolean() })
  .map(({ typed: [type, fields], change: how, stated: time, gap: g, timeFirst }) => {
    if (how === 'nothing') return 'null';
    if (how === 'array') return '[1, {"a": "}"}]';
    const named =
      how === 'swapped'
        ? fields.toReversed()
        : how === 'missing'
          ? fields.slice(1)
          : how === 'more'
            ? [...fields, ['more', '{"deep": [1]}'] as const]
            : how === 'twice'
              ? [...fields, ...fields.slice(0, 1)]
              : fields;
    const members = named.map(([name, value]) => `"${name}":${g}${value}`).join(`,${g}`);
    const key = how === 'type' ? 'type' : 'event_type';
    const held = how === 'flat' ? members : `"${how === 'data' ? 'data' : 'fields'}":${g}{${g}${members}${g}}`;
    const when = time === '' ? [] : [`"timestamp":${time}`];
    const id = how === 'id' ? ['"id":"7"'] : [];
    const behind = timeFirst ? [...when, ...id, held] : [held, ...id, ...when];
    return `{${[`"${key}":${g}"${type}"`, ...behind].join(`,${g}`)}${g}}`;
  });

const batch = fc
  .record({
    events: fc.array(event, { maxLength: 30 }),
    gap,
    head: mostly(oneOf('"events":', '"events": '), oneOf('"more":1,"events":', '"event":')),
    tail: mostly(oneOf('', ''), oneOf(',"x":1', ',')),
  })
  .map(({ events, gap: g, head, tail }) => ({
    format: 'batch' as const,
    text: `${g}{${head}[${events.join(`${g},${g}`)}${g}]${tail}}${g}`,
  }));
const lines = fc
  .record({
    events: fc.array(event, { maxLength: 30 }),
    end: oneOf('', '\n', '\r\n', '\n\n'),
    junk: mostly(oneOf(''), oneOf('x', '{', '"')),
  })
  .map(({ events, end, junk }) => ({
    format: 'ndjson' as const,
    text: events.map((each) => each.replaceAll(/[\r\n]/g, ' ')).join(end === '\r\n' ? end : '\n') + junk + end,
  }));
/** One of them may be cut off somewhere. */
const bodies = fc.array(
  fc.tuple(fc.oneof(batch, lines), fc.oneof({ arbitrary: fc.constant(null), weight: 6 }, { arbitrary: fc.nat(400), weight: 1 })),
  { minLength: 2, maxLength: 10 },
);

async function opened(): Promise<{ readonly slot: Slot; readonly results: RecordResult[] }> {
  const results: RecordResult[] = [];
  const slot = new Slot(1, {
    reader: new RequestReader(),
    heartbeat: new Heartbeat(),
    result: (_slot, result) => results.push({ ...('slot' in result ? result : fullResult(result)), durationUs: 0 }),
    lookup: () => Promise.reject(new Error('this program looks nothing up')),
  });
  await slot.answer({
    kind: 'load',
    id: 1,
    slot: 1,
    program: { source, files: {} },
    folder: { path: '.', refused: [] },
    strictEvents: false,
    isWatched: false,
    state: null,
  });
  return { slot, results };
}

const state = (slot: Slot): string => Buffer.from((slot.answer({ kind: 'save', id: 2, slot: 1 }) as SaveReply).state).toString();

/** Bodies as they come to the thread: one behind the other, with their padding. */
function arenaOf(texts: readonly string[]): Uint8Array[] {
  const encoded = texts.map((each) => Buffer.from(each));
  const arena = new Uint8Array(encoded.reduce((sum, { length }) => sum + length + BODY_PADDING_BYTES, 0));
  let at = 0;
  return encoded.map((bytes) => {
    arena.set(bytes, at);
    at += bytes.length + BODY_PADDING_BYTES;
    return arena.subarray(at - bytes.length - BODY_PADDING_BYTES, at - BODY_PADDING_BYTES);
  });
}

it('takes bodies of plain events as the general reader does', async () => {
  const entered = vi.spyOn(PlainBodies.prototype, 'enter');
  await fc.assert(
    fc.asyncProperty(bodies, async (given) => {
      const [short, general] = [await opened(), await opened()];
      const texts = given.map(([{ text: whole }, cut]) => (cut === null ? whole : whole.slice(0, cut)));
      const arena = arenaOf(texts);
      given.forEach(([{ format }], at) => {
        const source = at % 2 === 0 ? undefined : { id: 'In', isConnector: true };
        const record = {
          source,
          slot: 1,
          sequence: at,
          format,
          timeField: null,
          length: arena[at]?.length ?? 0,
          time: 1_767_225_600_000 + at * 1000,
          outputsMax: 10_000,
        };
        void short.slot.work({ ...record, skip: [] }, arena[at] ?? null);
        // An index that no body has: what is skipped is left to the general reader.
        void general.slot.work({ ...record, skip: [1e6] }, arena[at] ?? null);
      });
      expect(short.results).toEqual(general.results);
      expect(state(short.slot)).toBe(state(general.slot));
      expect(short.slot.counters()).toEqual(general.slot.counters());
    }),
    { numRuns: Number(process.env['FUZZ_PROGRAMS'] ?? 50) },
  );
  expect(entered.mock.calls.length).toBeGreaterThan(200);
}, 120_000);
