import { describe, expect, test } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { limits } from '../../../../shared/limits.ts';
import { printModule } from '../../../../worker/engine/compile/print-module.ts';
import { verifyGenerated } from '../../../../worker/engine/compile/verify.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import { plain, rowByRow, shipped } from '../../../reference/ways.ts';

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('program.vpl', text));
  expect(diagnostics.filter((one) => one.severity === 'error').map((one) => one.message)).toEqual([]);
  return plan as Plan;
}

/** Text that would do harm, or be noticed, wherever it reached generated code unescaped. */
const HOSTILE = [
  '"];globalThis.canary=1;//',
  '`$' + '{globalThis.canary=1}`',
  '*/globalThis.canary=1/*',
  '\u2028canary()',
  '</script>',
  "';canary();'",
  '__proto__',
  'constructor',
];

/** A program that has a text in every position that takes text of the user. */
function programWith(text: string): string {
  const literal = `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\u2028', '\\u{2028}')}"`;
  const name = `\`${text.replaceAll('`', '').replaceAll('\u2028', '')}\``;
  return `event A:
    ${name}: str
    v: float

const NOTE = ${literal}
var last = ${literal}

fn note(x: str) -> str:
    last := x + ${literal}
    return f"{x}" + ${literal}

stream Out = A as a
    .where(a.${name} != ${literal} or note(a.${name}) == NOTE)
    .emit(${name}: a.${name}, m: {${literal}: ${literal}}, t: replace(a.${name}, ${literal}, "x"), l: map([${literal}], x => x + ${literal}))
`;
}

describe('generated code', () => {
  test.each(HOSTILE)('holds no text of the user: %j', (text) => {
    const { text: generated } = printModule(planOf(programWith(text)));
    expect(generated).not.toContain('canary');
    expect(generated).not.toMatch(/["`\\]|'(?!use strict')(?!;)|__proto__|constructor|script/);
    expect(() => verifyGenerated(generated)).not.toThrow();
  });

  test.each(HOSTILE)('runs with hostile text as with any other, and nothing of it is run: %j', (text) => {
    const plan = planOf(programWith(text));
    const outputs = [plain, rowByRow, shipped].map((options) => {
      const seen: unknown[] = [];
      const host = { output: (event: unknown) => seen.push(event) };
      const engine = createEngine(plan, host, options);
      engine.push({
        type: 'A',
        fields: new Map<string, string | number>([
          [text.replaceAll('`', '').replaceAll('\u2028', ''), `${text}!`],
          ['v', 1],
        ]),
        fallbackTime: 0,
      });
      return seen;
    });
    expect(outputs[0]).toHaveLength(1);
    expect(outputs[1]).toEqual(outputs[0]);
    expect(outputs[2]).toEqual(outputs[0]);
    expect('canary' in globalThis).toBe(false);
  });

  test('depends on the plan alone', () => {
    const text = programWith('x');
    expect(printModule(planOf(text)).text).toBe(printModule(planOf(text)).text);
  });

  test('takes the deepest expression that a program may have', () => {
    const depth = limits.programTreeDepthMax - 10;
    const plan = planOf(`event A:\n    v: float\n\nstream S = A.emit(s: ${'- '.repeat(depth)}v)\n`);
    const seen: unknown[] = [];
    const engine = createEngine(plan, { output: (event) => seen.push(event.fields.get('s')) });
    engine.push({ type: 'A', fields: new Map([['v', 1]]), fallbackTime: 0 });
    expect(seen).toEqual([1]);
  });
});

describe('the verifier', () => {
  const wrap = (text: string) => `'use strict';\nreturn [${text}];`;
  test.each([
    ['a string', '"text"'],
    ['a template', '`text`'],
    ['a regular expression', '/x/'],
    ['a name that nobody minted', 'globalThis'],
    ['a property that is not listed', 's1.constructor'],
    ['a computed escape', 's1["a"]'],
    ['a word of the language that is not needed', 'new'],
    ['this', 'this'],
    ['a second quote', "''"],
    ['a backslash', '\\u0061'],
    ['an assignment to the table', 'K+=1'],
  ])('refuses %s', (_what, text) => {
    expect(() => verifyGenerated(wrap(text))).toThrow(/generated code must not contain/);
  });

  test('refuses text that does not begin in strict mode', () => {
    expect(() => verifyGenerated('return [];')).toThrow(/strict mode/);
  });

  test('lets through what the printer prints', () => {
    expect(() => verifyGenerated(wrap('(s1)=>(add(fieldOf(s1.row,K[0]),1.5e+21)===true?(-3):null)'))).not.toThrow();
  });
});
