import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import { printProgram } from '../../../../worker/engine/fusion/fuse.ts';
import { plain as reference, shipped } from '../../../reference/ways.ts';

const DECLARED = 'event Tick:\n    symbol: str\n    price: float\n    size: int\n';

const symbol = fc.constantFrom('A', 'B', 'C', 'D');
const number = fc.integer({ min: 0, max: 6 });

/** A first condition of a stream: some can be looked up, some cannot. */
const condition = fc.oneof(
  symbol.map((name) => `symbol == "${name}"`),
  fc.tuple(symbol, number).map(([name, least]) => `symbol == "${name}" and price > ${least}`),
  fc.tuple(number, symbol).map(([least, name]) => `price >= ${least} and "${name}" == symbol`),
  number.map((size) => `size == ${size}`),
  number.map((least) => `price > ${least}`),
  fc.tuple(number, number).map(([low, high]) => `price > ${low} and price <= ${high}`),
  fc.tuple(number, number).map(([low, high]) => `${low} <= size and size < ${high} and symbol != "B"`),
  fc.tuple(number, symbol).map(([least, name]) => `price > ${least} or symbol == "${name}"`),
  symbol.map((name) => `upper(symbol) == "${name}"`),
);

const stream = (at: number, text: string, end: string, from = 'Tick'): string =>
  `stream S${at} = ${from}\n    .where(${text})\n    ${end}\n`;
const WINDOW = 'stream Pair = Tick.window(2).aggregate(symbol: last(symbol), price: sum(price), size: last(size))\n';
const end = fc.constantFrom(
  '.emit(s: symbol, p: price)',
  '.emit(n: size + 1)',
  '.select(d: price * 2).emit(d: d)',
  '.limit(3).emit(p: price)',
  '.window(2).aggregate(n: count(), most: max(price)).emit(n: n, most: most)',
  '.emit()',
);
const program = fc
  .tuple(fc.constantFrom('', '', '    tags: [int]?\n'), fc.array(fc.tuple(condition, end), { minLength: 9, maxLength: 30 }))
  .map(([whole, streams]) => `${DECLARED}${whole}\n${streams.map(([text, tail], at) => stream(at, text, tail)).join('\n')}`);

const plain = fc.tuple(symbol, number, number).map(([name, price, size]): [string, number | null | string][] => [
  ['symbol', name],
  ['price', price],
  ['size', size],
]);
const odd = fc.constantFrom<[string, number | null | string][]>(
  [['symbol', 'A']],
  [
    ['symbol', 'A'],
    ['price', null],
    ['size', 1],
  ],
  [
    ['symbol', 'B'],
    ['price', 2],
    ['size', 1],
    ['more', 1],
  ],
);
const events = fc.array(fc.oneof({ weight: 5, arbitrary: plain }, { weight: 1, arbitrary: odd }), { maxLength: 30 });

