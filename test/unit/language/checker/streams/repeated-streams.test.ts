import { describe, expect, test } from 'vitest';
import type { Plan, StreamPlan } from '../../../../../shared/language/plan/plan.ts';
import { checkText } from '../checking.ts';

const REPETITIONS = 5;

const DECLARATIONS = `event Tick:
    symbol: str
    price: float
    volume: int
    late: bool
event Other:
    symbol: str
event Made:
    symbol: str
    number: int?
    share: float?
`;

/** What a loop makes of the statement, written out by hand. */
function writtenOut(statement: string): string {
  return Array.from({ length: REPETITIONS }, (_, i) => statement.replaceAll('{i}', `${i}`)).join('\n');
}

function repeated(statement: string): string {
  const lines = statement.split('\n').map((line) => `    ${line}`);
  return `for i in 0..${REPETITIONS}:\n${lines.join('\n')}`;
}

/** A plan without what says where its text stood; with the fingerprints of its operators. */
function meaningOf(plan: Plan | null): unknown {
  const streams = plan?.streams.map((stream) => ({ ...stream, fingerprints: stream.operators.map(({ fingerprint }) => fingerprint) }));
  return JSON.parse(
    JSON.stringify({ ...plan, streams }, (key, value) => (key === 'origin' || key === 'text' ? undefined : value)) ?? 'null',
  );
}

/** The codes of what was found; one mistake in a loop is told once. */
function codesOf(text: string): readonly string[] {
  return [...new Set(checkText(text).diagnostics.map(({ code }) => code))].sort();
}

function expectSame(statement: string, declarations = DECLARATIONS): void {
  const [loop, byHand] = [`${declarations}${repeated(statement)}`, `${declarations}${writtenOut(statement)}`];
  expect(meaningOf(checkText(loop).plan)).toEqual(meaningOf(checkText(byHand).plan));
  expect(codesOf(loop)).toEqual(codesOf(byHand));
}

const CONDITIONS = [
  'symbol == "S{i}" and price > 120.0',
  '"S{i}" != symbol or volume == {i}',
  'volume >= {i} and volume < {i} + 3',
  'price > {i}',
  'price / {i} > 2',
  '{i} == 3',
  '"S{i}" == "S3" and late',
  '{i} > 2 and symbol == "S{i}"',
  'not (symbol == "S{i}" or symbol == "T{i}")',
  'contains(symbol, "a{i}") and not ends_with(lower(symbol), "b{i}")',
  'symbol.starts_with("S{i}")',
  'contains("S0 S1 S2", "S{i}")',
  'contains("S{i}", symbol)',
  'matches(symbol, "^S{i}[0-9]+$")',
  'symbol in ["S{i}", "T{i}"]',
  '"S{i}" in symbol',
  'volume in {i}..9',
  'symbol == f"S{i}{{volume}}"',
  'price + {i} > 2',
  'late == true and volume == {i}',
  'late == "{i}"',
  'price > "{i}"',
  'volum{i} > 2',
  'if volume > {i} then late else symbol == "S{i}"',
  'x => x.symbol == "S{i}"',
  'symbol == null or volume == {i}',
  'symbol == "S{i}" and symbol == "T" and symbol == "U{i}" and price > 1 and volume < {i} and late',
  'symbol == "{i}" and (volume == {i} and (price > 1 or late))',
];

const OUTPUTS = [
  'emit()',
  'emit(symbol, price)',
  'emit(rule: "rule {i}", number: {i}, symbol: symbol)',
  'emit(number: {i} * 2)',
  'emit(number: -{i})',
  'emit(n{i}: volume)',
  'emit(volume + {i})',
  'emit(context: "c{i}", symbol)',
  'emit as Made (symbol: symbol, number: {i})',
  'emit as Made (symbol: symbol, share: {i})',
  'emit as Made{i} (symbol: symbol)',
  'select(symbol, number: {i}).emit()',
  'select(symbol, number: {i}).where(number > {i}).emit(symbol, number)',
  'emit(symbol: symbol).emit(rule: "rule {i}")',
  'emit(text: "a{i}", text: "b{i}")',
];

