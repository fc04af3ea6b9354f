import { describe, expect, it } from 'vitest';
import { csvLines } from '../../cli/event-files/csv-lines.ts';
import type { InputEvent } from '../../shared/events/event.ts';
import { evtReader } from '../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../shared/events/jsonl-reader.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { fieldsToJson } from '../../shared/events/text.ts';
import { type FileFormat, fileLines, formatOf } from '../../worker/connectors/file/file-lines.ts';
import { eventLine } from '../../worker/connectors/sources/event-line.ts';
import { eventOf, isProblem, RequestReader } from '../../worker/runtime/requests/request-reader.ts';
import { planOf } from '../scenarios/run-program.ts';
import { reports, runs } from './conformance.ts';

/** §9, §10 and §14 of the language reference, and what §15 and §16 add to them. */
function read(text: string, program = '', reader = evtReader): string[] {
  const schemas = new EventSchemas(program === '' ? [] : planOf(program).events);
  const file = reader({ schemas });
  return [...file.write(new TextEncoder().encode(text)), ...file.end()].map((result) => {
    if (result.kind === 'event') return `${result.event.fallbackTime} ${result.event.type} ${fieldsToJson(result.event.fields)}`;
    return result.kind === 'invalid'
      ? `invalid ${result.line} ${result.type}`
      : `unreadable ${result.diagnostic.line}:${result.diagnostic.column}`;
  });
}

const files: readonly (readonly [says: string, text: string, ...events: string[]])[] = [
  ['blank lines and comments are passed over', '\n# c\n  // d\n\nA {}\n', '0 A {}'],
  ['offsets', '@100 A {}\n@100ms A {}\n@5s A {}\n@2m A {}\n@1h A {}\n', '100 A {}', '100 A {}', '5000 A {}', '120000 A {}', '3600000 A {}'],
  ['a line without @ has the offset of the line before', 'A {}\n@5s A {}\nA {}\n', '0 A {}', '5000 A {}', '5000 A {}'],
  ['offsets are absolute, and may go back', '@5s A {}\n@3s A {}\n', '5000 A {}', '3000 A {}'],
  ['BATCH sets the offset', 'BATCH 1000\nA {}\nA {}\nBATCH 2s\nA {}\n', '1000 A {}', '1000 A {}', '2000 A {}'],
  [
    'values',
    `A { a: "x\\"y", b: 'z', c: 1.5, d: -2, e: true, f: null, g: [1, "a"], h: {k: {l: 1}}, i: 1e3 }\n`,
    '0 A {"a":"x\\"y","b":"z","c":1.5,"d":-2,"e":true,"f":null,"g":[1,"a"],"h":{"k":{"l":1}},"i":1000}',
  ],
  ['quoted keys', 'A { "a b": 1 }\n', '0 A {"a b":1}'],
  ['an unquoted word is a string', 'A { a: hello, b: nil, c: false }\n', '0 A {"a":"hello","b":null,"c":false}'],
  ['unknown escapes are kept', 'A { a: "C:\\Windows" }\n', '0 A {"a":"C:\\\\Windows"}'],
  ['a trailing ; is passed over', 'A { a: 1 };\n', '0 A {"a":1}'],
  ['Type(..) of an undeclared type', 'A(1, "x")\n', '0 A {"field_0":1,"field_1":"x"}'],
  ['a JSON line', '{"event_type": "A", "x": 1}\n', '0 A {"x":1}'],
  ['a JSON line behind an offset', '@5s {"event_type": "A", "x": 1}\n', '5000 A {"x":1}'],
  ['Windows line ends', '@1s A { x: 1 }\r\nA { x: 2 }\r\n', '1000 A {"x":1}', '1000 A {"x":2}'],
  ['a line without its end', 'A { x: 1 }', '0 A {"x":1}'],
  ['a byte order mark', '\uFEFFA { x: 1 }\n', '0 A {"x":1}'],
  ['an event without braces of fields', 'A {}\nA { }\nA()\n', '0 A {}', '0 A {}', '0 A {}'],
  ['a line that cannot be read has a position', 'A {}\nA { x: }\nA {}\n', '0 A {}', 'unreadable 2:8', '0 A {}'],
  ['an event over several commas', 'A { x: 1, }\n', '0 A {"x":1}'],
];

describe('.evt', () => {
  it.each(files)('%s', (_, text, ...events) => {
    expect(read(text)).toEqual(events);
  });
  it('Type(..) fills the fields of a declared event in order, inherited ones first', () => {
    const program = 'event A: x: int, y: str\nevent B extends A: z: int\nstream S = B.emit()\n';
    expect(read('A(1, "a")\nB(1, "a", 2)\nA(1)\n', program)).toEqual(['0 A {"x":1,"y":"a"}', '0 B {"x":1,"y":"a","z":2}', '0 A {"x":1}']);
  });
  it('too many values are invalid', () => {
    expect(read('A(1, 2)\n', 'event A: x: int\nstream S = A.emit()\n')).toEqual(['invalid 1 A']);
  });
});

