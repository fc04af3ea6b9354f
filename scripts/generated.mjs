/**
 * The table of everything in the repository that is written by a program.
 *
 * A step names its source; while the source does not exist the step makes nothing. `make` returns the files it makes as
 * `[path from the root, text]` pairs and writes nothing itself, so that the same step serves writing and checking.
 * A TypeScript step is a module whose `generate()` returns such pairs (or a promise of them).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const steps = [
  { source: 'shared/language/grammar/pipeline.peggy', make: makeParser },
  { source: 'docs/generate.ts', make: makeWithTypeScript },
];

/** Every generated file of the steps whose source exists, as `{ path, text }`, in the order of the table. */
export async function generatedFiles() {
  const made = [];
  for (const step of steps) {
    if (!existsSync(join(root, step.source))) continue;
    for (const [path, text] of await step.make(step.source)) made.push({ path, text });
  }
  return made;
}

/** The parser and its types; `pipeline.options.json` beside the grammar holds peggy's options (start rules, return types). */
async function makeParser(source) {
  const peggy = fileURLToPath(new URL('../bin/peggy.js', import.meta.resolve('peggy')));
  const folder = await mkdtemp(join(tmpdir(), 'cep-grammar-'));
  try {
    const options = source.replace(/\.peggy$/, '.options.json');
    const extra = existsSync(join(root, options)) ? ['--extra-options-file', options] : [];
    const args = [peggy, '--format', 'es', '--dts', ...extra, '-o', join(folder, 'parser.js'), source];
    await run(process.execPath, args, { cwd: root });
    const target = join(dirname(source), 'generated');
    return await Promise.all(
      ['parser.js', 'parser.d.ts'].map(async (file) => [join(target, file), await readFile(join(folder, file), 'utf8')]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeWithTypeScript(source) {
  const { tsImport } = await import('tsx/esm/api');
  const { generate } = await tsImport(new URL(`../${source}`, import.meta.url).href, import.meta.url);
  return generate();
}
