import type { EventDeclaration } from '../../shared/events/schema.ts';
import { type FieldType, type SimpleKind, STR, type Type } from '../../shared/language/plan/types.ts';
import type { Tape } from './tape.ts';

export type Format = 'evt' | 'jsonl';

/** A declared type, and which of its fields a program would read. */
export interface RandomType extends EventDeclaration {
  readonly reads: readonly boolean[];
}

type Choices<T> = readonly [T, ...T[]];

const TYPE_NAMES: Choices<string> = ['A', 'B', 'AB', 'Tick', 'Tick2', 'Trade', 'Trace', 'BATCH', 'type', 'Ab_1', 'B_'];
const FIELD_NAMES: Choices<string> = ['a', 'b', 'id', 'price', 'symbol', 'at', 'ab', 'x1', 'device', 'value'];
/** These mean something in the envelope of a JSON event. */
const ENVELOPE_NAMES: Choices<string> = ['timestamp', 'type', 'data', 'event_type'];
const KINDS: Choices<SimpleKind> = ['str', 'float', 'int', 'str', 'float', 'bool', 'timestamp', 'duration'];
const WHOLE_TYPES: Choices<Type> = [{ kind: 'array', item: STR }, { kind: 'map', value: STR }, { kind: 'any' }];
const NUMBERS: Choices<string> = (
  '1 0 -0 7 -7 42 100.0 0.5 -0.0 007 00.5 5. .5 +5 1e3 1E-2 -1.5e3 1e400 -1e400 0.1 0.000001 0.30000000000000004 94.55977888910631 1.5.2 - -. 5s ' +
  '123456789012345 1234567890123456 9007199254740991 9007199254740992 9007199254740993 -9007199254740991 -9007199254740993 ' +
  '9007199254740992.0 9007199254740993.0 9007199254740991.5 123456789.123456789 0.1234567890123456789 1769853600 1769853600000 1769853600.5 ' +
  '0.00000000000000000000001 99999999999999999999 8640000000000000 8640000000000001 100000000000 99999999999 1769853600123.4567'
).split(' ') as unknown as Choices<string>;
const TEXTS: Choices<string> = [
  'ACME',
  '',
  'a',
  'ab',
  'abc',
  'abcd',
  'abcde',
  'two words',
  'é',
  '😀',
  'a\\nb',
  'a\\"b',
  'tab\there',
  '\u007f',
  'x'.repeat(63),
  'x'.repeat(64),
  'x'.repeat(65),
  'y'.repeat(300),
  '2026-01-31T10:00:00Z',
  '2026-01-31T10:00:00.250Z',
  '5m',
  '__proto__',
  '17',
  "it's",
  '}',
  '\\u0041',
];
const TIMES: Choices<string> = [
  '"2026-01-31T10:00:00Z"',
  '"2026-01-31T10:00:00.250Z"',
  '"2024-02-29T23:59:59.999Z"',
  '"2023-02-29T00:00:00Z"',
  '"2026-01-31T10:00:00"',
  '"2026-01-31"',
  '"2026-01-31T24:00:00Z"',
  '"2026-13-01T00:00:00Z"',
  '"0000-01-01T00:00:00Z"',
  '"2026-01-31t10:00:00z"',
  '"2026-01-31T10:00:00.2500Z"',
  '"2026-01-31T10:0x:00Z"',
  '"2026-01-31T10:00:00Z',
];
const OFFSETS: Choices<string> = [
  '@1 ',
  '@250 ',
  '',
  '@0 ',
  '@007 ',
  '@5s ',
  '@1.5 ',
  '@-1 ',
  '@',
  '@ 5 ',
  '@8640000000000000 ',
  '@8640000000000001 ',
  '@12  ',
];
const OTHER_LINES: Choices<string> = [
  '',
  '# note',
  '// note',
  'BATCH 500',
  'BATCH 2s',
  '  ',
  'nonsense',
  '{',
  'Unknown { a: 1 }',
  '{"event_type":"Unknown","a":1}',
  '"',
  '@5 {"event_type":"A","a":1}',
  '\ufeffA { a: 1 }',
];
const BLANKS: Choices<string> = ['', ' ', '', '  ', '\t', ' \t ', '\r'];
const PIECES: Choices<string> = [
  '',
  '"',
  ',',
  ':',
  '{',
  '}',
  ' ',
  '\t',
  '\r',
  '0',
  '-',
  '.',
  'e',
  '\\',
  'é',
  '\0',
  '#',
  ';',
  '1',
  '@',
  '\n',
  'null',
];

export function randomTypes(tape: Tape): RandomType[] {
  const names = new Set(tape.list(1, 7, () => tape.pick(TYPE_NAMES)));
  return Array.from(names, (name) => {
    const fields = uniqueFields(tape);
    return { name, fields, reads: fields.map(() => !tape.chance(30)) };
  });
}

function uniqueFields(tape: Tape): FieldType[] {
  const names = new Set(tape.list(0, 5, () => tape.pick(tape.chance(6) ? ENVELOPE_NAMES : FIELD_NAMES)));
  return Array.from(names, (name) => ({
    name,
    type: tape.chance(6) ? tape.pick(WHOLE_TYPES) : { kind: tape.pick(KINDS) },
    optional: tape.chance(10),
  }));
}

