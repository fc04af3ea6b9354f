/** Bundles the product into `dist/`. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProduct } from './bundle.mjs';
import { root } from './generated.mjs';

if (existsSync(join(root, 'cli/main.ts'))) {
  const outdir = join(root, 'dist');
  await rm(outdir, { recursive: true, force: true });
  await bundleProduct({ root, outdir });
}
