import { expect, it } from 'vitest';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { planOf } from '../../scenarios/run-program.ts';
import { inputEvent, outputText } from './support/engine-run.ts';

function traceOf(program: string, events: readonly Parameters<typeof inputEvent>[]): string[] {
  const lines: string[] = [];
  const engine = createEngine(planOf(program), {
    output: () => undefined,
    trace: {
      matched: (stream, type) => lines.push(`${stream} <- ${type}`),
      operator: (stream, text, verdict, values) => lines.push(`${stream} ${verdict} ${text} [${values.join(', ')}]`),
      pattern: (stream, runs, completed) => lines.push(`${stream} runs=${runs} completed=${completed}`),
      emitted: (_stream, event) => lines.push(`emitted ${outputText(event)}`),
    },
  });
  for (const event of events) engine.push(inputEvent(...event));
  return lines;
}

it('says of each event which streams it matched, what each operator decided by which values, and what came out', () => {
  const program = 'stream S = E as e .where(e.v > 10 and k == "a").limit(1).emit(v: v)\nstream Next = S.where(v > 1).emit()\n';
  const lines = traceOf(program, [
    ['E', 1, { v: 5, k: 'a' }],
    ['E', 2, { v: 50, k: 'a' }],
    ['E', 3, { v: 60, k: 'a' }],
  ]);
  expect(lines).toMatchInlineSnapshot(`
    [
      "S <- E",
      "S BLOCK where(e.v > 10 and k == "a") [v=5, k=a]",
      "S <- E",
      "S PASS where(e.v > 10 and k == "a") [v=50, k=a]",
      "S PASS limit(1) []",
      "emitted S@2 {"v":50}",
      "S PASS emit(v: v) []",
      "Next <- S",
      "Next PASS where(v > 1) [v=50]",
      "emitted Next@2 {"v":50}",
      "Next PASS emit() []",
      "S <- E",
      "S PASS where(e.v > 10 and k == "a") [v=60, k=a]",
      "S BLOCK limit(1) []",
    ]
  `);
});

it('shows the state of patterns and the aliases that decided', () => {
  const program = 'stream P = A as a -> B where v > a.v as b .where(b.v < 10).emit(v: b.v)\n';
  const lines = traceOf(program, [
    ['A', 1, { v: 1 }],
    ['B', 2, { v: 20 }],
    ['A', 3, { v: 1 }],
    ['B', 4, { v: 5 }],
  ]);
  expect(lines).toMatchInlineSnapshot(`
    [
      "P <- A",
      "P runs=1 completed=0",
      "P <- B",
      "P BLOCK where(b.v < 10) [b.v=20]",
      "P runs=0 completed=1",
      "P <- A",
      "P runs=1 completed=0",
      "P <- B",
      "P PASS where(b.v < 10) [b.v=5]",
      "emitted P@4 {"v":5}",
      "P PASS emit(v: b.v) []",
      "P runs=0 completed=1",
    ]
  `);
});
