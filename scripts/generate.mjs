/** Writes every generated file, or with `--check` names those that differ from what is on disk and exits 1. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedFiles, root } from './generated.mjs';

const checkOnly = process.argv.includes('--check');
const stale = [];

for (const { path, text } of await generatedFiles()) {
  const file = join(root, path);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present === text) continue;
  stale.push(path);
  if (checkOnly) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  console.log(`wrote ${path}`);
}

if (checkOnly && stale.length > 0) {
  console.error(
    `These files differ from what their source makes; run "npm run generate" and commit them:\n${stale.map((path) => `  ${path}`).join('\n')}`,
  );
  process.exitCode = 1;
}
