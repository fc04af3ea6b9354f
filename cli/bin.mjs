#!/usr/bin/env node
/** Starts the built bundle when it is newer than every source, else the sources through tsx. */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = new URL('../dist/main.js', import.meta.url);
const sources = ['shared', 'worker', 'coordinator', 'cli', 'package.json'];

if (isBuiltNewest()) {
  await import(built.href);
} else {
  const { register } = await import('tsx/esm/api');
  register();
  await import(new URL('./main.ts', import.meta.url).href);
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
