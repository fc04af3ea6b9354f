/**
 * Bundles the command line into `dist/`; each lazily imported command becomes a file of its own, so that it is read only when
 * used. The engine threads of a server and the threads of a simulation begin with files of their own.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle.mjs';
import { root } from './generated.mjs';

const entry = join(root, 'cli/main.ts');

if (existsSync(entry)) {
  await rm(join(root, 'dist'), { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: entry,
      'engine-worker': join(root, 'worker/runtime/threads/engine-worker.ts'),
      'piece-worker': join(root, 'cli/simulation/threads/piece-worker.ts'),
    },
    outdir: 'dist',
    ...bundleOptions,
  });
}