describe('.jsonl', () => {
  const lines: typeof files = [
    ['flat', '{"event_type": "A", "x": 1}\n', '0 A {"x":1}'],
    ['with type', '{"type": "A", "x": 1}\n', '0 A {"x":1}'],
    ['under data', '{"event_type": "A", "data": {"x": 1}}\n', '0 A {"x":1}'],
    ['not JSON', '{"event_type": "A"\n{"event_type": "B"}\n', 'unreadable 1:19', '0 B {}'],
    ['blank lines', '\n{"event_type": "A"}\n\n', '0 A {}'],
  ];
  it.each(lines)('%s', (_, text, ...events) => {
    expect(read(text, '', jsonlReader)).toEqual(events);
  });
});

/** What an event file gives: its events as the engine has them, `none` where there is none. */
type Reading = (name: string, text: string, schemas: EventSchemas) => Promise<readonly (InputEvent | undefined)[]>;

const byCommandLine: Reading = async (name, text, schemas) => {
  const parts: Uint8Array[] = [];
  const none: undefined[] = [];
  const options = { path: name, schemas, eventType: undefined, problem: () => void none.push(undefined) };
  const bytes = (async function* () {
    yield Buffer.from(text);
  })();
  for await (const part of name.endsWith('.csv') ? csvLines(bytes, options) : bytes) parts.push(part);
  const reader = name.endsWith('.evt') ? evtReader({ schemas }) : jsonlReader({ schemas });
  const results = [...reader.write(Buffer.concat(parts)), ...reader.end()];
  return [...results.map((result) => (result.kind === 'event' ? result.event : undefined)), ...none];
};

const bySource: Reading = async (name, text, schemas) => {
  const lines = fileLines({ format: formatOf(name) as FileFormat, timeField: undefined, schemas }, {});
  const requests = new RequestReader();
  return lines.messages(Buffer.from(text)).map((message) => {
    const result = eventLine(message, { connector: undefined, declared: undefined });
    if (!('line' in result)) return undefined;
    const reading = requests.read(Buffer.from(result.line).toString(), 'ndjson', { isFromSource: true, schemas });
    const [entry] = 'entries' in reading ? reading.entries : [];
    return entry === undefined || isProblem(entry) ? undefined : eventOf(entry, 0);
  });
};

/** An event file is the same through the command line and through `.from`. */
describe('event files both ways', () => {
  const program = `event V: id: str?, at: timestamp?
event R: n: int?, ok: bool?, list: [int]?, map: {str: int}?
event S extends R: n2: float?
stream X = V.emit()`;
  const schemas = new EventSchemas(planOf(program).events);
  const at10 = '1769853600000';
  const tables: readonly (readonly [name: string, text: string, ...events: string[]])[] = [
    ['offset.evt', '@5s O { a: 1 }\nO { a: 2 }\n', '5000 O {"a":1}', '5000 O {"a":2}'],
    ['own-time.evt', '@5s V { at: "2026-01-31T10:00:00Z" }\n', `${at10} V {"at":${at10}}`],
    ['field-timestamp.evt', '@5s O { timestamp: "2026-01-31T10:00:00Z" }\n', `${at10} O {"timestamp":"2026-01-31T10:00:00Z"}`],
    ['json.evt', '@5s {"event_type":"V","id":"a","timestamp":"2026-01-31T10:00:00Z"}\n', `${at10} V {"id":"a"}`],
    ['json-at.evt', '@5s {"event_type":"O","data":{"@timestamp":1769853600}}\n', `${at10} O {"@timestamp":1769853600}`],
    [
      'positions.evt',
      '@0 V("b", null)\nS(1, true, [1], {k: 2}, 1.5)\nV("c", null, 3)\n',
      '0 V {"id":"b","at":null}',
      '0 S {"n":1,"ok":true,"list":[1],"map":{"k":2},"n2":1.5}',
      'none',
    ],
    [
      'column-timestamp.csv',
      `event_type,at,timestamp\nV,2026-01-31T10:00:00Z,1769853605\n`,
      `${at10} V {"at":${at10},"timestamp":1769853605}`,
    ],
    ['seconds.csv', 'type,timestamp\nO,1769853600\n', `${at10} O {"timestamp":1769853600}`],
    ['bool.csv', 'event_type,ok\nR,TRUE\nR,False\nO,TRUE\nR,yes\n', '0 R {"ok":true}', '0 R {"ok":false}', '0 O {"ok":"TRUE"}', 'none'],
    ['values.csv', 'event_type,list,map\nR,"[1,2]","{""k"":1}"\nR,,\n', '0 R {"list":[1,2],"map":{"k":1}}', '0 R {"list":null,"map":null}'],
    ['types.csv', 'event_type,id,n\nV,7,x\nR,7,8\n', '0 V {"id":"7","n":"x"}', '0 R {"id":7,"n":8}'],
    ['flat.jsonl', '{"event_type":"V","id":"a","timestamp":"2026-01-31T10:00:00Z"}\n', `${at10} V {"id":"a"}`],
    ['nanoseconds.jsonl', '{"event_type":"V","at":1769853600000000000}\n', `${at10} V {"at":${at10}}`],
    ['nanoseconds.csv', 'event_type,at\nV,1769853600000000000\nO,1769853600000000000\n', `${at10} V {"at":${at10}}`, 'none'],
    ['nanoseconds.evt', '@5s V { at: 1769853600000000000 }\n', `${at10} V {"at":${at10}}`],
    ['seconds.jsonl', '{"event_type":"V","id":"a","timestamp":1769853600}\n', `${at10} V {"id":"a"}`],
    ['fields.jsonl', '{"event_type":"V","id":"V1","fields":{"q":1}}\n', '0 V {"id":"V1","fields":{"q":1}}'],
    [
      'fields-beside.jsonl',
      '{"type":"O","fields":{"q":1.50},"@timestamp":1769853600,"n":1}\n{"event_type":"O","type":"t","fields":{},"timestamp":1769853600}\n',
      `${at10} O {"fields":{"q":1.5},"@timestamp":1769853600,"n":1}`,
      `${at10} O {"type":"t","fields":{}}`,
    ],
    ['fields-and-data.jsonl', '{"event_type":"O","fields":{"q":1},"data":{"a":1}}\n', '0 O {"a":1}'],
    [
      'fields-list.jsonl',
      '{"event_type":"O","fields":[1]}\n{"event_type":"O","a":{"fields":{}}}\n',
      '0 O {"fields":[1]}',
      '0 O {"a":{"fields":{}}}',
    ],
    ['fields-wrong.jsonl', '{"event_type":"O","fields":{"q":1}\n', 'none'],
    ['data.jsonl', '{"type":"O","data":{"@timestamp":1769853600},"x":1}\n', `${at10} O {"@timestamp":1769853600}`],
  ];
  it.each(tables)('%s', async (name, text, ...events) => {
    const admitted = (event: InputEvent | undefined): string => {
      const admission = event && schemas.admit(event, { strict: false });
      return event && admission?.status === 'valid' ? `${admission.time} ${event.type} ${fieldsToJson(admission.fields)}` : 'none';
    };
    expect((await byCommandLine(name, text, schemas)).map(admitted)).toEqual(events);
    expect((await bySource(name, text, schemas)).map(admitted)).toEqual(events);
  });
});

