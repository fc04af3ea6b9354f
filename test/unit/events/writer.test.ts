import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundToMicrosecond } from '../../../shared/events/calendar.ts';
import type { Fields, InputEvent } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { writeEvt, writeJsonl } from '../../../shared/events/writer.ts';
import { TIMESTAMP } from '../../../shared/language/plan/types.ts';
import { declare, events } from './reading.ts';

const text = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) }),
  fc.string(),
  fc.constantFrom('', '"', '\\', "'", '\\n', '\n\r\t', '\0\u007f\u0085', '\ud800', '\u2028', '\ufeff', 'C:\\new', '__proto__', 'null'),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 2 ** 53, -(2 ** 53), 1e21, 1.5e300, 2 ** 53 - 1, 1e-7),
);
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value; map: Fields }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    fc.constantFrom(null, true, false),
    text,
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('map'),
  ),
  map: fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
})).value;
const fields: fc.Arbitrary<Fields> = fc.array(fc.tuple(text, value), { maxLength: 6 }).map((entries) => new Map(entries));
const type = fc.oneof(
  fc.constantFrom('A', 'LoginFailed', 'BATCH', '_x', 'a.b-c'),
  text.filter((name) => name !== ''),
);
const microseconds = (max: number): fc.Arbitrary<number> =>
  fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 999 })).map(([ms, us]) => roundToMicrosecond(ms + us / 1000));
const time = fc.oneof(fc.integer({ min: 0, max: 8_640_000_000_000_000 }), microseconds(4_000_000_000_000));

const inputEvent: fc.Arbitrary<InputEvent> = fc
  .tuple(type, fields, time, fc.option(time, { nil: undefined }))
  .map(([name, members, fallbackTime, timestamp]) => ({
    type: name,
    fields: members,
    fallbackTime,
    ...(timestamp === undefined ? {} : { timestamp }),
  }));

describe('an event written as a line of an .evt file', () => {
  it('reads back as the same event', () => {
    fc.assert(
      fc.property(inputEvent, (event) => {
        expect(events('.evt', writeEvt(event))).toEqual([event]);
      }),
      { numRuns: 1000 },
    );
  });

  it('is easy to read', () => {
    const members = new Map<string, Value>([
      ['user', 'ann "x"'],
      ['first name', null],
      ['n', -1.5],
      ['big', 2 ** 53],
      ['list', [1, new Map<string, Value>([['k', true]])]],
    ]);
    expect(writeEvt({ type: 'Login', fields: members, fallbackTime: 1500 })).toBe(
      '@1500 Login { user: "ann \\"x\\"", "first name": null, n: -1.5, big: 9007199254740992.0, list: [1, {k: true}] }',
    );
    expect(writeEvt({ type: 'Tick', fields: new Map(), fallbackTime: 0 })).toBe('@0 Tick {}');
  });

  it('is a JSON line when its envelope states a time, or its type or time fits no other', () => {
    const members = new Map([['x', 1]]);
    expect(writeEvt({ type: 'A', fields: members, fallbackTime: 5, timestamp: 1769853600000 })).toBe(
      '@5 {"event_type":"A","timestamp":"2026-01-31T10:00:00Z","data":{"x":1}}',
    );
    expect(writeEvt({ type: 'a b', fields: members, fallbackTime: 5 })).toBe('@5 {"event_type":"a b","data":{"x":1}}');
    expect(writeEvt({ type: 'A', fields: members, fallbackTime: -1000 })).toBe(
      '{"event_type":"A","timestamp":"1969-12-31T23:59:59Z","data":{"x":1}}',
    );
  });

  it('has the time of an output event as its offset, and its times and durations in milliseconds', () => {
    const members = new Map<string, Value>([
      ['at', new Timestamp(1769853600000)],
      ['gap', new Duration(1500)],
    ]);
    expect(writeEvt({ stream: 'S', type: 'Alert', time: 7, fields: members })).toBe('@7 Alert { at: 1769853600000, gap: 1500 }');
  });
});

describe('an event written as a JSON line', () => {
  const schemas = declare({ A: { at: TIMESTAMP } });
  const timeOf = (event: InputEvent): unknown => {
    const admission = schemas.admit(event, { strict: false });
    return admission.status === 'valid' ? admission.time : admission;
  };

  it('reads back as the same event when its envelope states its time', () => {
    fc.assert(
      fc.property(inputEvent, time, (event, timestamp) => {
        const stated = { ...event, timestamp, fallbackTime: timestamp };
        expect(events('.jsonl', writeJsonl(stated))).toEqual([stated]);
      }),
    );
  });

  it('reads back with the same type, fields and event time in any case', () => {
    const timed = fc
      .tuple(inputEvent, fc.constantFrom('at', 'timestamp', 'x'), fc.constantFrom<Value>('2026-01-31', 'noon', 5, null))
      .map(([event, name, at]) => ({
        ...event,
        type: 'A',
        fields: new Map([...event.fields, [name, at]]),
      }));
    fc.assert(
      fc.property(timed, (event) => {
        const [back] = events('.jsonl', writeJsonl(event, schemas));
        expect([back?.type, back?.fields]).toEqual([event.type, event.fields]);
        expect(back && timeOf(back)).toEqual(timeOf(event));
      }),
    );
  });

  it('has its envelope around its data', () => {
    const event = {
      stream: 'S',
      type: 'Alert',
      time: 1769853600000.5,
      fields: new Map<string, Value>([
        ['big', 2 ** 53],
        ['n', Number.NaN],
      ]),
    };
    expect(writeJsonl(event)).toBe(
      '{"event_type":"Alert","timestamp":"2026-01-31T10:00:00.000500Z","data":{"big":9007199254740992.0,"n":null}}',
    );
    expect(writeJsonl({ type: 'A', fields: new Map([['timestamp', '2026-01-31']]), fallbackTime: 5 })).toBe(
      '{"event_type":"A","data":{"timestamp":"2026-01-31"}}',
    );
    expect(writeJsonl({ type: 'A', fields: new Map(), fallbackTime: 5 }, new EventSchemas([]))).toBe(
      '{"event_type":"A","timestamp":"1970-01-01T00:00:00.005Z","data":{}}',
    );
  });
});
