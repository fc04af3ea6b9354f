import { describe, expect, test } from 'vitest';
import { evtReader } from '../../../../shared/events/evt-reader.ts';
import { EventSchemas } from '../../../../shared/events/schema.ts';
import { toJson } from '../../../../shared/events/text.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { OperatorExample } from '../../../../shared/language/operators/descriptor.ts';
import { operators } from '../../../../shared/language/operators/table.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';

/** The output events of a program over an event file, as the examples write them. */
function run({ program, events }: OperatorExample): string[] {
  const { plan } = check(new SourceText('example.vpl', program));
  if (!plan) throw new Error('the example has errors');
  const outputs: string[] = [];
  const engine = createEngine(plan, {
    output: ({ type, fields }) => {
      const members = [...fields].map(([name, value]) => `${name}: ${toJson(value)}`);
      outputs.push(`${type} { ${members.join(', ')} }`);
    },
    score: () => ({ result: { status: 'error', message: 'no model' }, latencyMs: null }),
  });
  for (const line of evtReader({ schemas: new EventSchemas(plan.events) }).write(new TextEncoder().encode(events))) {
    if (line.kind !== 'event') throw new Error(`the example has an event that cannot be read: ${events}`);
    engine.push(line.event);
  }
  engine.end();
  return outputs;
}

const examples = operators.map(({ name, example }) => [name, example] as const);

describe('the example of', () => {
  test.each(examples)('.%s gives what it says', (_, example) => {
    expect(run(example)).toEqual(example.outputs);
  });
});
