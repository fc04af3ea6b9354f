import { expect, test } from 'vitest';
import { EventSchemas } from '../../../../../shared/events/schema.ts';
import { fieldsToJson } from '../../../../../shared/events/text.ts';
import { createEngine, type EngineOptions } from '../../../../../worker/engine/create-engine.ts';
import { createByteReader } from '../../../../../worker/engine/reading/byte-reader.ts';
import { rowByRow, shipped } from '../../../../reference/ways.ts';
import { planOf } from '../../../../scenarios/run-program.ts';

const program = (window: string): string =>
  `event E:\n    k: str\n    v: int\nstream S = E.partition_by(k)${window}.aggregate(n: count(), total: sum(v)).emit(k: k, n: n, total: total)\n`;

/** Outputs of a program over lines that two readers take in turn, so many at a time. */
function outputsOf(text: string, lines: readonly string[], options: EngineOptions, turn: number): { outputs: string[]; keys: number } {
  const plan = planOf(text);
  const outputs: string[] = [];
  const engine = createEngine(plan, { output: ({ time, fields }) => outputs.push(`${time} ${fieldsToJson(fields)}`) }, options);
  const reader = () =>
    createByteReader(engine.entries, {
      format: 'evt',
      schemas: new EventSchemas(plan.events),
      slow: (result) => {
        if (result.kind === 'event') engine.push(result.event);
      },
    });
  const readers = [reader(), reader()];
  for (let at = 0; at < lines.length; at += turn) {
    const chunk = new TextEncoder().encode(lines.slice(at, at + turn).join(''));
    readers[(at / turn) % 2]?.read(chunk);
  }
  engine.end();
  return { outputs, keys: engine.entries.entries.flatMap(({ fields }) => fields.filter(({ isKey }) => isKey)).length };
}

/** Every key comes `times` times in a row of `keys` keys, then the next ones do, and all of it again. */
function linesOf(count: number, keys: number, times: number, distinct: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const block = Math.floor(i / (keys * times));
    return `@${i} E { k: "key-${(block * keys + (i % keys)) % distinct}", v: ${i % 7} }\n`;
  });
}

test.each([
  ['keys that come and go, so that slots are given back', '.window(2)', linesOf(20_000, 1_500, 2, 6_000), 20_000],
  ['keys that end in the middle of a window', '.window(3)', linesOf(20_000, 1_500, 2, 6_000), 700],
  ['hopping windows that lose their keys', '.window(500ms, sliding: 250ms)', linesOf(15_000, 1_500, 2, 4_500), 900],
  ['two readers in turn', '.window(5)', linesOf(10_000, 100, 3, 300), 7],
])('windows find their keys by where readers keep them: %s', (_, window, lines, turn) => {
  const fused = outputsOf(program(window), lines, shipped, turn);
  expect(fused.keys).toBe(1);
  const { outputs } = outputsOf(program(window), lines, rowByRow, turn);
  const different = outputs.findIndex((output, at) => output !== fused.outputs[at]);
  expect(fused.outputs[different]).toBe(outputs[different]);
  expect(fused.outputs).toHaveLength(outputs.length);
  expect(outputs.length).toBeGreaterThan(1_000);
});
