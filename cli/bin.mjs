#!/usr/bin/env node
/** Starts the built bundle; in a checkout, where a source is newer than it, the sources through tsx. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = new URL('../dist/main.js', import.meta.url);
const sources = ['shared', 'worker', 'coordinator', 'cli', 'package.json'];

const main = new URL('./main.ts', import.meta.url);

// An installed package has no sources, and its files have the times at which they were unpacked.
if (!existsSync(main) || isBuiltNewest()) {
  await import(built.href);
} else {
  const { register } = await import('tsx/esm/api');
  register();
  await import(main.href);
}

function isBuiltNewest() {
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs;
  return builtAt !== undefined && sources.every((path) => newestIn(`${root}${path}`) <= builtAt);
}

function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(`${path}/${name}`)));
}
