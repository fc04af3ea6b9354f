import { describe, expect, test } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { format } from '../../../shared/language/format/format.ts';
import { limits } from '../../../shared/limits.ts';
import { createEngine, type EngineOptions } from '../../../worker/engine/create-engine.ts';
import { ResultQueue } from '../../../worker/engine/streams/queue.ts';
import { ReferenceBackend } from '../../reference/reference-backend.ts';

const EVENT = 'event E:\n    n: int\n    s: str\n';
const many = 3_000;
const terms = (form: (at: number) => string, separator: string): string =>
  Array.from({ length: many }, (_, at) => form(at)).join(separator);

const ways: readonly (readonly [string, EngineOptions])[] = [
  ['fused', {}],
  ['operator by operator', { isFused: false }],
  ['by the reference', { backend: (plan) => new ReferenceBackend(plan), isFused: false }],
];

function outputsOf(text: string, options: EngineOptions, fields: readonly (readonly [string, Value])[]): Value[] {
  const { plan, diagnostics } = check(new SourceText('p.vpl', EVENT + text));
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  const seen: Value[] = [];
  const engine = createEngine(plan as NonNullable<typeof plan>, { output: (event) => seen.push(event.fields.get('x') ?? null) }, options);
  engine.push({ type: 'E', fields: new Map(fields), fallbackTime: 0 });
  engine.end();
  return seen;
}

describe.each(ways)('%s', (_way, options) => {
  const last = [
    ['n', 3],
    ['s', `x${many - 1}`],
  ] as const;
  test.each<readonly [string, string, readonly Value[]]>([
    ['alternatives', `stream S = E.where(${terms((at) => `s == "x${at}"`, ' or ')}).emit(x: n)\n`, [3]],
    ['conditions', `stream S = E.where(${terms((at) => `n != -${at + 1}`, ' and ')}).emit(x: n)\n`, [3]],
    [
      'alternatives behind a condition',
      `stream S = E.where(n == 4 and n == 3 or ${terms((at) => `s == "x${at}"`, ' or ')}).emit(x: n)\n`,
      [3],
    ],
    ['alternatives of a step', `stream S = E as a -> E where ${terms((at) => `s == "x${at}"`, ' or ')} as b within 1s .emit(x: 1)\n`, []],
    ['summands', `stream S = E.emit(x: ${terms((at) => (at % 2 === 0 ? 'n' : '1'), ' - ')})\n`, [3 - (many / 2 - 1) * 3 - many / 2]],
    ['texts', `stream S = E.emit(x: len(${terms(() => 's', ' + ')}))\n`, [5 * many]],
    ['parts of a template', `stream S = E.emit(x: len(f"${terms(() => '{s}', '-')}"))\n`, [6 * many - 1]],
    ['defaults', `stream S = E.emit(x: ${terms(() => 'null', ' ?? ')} ?? n)\n`, [3]],
    ['cases', `stream S = E.emit(x: ${terms((at) => `if s == "x${at}" then ${at} else `, '')}-1)\n`, [many - 1]],
    ['summands in a function', `fn f(a: int) -> int: ${terms(() => 'a', ' + ')}\nstream S = E.emit(x: f(n))\n`, [3 * many]],
  ])('thousands of %s in a chain work', (_what, text, expected) => {
    expect(outputsOf(text, options, last)).toEqual(expected);
  });

  const branches = (form: (at: number) => string): string =>
    Array.from({ length: 10_000 }, (_, at) => `${at === 0 ? 'if' : 'elif'} s == "x${at}": ${form(at)}`).join('\n    ');
  const wanted = 9_998;

  test.each<readonly [string, string, readonly Value[]]>([
    ['that assign', `var y = -1\n    ${branches((at) => `y := ${at}`)}\n    else: y := -2\n    return y`, [wanted]],
    ['some of which return', `var y = -1\n    ${branches((at) => (at % 2 ? `return ${at}` : `y := ${at}`))}\n    return -y`, [-wanted]],
    [
      'in a loop, some of which leave it or its pass',
      `var y = 0\n    while true:\n      y := y + 1\n      if y > 3: break\n      ${branches((at) => ['y := y + 10', 'break', 'continue', 'return -1'][at % 4] as string).replaceAll('\n', '\n  ')}\n      else: return -2\n      y := y + 100\n    return y`,
      [4],
    ],
  ])('ten thousand branches %s work', (_what, body, expected) => {
    const text = `fn f(s: str) -> int:\n    ${body}\nstream S = E.emit(x: f(s))\n`;
    expect(outputsOf(text, options, [last[0], ['s', `x${wanted}`]])).toEqual(expected);
  });

  test.each<readonly [string, string, number]>([
    ['conditions on one type', `merge(${terms((at) => `E.where(n > ${at - many})`, ', ')})`, many],
    ['types', `merge(E, ${terms((at) => `T${at}`, ', ')})`, 1],
  ])('a merge may take thousands of %s', (_what, merge, expected) => {
    expect(outputsOf(`stream S = ${merge}.emit(x: n)\n`, options, last)).toHaveLength(expected);
  });

  test('an output may have thousands of fields', () => {
    expect(outputsOf(`stream S = E.emit(${terms((at) => `f${at}: n`, ', ')}, x: n)\n`, options, last)).toEqual([3]);
  });

  test('a stream may stand behind thousands of others', () => {
    const chain = Array.from({ length: 1_500 }, (_, at) => `stream S${at + 1} = S${at}.select(n: n + 1)`).join('\n');
    expect(outputsOf(`stream S0 = E.where(n > 0)\n${chain}\nstream Out = S1500.emit(x: n)\n`, options, last)).toEqual([1_503]);
  });
});

