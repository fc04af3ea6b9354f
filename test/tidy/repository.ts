import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const notOurs = new Set(['node_modules', 'dist', 'coverage', 'artifacts', '.git']);

/** Every file of the working copy as a path from the root with `/`, without what is installed or built. */
export function repositoryFiles(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (notOurs.has(entry.name)) return [];
    return entry.isDirectory() ? repositoryFiles(path) : [path];
  });
}

/** The text of a file, or undefined when it is binary. */
export function textOf(path: string): string | undefined {
  const bytes = readFileSync(join(root, path));
  return bytes.includes(0) ? undefined : bytes.toString('utf8');
}