describe('streams that a loop repeats', () => {
  test.each(CONDITIONS)('have the plans of those written out: where(%s)', (condition) => {
    expectSame(`stream S{i} = Tick\n    .where(${condition})\n    .emit(symbol, price)`);
  });

  test.each(OUTPUTS)('have the plans of those written out: %s', (output) => {
    expectSame(`stream S{i} = Tick\n    .where(symbol == "S{i}")\n    .${output}`);
    expectSame(`stream S{i} = Tick\n    .where(late)\n    .${output}`);
  });

  test('whatever else a stream has', () => {
    expectSame('stream S{i} = Tick.where(symbol == "S{i}").window({i} + 1).aggregate(n: count()).emit(n)');
    expectSame('stream S{i} = Tick.partition_by(symbol).where(volume == {i}).throttle(3, per: 1m).emit(symbol)');
    expectSame('stream S{i} = Tick as t .where(t.volume == {i}).emit(v: t.volume)');
    expectSame('stream S{i} = merge(Tick.where(symbol == "S{i}"), Other).emit(symbol)');
    expectSame('stream S{i} = Tick as a -> Other where symbol == "S{i}" within 5s .emit(symbol: a.symbol)');
    expectSame('stream S{i} = Nowhere.where(contains(lower(text), "x{i}")).emit(text)');
    expectSame('stream S{i}: Made = Tick.where(symbol == "S{i}").emit(symbol, number: {i})');
    expectSame('stream S{i} = Tick.on_error(null).where(symbol == "S{i}").emit(symbol)');
    expectSame('stream S{i} = Tick.where(symbol == "S{i}")');
    expectSame('stream `S {i}` = Tick.where(symbol == "S{i}").emit(symbol)');
  });

  test('whatever the program has besides', () => {
    const statement = 'stream S{i} = Tick.where(symbol == "S{i}").emit(symbol, number: {i})';
    expectSame(statement, `${DECLARATIONS}fn twice(x: int): x * 2\n`);
    expectSame(statement, `${DECLARATIONS}var seen = 1\n`);
    expectSame(statement, `${DECLARATIONS}event S3:\n    symbol: str\n`);
    expectSame(statement, `${DECLARATIONS}stream S3 = Other.emit(symbol)\n`);
    expectSame(statement, `${DECLARATIONS}stream All = S2.where(number > 1).emit(symbol)\n`);
    expectSame(statement, `${DECLARATIONS}stream Late = S2.late.emit(symbol)\n`);
    expectSame(statement, `${DECLARATIONS}stream Ticks = Other.emit as Tick (symbol: symbol, price: 1.0, volume: 1, late: false)\n`);
    expectSame(statement, `${DECLARATIONS}connector Out = console()\nconfig mqtt:\n    output_topic: "out"\n`);
  });

  test('a stream with the name of what it reads is none like the others', () => {
    const events = Array.from({ length: REPETITIONS }, (_, i) => `event S${i}:\n    symbol: str\n`).join('');
    expectSame('stream S{i} = S3.where(symbol == "x{i}").emit(symbol)', `${DECLARATIONS}${events}`);
    expectSame('stream S{i} = S0.where(symbol == "x{i}").emit(symbol)', `${DECLARATIONS}${events}`);
    expectSame('stream S{i} = S3.where(symbol == "x{i}").emit(symbol)');
  });

  test('loops in loops, of several statements', () => {
    const body = (name: string, i: string): string =>
      `stream A${name} = Tick.where(symbol == "a${i}").emit(symbol)\nstream B${name} = A${name}.where(symbol == "b${i}").emit(symbol)`;
    const inLines = (text: string, indent: string): string => text.replaceAll(/^/gm, indent);
    const loop = `for i in 0..3:\n    for j in 0..4:\n${inLines(body('{i}_{j}', '{i}{j}'), '        ')}\n`;
    const all = [0, 1, 2].flatMap((i) => [0, 1, 2, 3].map((j) => body(`${i}_${j}`, `${i}${j}`)));
    const [one, other] = [checkText(`${DECLARATIONS}${loop}`), checkText(`${DECLARATIONS}${all.join('\n')}`)];
    expect(meaningOf(one.plan)).toEqual(meaningOf(other.plan));
  });

  test('say where they stand in the text as written', () => {
    const text = `${DECLARATIONS}${repeated('stream S{i} = Tick.where(symbol == "S{i}").emit(symbol)')}`;
    const streams = checkText(text).plan?.streams as readonly StreamPlan[];
    expect(new Set(streams.map(({ origin: { span } }) => `${span.start}-${span.end}`)).size).toBe(1);
    expect(streams.map(({ operators }) => operators.map((one) => one.text))).toEqual(
      streams.map(() => ['where(symbol == "S{i}")', 'emit(symbol)']),
    );
  });

  test('count as much towards what a program may have as those written out', () => {
    const terms = Array.from({ length: 1_000 }, () => 'late').join(' or ');
    const found = checkText(
      `${DECLARATIONS}for i in 0..10000:\n    stream S{i} = Tick.where(symbol == "S{i}" and (${terms})).emit(symbol)`,
    );
    expect(found.plan).toBeNull();
    expect(found.diagnostics.map(({ code }) => code)).toEqual(['E095']);
  });
});
