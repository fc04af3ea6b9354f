import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { build, transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from '../clients/installed-package.ts';
import { readPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const { blocks } = readPage('docs/embedding.md', readFileSync(join(root, 'docs/embedding.md'), 'utf8'));
const samples = blocks.flatMap((block, at) => (block.language === 'ts' ? [{ ...block, printed: blocks[at + 1] }] : []));
const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), 'cep-embedding-'));
let installed: string;

beforeAll(async () => {
  installed = await installPackage(folder);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

describe('the page about embedding', () => {
  it('has samples', () => {
    expect(samples.length).toBeGreaterThan(5);
    expect(samples.every(({ printed }) => printed?.language === 'text')).toBe(true);
  });

  it.each(samples.map((sample) => [sample.heading, sample] as const))('prints what it shows: %s', async (heading, { text, printed }) => {
    const file = join(folder, `${heading.toLowerCase().replace(/\W+/g, '-')}.mjs`);
    writeFileSync(file, (await transform(text, { loader: 'ts' })).code);
    const { stdout } = await run(process.execPath, [file], { cwd: root });
    expect(stdout).toBe(`${printed?.text}\n`);
  });

  it('fits the types of the libraries', async () => {
    const names = samples.map(({ text }, at) => {
      writeFileSync(join(folder, `sample-${at}.mts`), text);
      return `sample-${at}.mts`;
    });
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'dom'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      paths: {
        'cep/engine': [join(root, 'worker/engine/index.ts')],
        'cep/language': [join(root, 'shared/language/index.ts')],
        'cep/server': [join(root, 'worker/server/index.ts')],
      },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }));
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  }, 120_000);
});

describe('the engine for browsers', () => {
  it('is one file that runs where nothing of Node is', async () => {
    const page = `import { compile } from './engine.browser.js';
const engine = compile('stream S = A.window(2).aggregate(n: sum(v)).emit(n: n)').start();
for (const v of [1, 2]) engine.push({ type: 'A', fields: { v } });
globalThis.outputs = engine.take();`;
    const { outputFiles } = await build({
      stdin: { contents: page, resolveDir: join(installed, 'dist') },
      bundle: true,
      format: 'iife',
      platform: 'neutral',
      write: false,
    });
    const global: { outputs?: readonly { readonly fields: unknown }[] } & object = Object.assign({}, { TextEncoder, TextDecoder });
    runInNewContext(outputFiles[0]?.text ?? '', global);
    expect(global.outputs?.map(({ fields }) => JSON.stringify(fields))).toEqual(['{"n":3}']);
  });
});