describe('many streams with a condition on one input', () => {
  test('give what they give one by one, in the same order, and count the same events', () => {
    const property = fc.property(program, events, (text, fields) => {
      const plan = planOf(text);
      const input = fields.map((one, at): InputEvent => ({ type: 'Tick', fields: new Map(one), fallbackTime: at }));
      expect(run(plan, input, shipped), text).toEqual(run(plan, input, reference));
    });
    fc.assert(property, { numRuns: 40 });
  });

  test('are looked up over results that wait for their turn', () => {
    const rules = Array.from({ length: 12 }, (_, at) => stream(at, `symbol == "S${at % 6}"`, '.emit(p: price)', 'Pair'));
    const input = Array.from({ length: 24 }, (_, at): InputEvent => {
      const fields = new Map<string, string | number>([
        ['symbol', `S${at % 7}`],
        ['price', at],
        ['size', 1],
      ]);
      return { type: 'Tick', fields, fallbackTime: at };
    });
    const plan = planOf(`${DECLARED}\n${WINDOW}${rules.join('\n')}`);
    const seen = run(plan, input, shipped);
    expect(seen).toEqual(run(plan, input, reference));
    expect(seen.filter((one) => String(one).startsWith('S'))).not.toHaveLength(0);
  });

  test('are looked up over the results of a stream whose fields nothing is known of', () => {
    const ends = ['.emit(s: symbol, p: price)', '.limit(3).emit(p: price)'];
    const rules = Array.from({ length: 12 }, (_, at) =>
      stream(at, at % 3 === 0 ? `contains(symbol, "${at % 7}")` : `symbol == "S${at % 6}"`, ends[at % 2] as string, 'Known'),
    );
    const input = Array.from({ length: 24 }, (_, at): InputEvent => {
      const fields = new Map<string, string | number>([
        ['symbol', `S${at % 7}`],
        ['price', at],
        ['size', at % 4],
      ]);
      return { type: 'Tick', fields, fallbackTime: at };
    });
    for (const count of [9, 12]) {
      const text = `stream Known = Tick.where(size > 0).emit(symbol: symbol, price: price)\n${rules.slice(0, count).join('\n')}`;
      const seen = run(planOf(text), input, shipped);
      expect(seen).toEqual(run(planOf(text), input, reference));
      expect(seen.filter((one) => String(one).startsWith('S'))).not.toHaveLength(0);
    }
    const looped =
      'stream Known = Tick.emit(symbol, price)\nfor i in 0..12:\n    stream S{i} = Known.where(symbol == "S{i}").emit(p: price)\n';
    expect(run(planOf(looped), input, shipped)).toEqual(run(planOf(looped), input, reference));
  });

  test('are looked up behind others that are looked up', () => {
    const behind = (from: string, name: string): string =>
      `for i in 0..10:\n    stream ${name}{i} = ${from}\n        .where(price == {i} and contains(symbol, "S"))\n        .emit(p: price, n: size)\n`;
    const first = 'stream Some = Tick.where(size > 1)\nstream Others = Tick.where(size == 1).select(symbol, price, size)\n';
    const text = `${first}${behind('Some', 'R')}${behind('Others', 'O')}${behind('Tick', 'T')}${behind('R1', 'B').replace('price ==', 'p ==').replace('contains(symbol, "S")', 'n > 1').replace('price, n: size', 'p')}`;
    const input = Array.from({ length: 40 }, (_, at): InputEvent => {
      const fields = new Map<string, string | number>([
        ['symbol', `S${at % 7}`],
        ['price', at % 9],
        ['size', at % 4],
      ]);
      return { type: 'Tick', fields, fallbackTime: at };
    });
    for (const declared of [DECLARED, `${DECLARED}    tags: [int]?\n`, '']) {
      const plan = planOf(`${declared}\n${text}`);
      const seen = run(plan, input, shipped);
      expect(seen).toEqual(run(plan, input, reference));
      for (const name of ['R', 'O', 'T', 'B']) expect(seen.some((one) => String(one).startsWith(name))).toBe(true);
    }
  });

  test('share one function when they differ in constants alone', () => {
    const rules = Array.from({ length: 40 }, (_, at) => stream(at, `symbol == "S${at}" and price > ${at}`, '.emit(s: symbol)'));
    const { text } = printProgram(planOf(`${DECLARED}\n${rules.join('\n')}`)).module;
    expect(text.match(/if\((?!a0===|this\.shape)/g)).toHaveLength(1);
  });

  test('of one shape have their own constants, names and failures', () => {
    const rules = Array.from({ length: 24 }, (_, at) => {
      const type = at % 3 === 0 ? ` as Alert${at % 2}` : '';
      return stream(
        at,
        `symbol == "S${at % 5}" and lower(word) == "w${at % 2}"`,
        `.emit${type}(rule: "rule ${at}", level: ${at % 4})`,
        'Raw',
      );
    });
    const plan = planOf(rules.join('\n'));
    const input = Array.from({ length: 40 }, (_, at): InputEvent => {
      const fields = new Map<string, string | number>([
        ['symbol', `S${at % 6}`],
        ['word', at % 7 === 0 ? at : `W${at % 3}`],
      ]);
      return { type: 'Raw', fields, fallbackTime: at };
    });
    const seen = run(plan, input, shipped);
    expect(seen).toEqual(run(plan, input, reference));
    expect(seen.filter((one) => String(one).startsWith('S'))).not.toHaveLength(0);
    expect(seen.filter((one) => String(one).includes('lower'))).not.toHaveLength(0);
    expect(printProgram(plan).module.text.match(/try\{/g)).toHaveLength(1);
  });

  test('that a loop makes run without their operators, which are made when somebody reads them', () => {
    const rule = stream(0, 'symbol == "S{i}" and price > {i}', '.emit(rule: "rule {i}", price: price)').replace('S0', 'S{i}');
    const loop = `for i in 0..20:\n${rule.replace(/^/gm, '    ')}\n`;
    const byHand = Array.from({ length: 20 }, (_, at) => rule.replaceAll('{i}', `${at}`)).join('\n');
    const input = Array.from({ length: 60 }, (_, at): InputEvent => {
      const fields = new Map<string, string | number>([
        ['symbol', `S${at % 23}`],
        ['price', at],
        ['size', 1],
      ]);
      return { type: 'Tick', fields, fallbackTime: at };
    });
    const plan = planOf(`${DECLARED}\n${loop}`);
    const read = new Set<string>();
    for (const one of plan.streams.slice(2)) noteReads(one, read);
    const seen = run(plan, input, shipped);
    expect([...read]).toEqual([]);
    expect(seen).toEqual(run(planOf(`${DECLARED}\n${byHand}`), input, reference));
    expect(seen).toEqual(run(plan, input, reference));
    expect(read.size).toBe(18);
  });
});

/** From now on says which streams' operators were read. */
function noteReads(plan: StreamPlan, read: Set<string>): void {
  const { get } = Object.getOwnPropertyDescriptor(plan, 'operators') ?? {};
  if (get === undefined) throw new Error(`the operators of ${plan.name} are made already`);
  Object.defineProperty(plan, 'operators', {
    get: () => {
      read.add(plan.name);
      return get.call(plan);
    },
  });
}

const field = fc.constantFrom('a', 'b');
const sought = fc.constantFrom('x', 'xy', 'X', 'yx', 'y', 'z y', '');
const textCondition = fc.letrec<{ readonly any: string }>((tie) => {
  const subject = fc.tuple(field, fc.constantFrom('', 'lower', 'upper')).map(([name, call]) => (call === '' ? name : `${call}(${name})`));
  const asked = fc.oneof(
    fc
      .tuple(fc.constantFrom('contains', 'starts_with', 'ends_with'), subject, sought)
      .map(([call, of, text]) => `${call}(${of}, '${text}')`),
    fc.tuple(subject, sought).map(([of, text]) => `${of} == '${text}'`),
    fc.tuple(subject, sought).map(([of, text]) => `'${text}' in ${of}`),
    fc.tuple(subject, sought, sought).map(([of, one, other]) => `${of} in ['${one}', '${other}']`),
  );
  const other = fc.constantFrom('n > 1', 'n != 2', 'a != null', 'b == null', "matches(a, 'x.*y')", 'len(b) > 2', 'true');
  const joined = fc
    .tuple(tie('any'), fc.constantFrom('and', 'or', 'or'), tie('any'))
    .map(([left, by, right]) => `(${left} ${by} ${right})`);
  const not = tie('any').map((one) => `not ${one}`);
  return {
    any: fc.oneof(
      { maxDepth: 3 },
      { weight: 6, arbitrary: asked },
      { weight: 1, arbitrary: other },
      { weight: 4, arbitrary: joined },
      { weight: 1, arbitrary: not },
    ),
  };
}).any;
const textual = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: fc.constantFrom('x', 'y', 'z', 'X', 'Y', ' '), maxLength: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom<string | number | null | boolean>(null, 3, true) },
);
const textFields = fc.record({ a: textual, b: textual, n: fc.constantFrom(0, 1, 2, 3) }, { requiredKeys: [] });

