import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Program } from '../../../../shared/language/ast/nodes.ts';
import { children, walk } from '../../../../shared/language/ast/walk.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { format } from '../../../../shared/language/format/format.ts';
import { print } from '../../../../shared/language/format/print.ts';
import { parse } from '../../../../shared/language/grammar/parse.ts';
import { meaningOf, programs } from './syntax-trees.ts';

function read(text: string): Program {
  const { program, diagnostics } = parse(new SourceText('test.vpl', text));
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  return program;
}

describe('printing a syntax tree', () => {
  it('gives a text that parses to the same tree', () => {
    fc.assert(
      fc.property(programs, (program) => {
        expect(meaningOf(read(print(program)))).toEqual(meaningOf(program));
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it('gives a text that the formatter leaves as it is', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const text = format(new SourceText('test.vpl', print(program))).text;
        expect(format(new SourceText('test.vpl', text)).text).toBe(text);
      }),
      { numRuns: 80 },
    );
  }, 120_000);

  it('gives nodes whose spans lie inside one another and begin and end with text', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const text = print(program);
        walk(read(text), (node) => {
          for (const { span } of children(node)) {
            expect(span.start).toBeGreaterThanOrEqual(node.span.start);
            expect(span.end).toBeLessThanOrEqual(node.span.end);
            expect(text.slice(span.start, span.end).trim()).toBe(text.slice(span.start, span.end));
          }
          return undefined;
        });
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
