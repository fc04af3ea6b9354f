import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program of the tests, bundled with its threads and processes as the product is, so that a process of it starts at once. */
export interface BuiltProgram {
  readonly path: string;
  remove(): void;
}

/** @param path of its source, from the root of the repository */
export async function buildProgram(path: string): Promise<BuiltProgram> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'built-'));
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: join(root, path),
      'check-process': join(root, 'worker/runtime/checking/check-process.ts'),
      'engine-worker': join(root, 'worker/runtime/threads/engine-worker.ts'),
      'raft-thread': join(root, 'coordinator/raft/thread/raft-thread.ts'),
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
  });
  return { path: join(folder, 'main.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
