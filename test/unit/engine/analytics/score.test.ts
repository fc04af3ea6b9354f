import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CepError } from '../../../../shared/errors/error.ts';
import type { Value } from '../../../../shared/events/value.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { Result, ScoreRequest } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { AskingRun, failed } from './asking-run.ts';

const head = `event Tick:
    x: float?
    y: float
    at: timestamp

`;
const program = (operators: string): string => `${head}stream S = Tick${operators}\n`;
const scored = program('.score(model: "m.onnx", inputs: {x: x, double: y * 2}, outputs: [sum, product], batch_size: 4).emit(sum, product)');

/** A model that adds and multiplies its inputs. */
function run(question: unknown): Result {
  const rows = (question as ScoreRequest).rows as readonly (readonly number[])[];
  return { status: 'ok', value: rows.map(([a = 0, b = 0]): Value => [a + b, a * b]) };
}

describe('a row that is scored', () => {
  it('waits for the model and gets its outputs by name', () => {
    const test = new AskingRun(scored);
    test.push('Tick', 1, { x: 2, y: 3 });
    expect(test.open).toEqual([
      {
        id: 1,
        stream: 'S',
        model: 'm.onnx',
        inputNames: ['x', 'double'],
        outputs: ['sum', 'product'],
        rows: [[2, 6]],
        parameters: new Map([['batch_size', 4]]),
      },
    ]);
    test.answer(0, run(test.open[0]));
    expect(test.outputs).toEqual(['S@1 {"sum":8,"product":12}']);
  });

  it('is asked for with all that wait by then, batch_size at a time', () => {
    const test = new AskingRun(scored);
    for (let time = 1; time <= 7; time++) test.push('Tick', time, { x: time, y: 1 });
    expect(test.asked).toEqual([[[1, 2]]]);
    test.answer(0, run(test.open[0]));
    expect((test.open[0] as ScoreRequest).rows).toHaveLength(4);
    test.answer(0, run(test.open[0]));
    expect((test.open[0] as ScoreRequest).rows).toHaveLength(2);
    test.answer(0, run(test.open[0]));
    expect(test.outputs).toHaveLength(7);
  });

  it('is asked for together with the other rows of a closed window', () => {
    const test = new AskingRun(program('.window(10s).score(model: "m.onnx", inputs: [x, y], outputs: [a, b]).last().emit(a)'));
    for (const time of [1, 2, 3]) test.push('Tick', time, { x: time, y: 1 });
    test.engine.end();
    expect(test.asked).toEqual([
      [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
    ]);
    test.answer(0, run(test.open[0]));
    expect(test.outputs).toEqual(['S@3 {"a":4}']);
  });
});

describe('a score that fails', () => {
  it('goes to on_error for each row of the batch', () => {
    const test = new AskingRun(scored);
    test.push('Tick', 1, { x: 2, y: 3 });
    test.answer(0, failed);
    expect(test.outputs).toEqual([]);
    expect(test.logs[0]?.message).toContain('model m.onnx: not found');
  });

  it('is said when an input is null, and what the model has not got; under on_error(null) the outputs are null', () => {
    const test = new AskingRun(program('.score(model: "m.onnx", inputs: [x, y], outputs: [a]).on_error(null).emit(y, a)'));
    test.push('Tick', 1, { y: 3 });
    test.push('Tick', 2, { x: 1, y: 4 });
    test.answer(0, { status: 'ok', value: [[1, 2]] });
    test.push('Tick', 3, { x: 1, y: 5 });
    test.answer(0, { status: 'timeout' });
    expect(test.outputs).toEqual(['S@1 {"y":3,"a":null}', 'S@2 {"y":4,"a":null}', 'S@3 {"y":5,"a":null}']);
    expect(test.logs.map(({ message }) => message.replace(/.*model/, 'model'))).toEqual([
      'model m.onnx: input x is null',
      'model m.onnx: expected 1 outputs for each row',
      'model m.onnx: no answer in time',
    ]);
  });

  it('refuses to load where no model runs, naming what to install', () => {
    const load = (): unknown => createEngine(planOf(scored), { output: () => undefined });
    expect(load).toThrow("program.vpl:6:16: the model 'm.onnx' cannot be run here");
    try {
      load();
    } catch (error) {
      expect(error).toMatchObject({
        exitCode: 4,
        hint: expect.stringContaining('npm install onnxruntime-node'),
      } satisfies Partial<CepError>);
    }
  });
});

it('gives the same results however rows fall into batches and wherever a checkpoint is taken', () => {
  const rows = fc.array(fc.record({ x: fc.option(fc.integer({ min: -9, max: 9 }), { nil: null }), y: fc.integer({ min: -9, max: 9 }) }), {
    maxLength: 25,
  });
  const text = program('.score(model: "m", inputs: [x, y], outputs: [a, b]).emit(a, b)');
  fc.assert(
    fc.property(rows, fc.array(fc.nat(2), { maxLength: 60 }), (events, picks) => {
      const atOnce = new AskingRun(text, { atOnce: (question) => ({ result: run(question), latencyMs: null }) });
      const later = new AskingRun(text);
      let at = 0;
      events.forEach((fields, time) => {
        for (const one of [atOnce, later]) one.push('Tick', time, fields);
        const pick = picks[at++] ?? 0;
        if (pick === 1) later.restart();
        if (pick > 0 && later.open.length > 0) later.answer(0, run(later.open[0]));
      });
      for (const one of [atOnce, later]) one.engine.end();
      while (later.open.length > 0) later.answer(0, run(later.open[0]));
      expect(later.outputs).toEqual(atOnce.outputs);
    }),
    { numRuns: 100 },
  );
});
