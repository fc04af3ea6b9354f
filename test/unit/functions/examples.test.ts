import { describe, expect, test } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { aggregateList, functionList } from '../../../shared/language/functions/index.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';

/** What a stream over events `E { x }`, one second apart, emits as `found`. */
function found(operators: string, values: readonly Value[]): Value | undefined {
  const { plan, diagnostics } = check(new SourceText('example.vpl', `stream S = E${operators}`));
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const outputs: Value[] = [];
  const engine = createEngine(plan, { output: ({ fields }) => outputs.push(fields.get('found') ?? null) });
  values.forEach((value, second) => {
    engine.push({ type: 'E', fields: new Map([['x', value]]), fallbackTime: second * 1000 });
  });
  engine.end();
  return outputs[0];
}

const evaluated = (code: string): Value | undefined => found(`.emit(found: ${code})`, [null]);

const functionExamples = functionList.flatMap(({ name, examples }) => examples.map(({ code, result }) => ({ name, code, result })));

describe('examples of functions', () => {
  test.each(functionExamples)('$code is $result', ({ name, code, result }) => {
    expect(code).toContain(`${name}(`);
    expect(evaluated(code)).toEqual(evaluated(result));
  });
});

const aggregateExamples = aggregateList.flatMap((aggregate) => aggregate.examples.map((example) => ({ aggregate, ...example })));

describe('examples of aggregates', () => {
  test.each(aggregateExamples)('$call of $values is $result', ({ aggregate, values, call, result }) => {
    expect(call).toContain(`${aggregate.name}(`);
    const ofWindow = found(`.window(10s).aggregate(found: ${call}).emit(found: found)`, values);
    // A window without events emits nothing; what it would give is asked of the aggregate itself.
    expect(values.length > 0 ? ofWindow : aggregate.create([]).result({ lengthMs: 10_000 })).toEqual(evaluated(result));
  });
});
