import { describe, expect, it } from 'vitest';
import { canRunModels } from '../../../worker/runtime/inference/onnx.ts';
import { logisticModel } from '../runtime/tiny-model.ts';
import { WorkFolder } from './work-folder.ts';

const canRun = await canRunModels();
if (!canRun) process.stderr.write('SKIPPED: the tests of models need onnxruntime-node, which is not installed\n');

const folder = new WorkFolder();
folder.write(
  'rules.vpl',
  `event Tick:
    a: float

stream Risky = Tick
    .score(model: "risk.onnx", inputs: [a], outputs: [risk])
    .where(risk > 0.5)
    .emit(a: a, risk: round(risk, 3))
`,
);
folder.write('events.evt', '@0 Tick { a: 1.0 }\n@1s Tick { a: -1.0 }\n@2s Tick { a: 2.0 }\n');

// The runtime of models is a package of its own, which not every machine can have.
describe.skipIf(!canRun)('cep simulate with a model', () => {
  it('adds what the model says to each event, in order', async () => {
    folder.write('risk.onnx', logisticModel([1], 0));
    const { exitCode, stdout } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './events.evt', '--json']);
    expect(exitCode).toBe(0);
    const outputs = stdout
      .split('\n')
      .filter((line) => line.includes('"output"'))
      .map((line) => JSON.parse(line).data);
    expect(outputs).toEqual([
      { a: 1, risk: 0.731 },
      { a: 2, risk: 0.881 },
    ]);
  });

  it('and cep explain alike: it says what came behind the model', async () => {
    folder.write('risk.onnx', logisticModel([1], 0));
    const { stdout } = await folder.cep(['explain', '-p', './rules.vpl', '-e', './events.evt']);
    expect(stdout).toContain('Risky | @2s | 3 events in, 2 results out');
    folder.write('refused.evt', '@0 Tick { a: -1.0 }\n');
    const refused = await folder.cep(['explain', '-p', './rules.vpl', '-e', './refused.evt']);
    expect(refused.stdout).toMatch(/where\(risk > 0\.5\) BLOCK/);
  });

  it('ends with 4 and names the model when it is missing', async () => {
    folder.write(
      'missing.vpl',
      'event Tick:\n    a: float\n\nstream S = Tick.score(model: "none.onnx", inputs: [a], outputs: [risk]).emit(risk: risk)\n',
    );
    const { exitCode, stderr } = await folder.cep(['simulate', '-p', './missing.vpl', '-e', './events.evt']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('none.onnx');
  });
});
