import { describe, expect, it } from 'vitest';
import { type Diagnostic, SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { diagnosticToJson, renderDiagnostic } from '../../../../shared/language/diagnostics/render.ts';

/** A diagnostic at the first place where `mark` stands. */
function at(text: string, mark: string, hint?: string): Diagnostic {
  const start = text.indexOf(mark);
  const diagnostic = {
    severity: 'error',
    code: 'E000',
    message: 'something is wrong',
    source: new SourceText('rules.vpl', text),
    span: { start, end: start + mark.length },
  } as const;
  return hint === undefined ? diagnostic : { ...diagnostic, hint };
}

const shown = (text: string, mark: string, hint?: string): string => `\n${renderDiagnostic(at(text, mark, hint))}\n`;

describe('a diagnostic as text', () => {
  it('has file, line, column, severity, code, message, excerpt and hint', () => {
    expect(shown('let a = 1\nlet b = oops\n', 'oops', 'write something else')).toMatchInlineSnapshot(`
      "
      rules.vpl:2:9: error E000: something is wrong
       2 | let b = oops
         |         ^^^^
         = hint: write something else
      "
    `);
    expect(renderDiagnostic({ ...at('let a = 1', 'a'), severity: 'warning', code: 'W040' })).toContain(
      'rules.vpl:1:5: warning W040: something',
    );
  });

  it('puts the caret right behind tabs, wide characters and marks', () => {
    expect(shown('\tlet\tb = oops', 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:10: error E000: something is wrong
       1 |     let b = oops
         |             ^^^^
      "
    `);
    expect(shown('let b = "漢字😀e\u0301" + oops', 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:19: error E000: something is wrong
       1 | let b = "漢字😀é" + oops
         |                     ^^^^
      "
    `);
    expect(shown('let b = "漢字" + 1', '"漢字"')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:9: error E000: something is wrong
       1 | let b = "漢字" + 1
         |         ^^^^^^
      "
    `);
  });

  it('cuts a long line around the caret', () => {
    const long = 'abcdefghi '.repeat(30);
    expect(shown(`oops ${long}`, 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:1: error E000: something is wrong
       1 | oops abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcde..
         | ^^^^
      "
    `);
    expect(shown(`${long}oops ${long}`, 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:301: error E000: something is wrong
       1 | ..ghi abcdefghi abcdefghi abcdefghi oops abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi a..
         |                                     ^^^^
      "
    `);
    expect(shown(`${long}oops`, 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:301: error E000: something is wrong
       1 | ..ghi abcdefghi abcdefghi abcdefghi oops
         |                                     ^^^^
      "
    `);
    expect(shown(`let x = "${'漢'.repeat(200)}" oops`, 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:212: error E000: something is wrong
       1 | ..漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢" oops
         |                                     ^^^^
      "
    `);
    expect(shown(`let x = ${'o'.repeat(300)}`, 'o'.repeat(300))).toMatchInlineSnapshot(`
      "
      rules.vpl:1:9: error E000: something is wrong
       1 | let x = oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo..
         |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      "
    `);
  });

  it('looks at the part of a long line that it shows', () => {
    const source = new SourceText('rules.vpl', `let x = [${'😀oops\t'.repeat(130_000)}]`);
    const rendered = Array.from({ length: 10_000 }, (_, at) => {
      const start = 11 + at * 7 * 10;
      return renderDiagnostic({ severity: 'error', code: 'E000', message: 'wrong', source, span: { start, end: start + 4 } });
    });
    expect(`\n${rendered[999]}\n`).toMatchInlineSnapshot(`
      "
      rules.vpl:1:59951: error E000: wrong
       1 | ..😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oops  😀oo..
         |                                     ^^^^
      "
    `);
    expect(Math.max(...rendered.map((one) => one.length))).toBeLessThan(400);
  });

  it('marks the end of a line, an empty text and the first of several lines', () => {
    const text = 'let a =\nlet b = 2';
    expect(`\n${renderDiagnostic({ ...at(text, 'a'), span: { start: 7, end: 7 } })}\n`).toMatchInlineSnapshot(`
      "
      rules.vpl:1:8: error E000: something is wrong
       1 | let a =
         |        ^
      "
    `);
    expect(`\n${renderDiagnostic({ ...at('', ''), span: { start: 0, end: 1 } })}\n`).toMatchInlineSnapshot(`
      "
      rules.vpl:1:1: error E000: something is wrong
       1 |
         | ^
      "
    `);
    expect(shown('let a = [\n1\n]', '[\n1\n]')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:9: error E000: something is wrong
       1 | let a = [
         |         ^
      "
    `);
  });

  it('shows no control character to the terminal', () => {
    expect(shown('let a = "\u001b[31m\u0007" oops\r\n', 'oops')).toMatchInlineSnapshot(`
      "
      rules.vpl:1:18: error E000: something is wrong
       1 | let a = "�[31m�" oops
         |                  ^^^^
      "
    `);
  });

  it('keeps the margin as wide as the line number', () => {
    expect(shown(`${'\n'.repeat(998)}oops`, 'oops', 'here')).toMatchInlineSnapshot(`
      "
      rules.vpl:999:1: error E000: something is wrong
       999 | oops
           | ^^^^
           = hint: here
      "
    `);
  });
});

describe('a diagnostic as JSON', () => {
  it('has 1-based positions in code points, the end exclusive', () => {
    expect(diagnosticToJson(at('let 😀 =\n  "😀", oops\n', 'oops', 'a hint'))).toEqual({
      severity: 'error',
      code: 'E000',
      line: 2,
      column: 8,
      end_line: 2,
      end_column: 12,
      message: 'something is wrong',
      hint: 'a hint',
      file: 'rules.vpl',
    });
  });

  it('leaves out a hint that there is not', () => {
    expect(diagnosticToJson(at('a\nb', 'a\nb'))).not.toHaveProperty('hint');
    expect(diagnosticToJson(at('a\nb', 'a\nb'))).toMatchObject({ line: 1, column: 1, end_line: 2, end_column: 2 });
  });
});

describe('a text', () => {
  it('finds the offset of every position, and the position of every offset but those within a character', () => {
    const text = '\ufefflet 😀 = "a😀😀b"\r\n\n😀\n\tx';
    const source = new SourceText('rules.vpl', text);
    for (let offset = 1; offset <= text.length; offset++) {
      const isWithin = (text.codePointAt(offset - 1) ?? 0) > 0xffff;
      if (!isWithin) expect(source.offset(source.position(offset))).toBe(offset);
    }
    expect(source.offset({ line: 3, column: 9 })).toBe(text.indexOf('\n\tx'));
    expect(source.offset({ line: 9, column: 1 })).toBe(text.length);
  });
});
