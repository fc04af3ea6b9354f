/**
 * Starts a thread or a process from its source; the built product never uses this file. Node alone does not read TypeScript there, so
 * it is bundled first, once for each state of the sources: that starts several times faster than reading file by file.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';

const entry = workerData?.entry ?? pathToFileURL(process.argv[2]).href;
const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules/.cache', basename(entry, '.ts'));
const newest = Math.max(...['shared', 'worker', 'coordinator', 'cli'].map((folder) => newestIn(join(root, folder))));
const bundle = join(cache, `${newest.toString(36).replace('.', '_')}.mjs`);

if (!existsSync(bundle)) await makeBundle();
await import(bundle);

async function makeBundle() {
  const { build } = await import('esbuild');
  const unfinished = `${bundle}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  mkdirSync(dirname(bundle), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [fileURLToPath(entry)],
    outfile: unfinished,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
  });
  for (const name of readdirSync(cache)) if (isLeftOver(join(cache, name))) rmSync(join(cache, name), { force: true });
  renameSync(unfinished, bundle);
}

/** Bundles of an hour ago are of sources that have changed since. */
function isLeftOver(path) {
  const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return path !== bundle && madeAt < Date.now() - 3_600_000;
}

function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}
