import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = ['shared', 'worker', 'coordinator', 'cli', 'package.json'];

/** Of a checkout: whether the bundle is there, and no source is newer. */
export function isBuiltNewest() {
  const builtAt = statSync(`${root}dist/main.js`, { throwIfNoEntry: false })?.mtimeMs;
  return builtAt !== undefined && sources.every((path) => newestIn(`${root}${path}`) <= builtAt);
}

function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(`${path}/${name}`)));
}
