import { keyOf } from '../../../../shared/events/text.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { PatternPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { type Row, scopeOf } from '../../../../worker/engine/operators/row.ts';
import { Harness, type HarnessOptions } from './harness.ts';

/** A program with one stream `S` over a pattern, as the language has it: `A as a -> B as b .within(10s)`. */
function patternOf(source: string): { readonly plan: PatternPlan; readonly stream: StreamPlan } {
  const { plan, diagnostics } = check(new SourceText('test.vpl', `stream S = ${source}\n`));
  const stream = plan?.streams[0];
  if (stream === undefined) throw new Error(diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  if (stream.source.kind !== 'pattern') throw new Error('not a pattern');
  return { plan: stream.source.pattern, stream };
}

/** The codes of the errors that the checker has for such a program. */
export function errorsOf(source: string): readonly string[] {
  const { diagnostics } = check(new SourceText('test.vpl', `stream S = ${source}\n`));
  return diagnostics.filter((diagnostic) => diagnostic.severity === 'error').map(({ code }) => code);
}

/** A matcher of the pattern, with its partition and the filters right behind it. */
export function harnessOf(source: string, options: HarnessOptions = {}): Harness {
  const { plan, stream } = patternOf(source);
  const [first] = stream.operators;
  const harness: Harness = new Harness(plan, {
    ...options,
    expireMs: stream.partition.expireMs,
    ...(first?.kind === 'filter' ? { filter: first.condition } : {}),
    partition: (row: Row) => keyOf(stream.partition.keys.map(({ value }) => harness.expression(value)(scopeOf(row)))),
  });
  return harness;
}

/** The matches of a pattern over events, as text; without the end of input. */
export function matches(source: string, input: string): readonly string[] {
  return harnessOf(source).pushAll(input).text();
}

/** The same, each with its time in seconds. */
export function timedMatches(source: string, input: string): readonly string[] {
  return harnessOf(source).pushAll(input).text(true);
}

/** The matches with their times when the input ends. */
export function matchesToTheEnd(source: string, input: string): readonly string[] {
  return harnessOf(source).pushAll(input).end().text(true);
}