/** A file: mostly lines as programs write them, some with something wrong, some not of these types at all. */
export function randomFile(tape: Tape, types: readonly RandomType[], format: Format): string {
  const lines = tape.list(1, 12, () => {
    if (tape.chance(8)) return tape.pick(OTHER_LINES);
    const line = randomLine(tape, tape.pick(types as Choices<RandomType>), format);
    return tape.chance(12) ? mutated(tape, line) : line;
  });
  const lineEnd = tape.chance(10) ? '\r\n' : '\n';
  return lines.join(lineEnd) + (tape.chance(20) ? '' : lineEnd);
}

function randomLine(tape: Tape, type: RandomType, format: Format): string {
  const fields = arranged(tape, type.fields).map(({ name, type: { kind } }) => ({ name, value: randomValue(tape, kind) }));
  return format === 'evt' ? evtLine(tape, type.name, fields) : jsonLine(tape, type.name, fields);
}

/** Now and then in another order, one too few, one too many or one twice. */
function arranged(tape: Tape, fields: readonly FieldType[]): readonly FieldType[] {
  if (!tape.chance(10) || fields.length === 0) return fields;
  const at = tape.below(fields.length);
  const field = fields[at] as FieldType;
  switch (tape.below(4)) {
    case 0:
      return fields.toReversed();
    case 1:
      return fields.toSpliced(at, 1);
    case 2:
      return [...fields, { ...field, name: 'extra' }];
    default:
      return [...fields, field];
  }
}

interface WrittenField {
  readonly name: string;
  readonly value: string;
}

function evtLine(tape: Tape, type: string, fields: readonly WrittenField[]): string {
  const [before, behind, comma, colon] = tape.chance(75)
    ? [' { ', ' }', ', ', ': ']
    : [tape.pick(['{', ' {', '{ ']), tape.pick(['}', ' } ', ', }', ';}']), tape.pick([',', ' , ']), tape.pick([':', ' : '])];
  const quote = tape.chance(3) ? '"' : '';
  const members = fields.map(({ name, value }) => `${quote}${name}${quote}${colon}${value}`);
  const offset = tape.chance(90) ? `@${tape.below(100_000)} ` : tape.pick(OFFSETS);
  if (tape.chance(3)) return `${offset}${type}(${fields.map(({ value }) => value).join(', ')})`;
  return members.length === 0 ? `${offset}${type} {}` : `${offset}${type}${before}${members.join(comma)}${behind}`;
}

function jsonLine(tape: Tape, type: string, fields: readonly WrittenField[]): string {
  const isLoose = tape.chance(30);
  const [usualComma, usualColon] = tape.pick([
    [',', ':'],
    [', ', ': '],
    [' , ', ' : '],
  ]);
  // JSON allows blanks around each of these.
  const mark = (usual: string): string => (isLoose ? `${tape.pick(BLANKS)}${usual.trim()}${tape.pick(BLANKS)}` : usual);
  const object = (members: readonly string[]): string =>
    mark('{') + members.map((one, at) => (at === 0 ? one : mark(usualComma) + one)).join('') + mark('}');
  const member = (name: string, value: string): string => `"${name}"${mark(usualColon)}${value}`;
  const own = fields.map(({ name, value }) => member(name, value));
  const time = tape.chance(50) ? [member('timestamp', tape.chance(85) ? randomTime(tape) : tape.pick(NUMBERS))] : [];
  const typed = member(tape.chance(80) ? 'event_type' : 'type', `"${type}"`);
  const body = tape.chance(60) ? [member('data', object(own))] : own;
  const order = tape.pick([
    [typed, ...time, ...body],
    [typed, ...body, ...time],
    [...time, typed, ...body],
    tape.chance(20) ? [...body, typed, ...time] : [typed, ...time, ...body],
  ]);
  return object(order);
}

function randomValue(tape: Tape, kind: Type['kind']): string {
  if (tape.chance(4)) return tape.pick(['null', 'true', '"x"', '5', '[1]', 'word', '{}', '1.5']);
  switch (kind) {
    case 'str':
      return `"${tape.pick(TEXTS)}"`;
    case 'bool':
      return tape.pick(['true', 'false']);
    case 'timestamp':
      return tape.chance(70) ? randomTime(tape) : tape.pick(NUMBERS);
    case 'int':
      return tape.chance(60) ? String(tape.below(65_536) * tape.below(65_536)) : tape.pick(NUMBERS);
    case 'array':
      return '["a"]';
    case 'map':
      return '{"a": "b"}';
    case 'any':
      return tape.pick(['["a"]', '{"a": [1]}', '"a"', '1']);
    default:
      return tape.chance(60) ? randomDecimal(tape) : tape.pick(NUMBERS);
  }
}

function randomTime(tape: Tape): string {
  if (tape.chance(20)) return tape.pick(TIMES);
  const two = (below: number): string => String(tape.below(below)).padStart(2, '0');
  const fraction = tape.chance(50) ? `.${tape.below(10)}${two(100)}` : '';
  return `"20${two(100)}-${two(14)}-${two(33)}T${two(24)}:${two(60)}:${two(60)}${fraction}Z"`;
}

/** Of 1 to 22 digits. */
function randomDecimal(tape: Tape): string {
  const digits = tape.list(1, 22, () => tape.below(10)).join('');
  const point = tape.below(digits.length + 1);
  const text = `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/^0+(?=\d)/, '');
  return `${tape.chance(20) ? '-' : ''}${text.startsWith('.') ? `0${text}` : text}`;
}

/** With some characters taken out or put in. */
function mutated(tape: Tape, line: string): string {
  let text = line;
  for (const _ of tape.list(1, 3, () => null)) {
    const at = tape.below(text.length + 1);
    text = text.slice(0, at) + tape.pick(PIECES) + text.slice(at + tape.below(3));
  }
  return text;
}
