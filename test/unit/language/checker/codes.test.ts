import { describe, expect, test } from 'vitest';
import { CODES, type CodeDescriptor } from '../../../../shared/language/diagnostics/codes.ts';
import { checkText, printed } from './checking.ts';

const table: readonly (readonly [string, CodeDescriptor])[] = Object.entries(CODES);

/** A host without a runtime for models: the only code that no program gets by itself. */
const options = { canScore: () => false };

describe('every diagnostic code', () => {
  const withExample = table.filter(([, { example }]) => example !== null);

  test('has an example, but for what is not built', () => {
    const without = table.filter(([, { example, fix }]) => example === null || fix === null).map(([code]) => code);
    expect(without).toEqual(['E099']);
  });

  test('has a letter that says its severity', () => {
    for (const [code, { severity }] of table) expect(code).toMatch(severity === 'error' ? /^E\d{3}$/ : /^W\d{3}$/);
  });

  test.each(withExample)('%s: its example gets it and no other', (code, { example }) => {
    const { diagnostics, plan } = checkText(example ?? '', {}, options);
    expect([...new Set(diagnostics.map((diagnostic) => diagnostic.code))]).toEqual([code]);
    expect(plan === null).toBe(code.startsWith('E'));
  });

  test.each(withExample)('%s: the fix of its example gets no diagnostic', (_, { fix }) => {
    const { diagnostics, plan } = checkText(fix ?? '', {}, options);
    expect(diagnostics.map(printed)).toEqual([]);
    expect(plan).not.toBeNull();
  });

  test.each(withExample)('%s: what its example gets reads well', (code, { example }) => {
    const { diagnostics } = checkText(example ?? '', {}, options);
    expect(`${code}\n${diagnostics.map(printed).join('\n')}`).toMatchSnapshot();
  });
});