describe('bad input', () => {
  const program = 'event A: x: int, y: str?\nstream S = A.emit(x: x, y: y)';
  runs([
    ['a field of a wrong type makes the event invalid', program, 'A { x: "a" }\nA { x: 1 }', 'invalid {}', 'S {"x":1,"y":null}'],
    ['also an optional one', program, 'A { x: 1, y: 5 }', 'invalid {}'],
    ['7.0 fits an int, 7.5 does not', program, 'A { x: 7.0 }\nA { x: 7.5 }', 'S {"x":7,"y":null}', 'invalid {}'],
    ['an incomplete event runs with null', program, 'A { y: "a" }\nA { x: null }', 'S {"x":null,"y":"a"}', 'S {"x":null,"y":null}'],
    [
      'extra fields are kept',
      'event A: x: int\nstream S = A.emit(z: z0 ?? 0)\nstream R = A.emit()'.replace('z0 ?? 0', 'x'),
      'A { x: 1, z: 2 }',
      'S {"z":1}',
      'R {"x":1,"z":2}',
    ],
    [
      'an unsafe integer in an open event is invalid',
      'stream S = A.emit(x: x)',
      'A { x: 9007199254740993 }\nA { x: 9007199254740991 }',
      'invalid {}',
      'S {"x":9007199254740991}',
    ],
    [
      'an invalid event does not move time',
      'event A: x: int\nstream S = A.window(5s).aggregate(n: count()).emit(n: n)',
      '@0 A { x: 1 }\n@20s A { x: "a" }\n@1s A { x: 1 }',
      'invalid {}',
      'S {"n":2}',
    ],
    [
      'null inside an array of a declared event is incomplete',
      'event A: xs: [int]\nstream S = A.emit(n: len(xs))',
      'A { xs: [1, null] }',
      'S {"n":2}',
    ],
  ]);
});

describe('tests in programs', () => {
  const program = 'event L: u: str\nstream S = L.emit(u: u)\n';
  reports([
    [
      'a test',
      `${program}test "t":\n    at 0s L { u: "a" }\n    expect S { u: "a" } once\n    advance 10m\n    expect no S\n    expect S 2 times`,
    ],
    ['E033 an unknown stream', `${program}test "t":\n    expect Nope`, 'E033 4:12'],
    ['E033 an unknown event', `${program}test "t":\n    at 0s Nope { u: "a" }`, 'E033 4:11'],
    ['E062 a value that is not constant', `${program}var x = "a"\ntest "t":\n    at 0s L { u: x }`, 'E062 5:18'],
  ]);
});
