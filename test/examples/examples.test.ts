import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type CepResult, cep } from '../unit/cli/cep.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const foldersOf = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
/** Programs that need a broker: `brokers/<broker>`. */
const BROKERS = 'brokers';
const names = foldersOf(examples).filter((name) => name !== BROKERS);

function simulate(name: string, ...options: readonly string[]): Promise<CepResult> {
  return cep(['simulate', '-p', `${examples}${name}/rules.vpl`, '-e', `${examples}${name}/events.evt`, '--json', ...options]);
}

/** The lines of output events, in order. */
function outputsOf({ stdout }: CepResult): string {
  return stdout.replace(/\{"type":"summary".*\n$/, '');
}

describe.each(names)('the example %s', (name) => {
  it('gives the alerts that its explanation promises', async () => {
    const result = await simulate(name);
    expect(result.exitCode).toBe(0);
    expect(outputsOf(result)).toBe(readFileSync(`${examples}${name}/expected.jsonl`, 'utf8'));
  });

  it('gives them line by line too', async () => {
    expect(outputsOf(await simulate(name, '--streaming'))).toBe(outputsOf(await simulate(name)));
  });

  it('is a program without errors whose tests pass', async () => {
    const program = `${examples}${name}/rules.vpl`;
    expect(await cep(['check', program])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Syntax OK\n/) });
    const hasTests = /^test "/m.test(readFileSync(program, 'utf8'));
    // A run without any test says so, and fails.
    expect((await cep(['test', program])).exitCode).toBe(hasTests ? 0 : 1);
  });
});

it.each(foldersOf(`${examples}${BROKERS}`))('the example for %s is a program without errors', async (broker) => {
  const folder = `${examples}${BROKERS}/${broker}`;
  const programs = readdirSync(folder).filter((name) => name.endsWith('.vpl'));
  expect(programs).toContain('rules.vpl');
  for (const program of programs) {
    expect(await cep(['check', `${folder}/${program}`])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Syntax OK\n/) });
  }
});

it.each(foldersOf(`${examples}${BROKERS}`))('the example for %s starts what its programs connect to', (broker) => {
  const folder = `${examples}${BROKERS}/${broker}`;
  const [, outside, inside] = /"127\.0\.0\.1:\$\{CEP_\w+_PORT:-(\d+)\}:(\d+)"/.exec(readFileSync(`${folder}/compose.yaml`, 'utf8')) ?? [];
  expect(outside).toBe(inside);
  for (const program of readdirSync(folder).filter((name) => name.endsWith('.vpl'))) {
    expect(readFileSync(`${folder}/${program}`, 'utf8')).toContain(outside);
  }
  expect(readFileSync(`${examples}${BROKERS}/README.md`, 'utf8')).toContain(`[${broker}](${broker}/README.md)`);
});

it('the list of examples names all of them', () => {
  const list = readFileSync(`${examples}README.md`, 'utf8');
  expect([...names, BROKERS].filter((name) => !list.includes(`[${name}](${name}/)`))).toEqual([]);
});
