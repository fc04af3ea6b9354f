import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installPackage } from '../clients/installed-package.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'cep-package-'));
let installed: string;

beforeAll(async () => {
  installed = await installPackage(folder);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

it('the package runs commands without the sources, whatever times its files have', async () => {
  const soon = new Date(Date.now() + 3_600_000);
  utimesSync(join(installed, 'package.json'), soon, soon);
  writeFileSync(join(folder, 'rules.vpl'), 'stream S = A.where(v > 1).emit(v: v)\n');
  writeFileSync(join(folder, 'events.evt'), '@0 A { v: 1 }\n@1s A { v: 2 }\n');
  const cep = join(installed, 'cli/bin.mjs');
  const { stdout } = await run(process.execPath, [cep, 'simulate', '-p', 'rules.vpl', '-e', 'events.evt', '--json'], { cwd: folder });
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ stream: 'S', data: { v: 2 } });
});

it('the package has the console', () => {
  expect(readdirSync(join(installed, 'dist/console'))).toEqual(expect.arrayContaining(['index.html', 'main.js', 'console.css']));
});

it('the package is a library', async () => {
  const program = `import { compile } from 'cep/engine';
import { check } from 'cep/language';
const engine = compile('stream S = A.emit(v: v)').start();
engine.push({ type: 'A', fields: { v: 7 } });
console.log(JSON.stringify([engine.take()[0].fields, check('stream').valid]));`;
  writeFileSync(join(folder, 'use.mjs'), program);
  const { stdout } = await run(process.execPath, ['use.mjs'], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual([{ v: 7 }, false]);
});
