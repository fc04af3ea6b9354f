import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { Answers } from '../../../worker/runtime/answers.ts';
import { canRunModels, loadModels } from '../../../worker/runtime/inference/onnx.ts';
import { inputEvent } from '../engine/support/engine-run.ts';
import { logisticModel } from './tiny-model.ts';

const canRun = await canRunModels();
if (!canRun) process.stderr.write('SKIPPED: the tests of models need onnxruntime-node, which is not installed\n');

describe.skipIf(!canRun)('a program with a model', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'onnx-'));
    writeFileSync(join(folder, 'risk.onnx'), logisticModel([1, -2], 0.5));
    writeFileSync(join(folder, 'broken.onnx'), 'no model');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function plan(score: string): Plan {
    const program = `event Tick:\n    a: float\n    b: float\n\nstream S = Tick.score(${score}).emit(risk)\n`;
    const { plan: checked } = check(new SourceText(join(folder, 'program.vpl'), program));
    if (checked === null) throw new Error('the program has errors');
    return checked;
  }

  it('adds what the model says, row by row', async () => {
    const program = plan('model: "risk.onnx", inputs: [a, b], outputs: [risk]');
    const models = await loadModels(program);
    if (models === undefined) throw new Error('the program has a model');
    const risks: number[] = [];
    const answers: Answers = new Answers({ score: (request) => models.score(request), deliver: (answer) => engine.answer(answer) });
    const output = ({ fields }: { fields: ReadonlyMap<string, unknown> }): number => risks.push(fields.get('risk') as number);
    const engine: Engine = createEngine(program, { output, ...answers.host });
    engine.push(inputEvent('Tick', 1, { a: 1, b: 1 }));
    engine.push(inputEvent('Tick', 2, { a: 3, b: 0.5 }));
    engine.end();
    await answers.settled();
    await models.close();
    expect(risks.map((risk) => risk.toFixed(6))).toEqual(
      [1 / (1 + Math.exp(0.5)), 1 / (1 + Math.exp(-2.5))].map((risk) => risk.toFixed(6)),
    );
  });

  it('says what is wrong when it is loaded', async () => {
    await expect(loadModels(plan('model: "other.onnx", inputs: [a, b], outputs: [risk]'))).rejects.toMatchObject({
      message: "the model 'other.onnx' is missing",
      hint: 'its path is relative to the file of the program',
      code: 'model_error',
      exitCode: 4,
    });
    const broken = await loadModels(plan('model: "broken.onnx", inputs: [a, b], outputs: [risk]')).catch((error: unknown) => error);
    expect(broken).toMatchObject({ code: 'model_error', message: expect.stringContaining("the model 'broken.onnx' cannot be loaded") });
    expect(String(broken)).not.toContain(folder);
  });

  it('fails its rows when the model cannot take them', async () => {
    const models = await loadModels(plan('model: "risk.onnx", inputs: [a], outputs: [risk]'));
    const request = { id: 1, stream: 'S', model: 'risk.onnx', inputNames: ['a'], outputs: ['risk'], rows: [[1]], parameters: new Map() };
    await expect(models?.score(request)).rejects.toThrow(/dimension/i);
    await expect(models?.score({ ...request, rows: [['text', 1]] })).rejects.toThrow('the model takes numbers, and an input is "text"');
  });

  it('has none to load when it scores nothing', async () => {
    const { plan: checked } = check(new SourceText('p.vpl', 'stream S = A.emit()\n'));
    expect(await loadModels(checked as Plan)).toBeUndefined();
  });
});