describe('a program that would grow without bound', () => {
  const codes = (text: string): string[] =>
    check(new SourceText('p.vpl', text)).diagnostics.map(({ code, message }) => `${code} ${message}`);

  test('is told of merged rows by their event, however deep the merges are', () => {
    const merges = Array.from({ length: 60 }, (_, at) => `stream S${at + 1} = merge(S${at}, stream Q${at} = S${at}.where(n > 0))`).join(
      '\n',
    );
    const [message] = codes(`${EVENT}stream S0 = E.where(n > 0)\n${merges}\nstream Out = S60.where(m > 1).emit(x: n)\n`);
    expect(message).toBe('E034 unknown name `m`: event `E` has no such field');
  });

  test.each([
    ['operators in one stream', `${EVENT}stream S = E${'.where(n > 0)'.repeat(1_001)}.emit(x: n)\n`, /1002 operators/],
    [
      'fields of patterns over patterns',
      `${EVENT}stream S0 = E.where(n > 0)\n${Array.from({ length: 30 }, (_, at) => `stream S${at + 1} = S${at} as a -> S${at} as b within 1s`).join('\n')}\n`,
      /at most 16384 are possible/,
    ],
    [
      'types in a row',
      `${Array.from({ length: 5_000 }, (_, at) => `type T${5_000 - at} = T${4_999 - at}`).join('\n')}\ntype T0 = int\n`,
      /more than 128 types in a row/,
    ],
    [
      'types that double',
      `type T0:\n    a: int\n${Array.from({ length: 20 }, (_, at) => `type T${at + 1}:\n    l: T${at}\n    r: T${at}`).join('\n')}\n`,
      /parts when written out/,
    ],
    ['its text', `${EVENT}# ${'x'.repeat(limits.programBytesMax)}\n`, /a program has at most 1048576/],
  ])('is refused for %s', (_what, text, message) => {
    const errors = codes(text).filter((line) => line.startsWith('E'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^E095 /);
    expect(errors[0]).toMatch(message);
  });

  test('constants that nest each other twice are no work', () => {
    const constants = Array.from({ length: 40 }, (_, at) => `const c${at + 1} = [c${at}, c${at}]`).join('\n');
    expect(check(new SourceText('p.vpl', `${EVENT}const c0 = [1]\n${constants}\nstream S = E.emit(x: c40)\n`)).plan).not.toBeNull();
  });

  test('hands on only so many rows for one event, and the rest are failures', () => {
    const queue = new ResultQueue();
    for (let at = 0; at < limits.rowsWaitingMax; at++) queue.addCall(() => undefined);
    expect(() => queue.addCall(() => undefined)).toThrow(/rows can wait/);
    queue.drain();
    const again = (): void => queue.addCall(again);
    again();
    expect(() => queue.drain()).toThrow(/rows are handed from stream to stream/);
  });
});

test('the formatter takes chains of any length', () => {
  const text = `${EVENT}stream S = E.where(${terms((at) => `n != ${at}`, ' and ')}).emit(x: ${terms(() => 'n', ' + ')})\n`;
  const once = format(new SourceText('p.vpl', text));
  expect(once.diagnostics).toEqual([]);
  expect(format(new SourceText('p.vpl', once.text)).text).toBe(once.text);
});