describe('many streams that ask for texts', () => {
  test.each([
    '',
    'event Log:\n    a: str\n    b: str\n    n: int\n',
    'event Log:\n    a: str\n    b: str\n    n: int\n    c: {str: int}?\n',
  ])('give what they give one by one, with the same failures (%s)', (declared) => {
    const ends = fc.constantFrom('.emit(a: a)', '.emit(n: n)', '.window(2).aggregate(m: count()).emit(m: m)');
    const rules = fc.array(fc.tuple(textCondition, ends), { minLength: 9, maxLength: 24 });
    const property = fc.property(rules, fc.array(textFields, { maxLength: 20 }), (streams, rows) => {
      const text = `${declared}${streams.map(([asked, tail], at) => stream(at, asked, tail, 'Log')).join('\n')}`;
      const { plan } = check(new SourceText('rules.vpl', text));
      fc.pre(plan !== null);
      const input = rows.map((row, at): InputEvent => ({ type: 'Log', fields: new Map(Object.entries(row)), fallbackTime: at }));
      expect(run(plan as Plan, input, shipped), text).toEqual(run(plan as Plan, input, reference));
    });
    fc.assert(property, { numRuns: 40 });
  });

  test('that say nothing else need no code of their own, however much they differ', () => {
    const rules = Array.from({ length: 40 }, (_, at) => {
      const asked = Array.from({ length: 1 + (at % 4) }, (_, other) => `contains(lower(a), 'w${at}.${other}')`).join(' or ');
      return stream(at, at % 2 === 0 ? asked : `(${asked}) and not b == 'no${at}'`, '.emit(a: a)', 'Log');
    });
    const plan = planOf(rules.join('\n'));
    const { module, physicalPlan } = printProgram(plan);
    expect(module.text).not.toMatch(/contains|isIn|toLowerCase/);
    expect(physicalPlan.streams[1]?.operators[0]?.runs).toEqual([{ by: 'index' }]);
    const rows = [{ a: 'W1.0', b: 'no1' }, { a: 'w1.1 w2.0', b: '' }, { a: 'w1.0' }, { a: 7 }, { a: 'w3.3', b: 7 }];
    const input = rows.map((row, at): InputEvent => ({ type: 'Log', fields: new Map(Object.entries(row)), fallbackTime: at }));
    const long: InputEvent = { type: 'Log', fields: new Map([['a', `${'x'.repeat(70_000)}w2.0`]]), fallbackTime: 9 };
    const seen = run(plan, [...input, long], shipped);
    expect(seen).toEqual(run(plan, [...input, long], reference));
    expect(seen.flatMap((one) => String(one).match(/^S\d+(?= )/)?.[0] ?? [])).toEqual(['S1', 'S2', 'S1', 'S3', 'S2']);
  });

  test('are looked up by the texts', () => {
    const rules = Array.from({ length: 12 }, (_, at) =>
      stream(at, `(contains(lower(a), 'w${at}') or ends_with(b, 'e${at}')) and not starts_with(b, 'x')`, '.emit(a: a)', 'Log'),
    );
    const [entry] = printProgram(planOf(rules.join('\n'))).physicalPlan.entries;
    expect(entry?.readers).toMatchObject([{ index: ['a', 'b'] }]);
  });
});

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('rules.vpl', text));
  if (plan === null) throw new Error(`${diagnostics[0]?.message}\n${text}`);
  return plan;
}

function run(plan: Plan, input: readonly InputEvent[], options: EngineOptions): unknown[] {
  const seen: unknown[] = [];
  const engine = createEngine(
    plan,
    {
      output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
      log: ({ stream, message }) => seen.push(`failed in ${stream}: ${message}`),
    },
    options,
  );
  for (const event of input) seen.push(engine.push(event).status);
  engine.end();
  seen.push(
    [...engine.counters().streams].map(([name, { eventsIn, eventsOut, failures, suppressed }]) => [
      name,
      eventsIn,
      eventsOut,
      failures,
      suppressed,
    ]),
  );
  return seen;
}
