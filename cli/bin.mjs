#!/usr/bin/env node
/** Starts the built bundle; in a checkout, where a source is newer than it, the sources through tsx. */
import { existsSync } from 'node:fs';

const main = new URL('./main.ts', import.meta.url);

// An installed package has no sources, and its files have the times at which they were unpacked.
if (!existsSync(main) || (await import('./built.mjs')).isBuiltNewest()) {
  await import('../dist/main.js');
} else {
  const { register } = await import('tsx/esm/api');
  register();
  await import(main.href);
}
