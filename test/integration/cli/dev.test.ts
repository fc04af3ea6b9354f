import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CepProcess } from './cep-process.ts';

const example = fileURLToPath(new URL('../../../examples/card-testing', import.meta.url));
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-dev-'));
  cpSync(example, folder, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

function save(edit: (text: string) => string): void {
  const path = join(folder, 'rules.vpl');
  writeFileSync(path, edit(readFileSync(path, 'utf8')));
}

it('plays the events of a folder, and takes over what is saved with the state that still fits', async () => {
  const dev = new CepProcess(['dev', folder, '--port', '0']);
  await dev.until(({ stdout }) => stdout.includes('CardTesting {') && stdout.includes('ManyCards {'));
  expect(dev.stdout).toContain('events.evt: 13 events in a loop, sped up: event time runs ahead of the clock\n');
  expect(dev.stdout).toContain('rules.vpl: 2 tests passed\n');
  save((text) => text.replace('LARGE = 200.0', 'LARGE = 100.0'));
  await dev.until(({ stdout }) => stdout.includes('rules.vpl: kept with its state: ManyCards; changed, lost state: CardTesting\n'));
  save((text) => `${text}\nstrem X\n`);
  await dev.until(({ stdout }) => stdout.includes('unexpected `strem`') && stdout.includes('the program before goes on\n'));
  const alerts = dev.stdout.split('CardTesting {').length;
  await dev.until(({ stdout }) => stdout.split('CardTesting {').length > alerts);
  save((text) => text.replace('strem X', 'test "small":\n    expect none CardTesting'.replace('none ', '')));
  await dev.until(({ stdout }) => stdout.includes('1 of 3 tests failed'));
  writeFileSync(join(folder, 'events.evt'), '@0 Authorisation { card: "4111-01" }\n');
  await dev.until(({ stdout }) => stdout.includes('events.evt: 1 event in a loop, '));
  await dev.until(({ stdout }) => stdout.includes('1 event of type Authorisation, which no stream reads (did you mean Authorization?)\n'));
  renameSync(join(folder, 'rules.vpl'), join(folder, 'renamed.vpl'));
  await dev.until(({ stdout }) => stdout.includes('rules.vpl: gone\n') && stdout.includes('renamed.vpl: runs\n'));
  rmSync(join(folder, 'renamed.vpl'));
  await dev.until(({ stdout }) => stdout.includes('renamed.vpl: gone\n'));
  expect(dev.stderr).not.toMatch(/ended the stream|there is no pipeline/);
  dev.kill('SIGINT');
  expect(await dev.ended).toMatchObject({ code: 0 });
}, 240_000);

it('makes events up when it is asked to, on a server that others can ask', async () => {
  rmSync(join(folder, 'events.evt'));
  const rules =
    'event Battery:\n    machine: str\n    percent: int\n\nstream Low = Battery\n    .where(percent < 90)\n    .emit(machine, percent)\n';
  writeFileSync(join(folder, 'rules.vpl'), rules);
  const dev = new CepProcess(['dev', folder, '--port', '0', '--generate', 'iot', '--rate', '500']);
  await dev.until(({ stdout }) => stdout.includes('Low {'));
  const [, url = ''] = /^server: (\S+)$/m.exec(dev.stdout) ?? [];
  const { pipelines } = (await (await fetch(`${url}/api/v1/pipelines`)).json()) as {
    readonly pipelines: readonly { readonly name: string }[];
  };
  expect(pipelines.map(({ name }) => name)).toEqual(['rules']);
  dev.kill('SIGTERM');
  expect(await dev.ended).toMatchObject({ code: 0 });
}, 240_000);

it('goes on while the folder is away, and takes over what has come back', async () => {
  const dev = new CepProcess(['dev', folder, '--port', '0']);
  await dev.until(({ stdout }) => stdout.includes('CardTesting {'));
  renameSync(folder, `${folder}-away`);
  await dev.until(({ stdout }) => stdout.includes('rules.vpl: gone\n') && stdout.includes('no events: put a file'));
  renameSync(`${folder}-away`, folder);
  await dev.until(({ stdout }) => stdout.split('rules.vpl: runs\n').length === 3 && stdout.split('13 events in a loop').length === 3);
  expect(dev.stderr).toBe('');
  dev.kill('SIGINT');
  expect(await dev.ended).toMatchObject({ code: 0 });
}, 120_000);
