import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ways } from '../reference/ways.ts';
import { runProgram } from './run-program.ts';
import { parseScenario, printScenario } from './scenario.ts';

const folder = import.meta.dirname;
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.scenario'))
  .sort();

describe.each(files)('%s', (path) => {
  const file = join(folder, path);
  const scenario = parseScenario(readFileSync(file, 'utf8'));

  it('gives the recorded outputs', () => {
    const outputs = runProgram(scenario.program, scenario.events);
    if (process.env['UPDATE_SCENARIOS'] !== undefined) writeFileSync(file, printScenario(scenario, outputs));
    else expect(outputs).toBe(scenario.outputs);
  });

  it.each(ways)('gives them %s, and when it is restored from a checkpoint before every line', (_, engine) => {
    expect(runProgram(scenario.program, scenario.events, { engine })).toBe(scenario.outputs);
    expect(runProgram(scenario.program, scenario.events, { engine, restarts: true })).toBe(scenario.outputs);
  });
});

it('there are scenarios', () => {
  expect(files.length).toBeGreaterThan(10);
});
