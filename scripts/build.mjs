/** Bundles the product into `dist/`. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProduct } from './bundle.mjs';
import { root } from './generated.mjs';

if (existsSync(join(root, 'cli/main.ts'))) {
  const outdir = join(root, 'dist');
  // Declarations are made before the build of a package, and stay.
  const old = existsSync(outdir) ? (await readdir(outdir)).filter((name) => name !== 'types') : [];
  await Promise.all(old.map((name) => rm(join(outdir, name), { recursive: true })));
  await bundleProduct({ root, outdir });
}
