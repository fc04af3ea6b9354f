import { cp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What can be seen of an embedded database from its files: whether opening it would make a new one in its place. */
export async function storeProblem(folder: string): Promise<{ readonly reason: string; readonly hasData: boolean } | undefined> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const hasData = names.some((name) => /^\d+\.(ldb|sst|log)$/.test(name));
  const current = await readFile(join(folder, 'CURRENT'), 'utf8').catch(() => undefined);
  if (current === undefined) return { reason: "it has no file 'CURRENT'", hasData };
  const manifest = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
  if (manifest === undefined) return { reason: "its file 'CURRENT' is not as it was", hasData };
  const size = await stat(join(folder, manifest)).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined || size === 0) return { reason: `its file '${manifest}' is ${size === 0 ? 'empty' : 'gone'}`, hasData };
  return undefined;
}

/** Whether anything stands at the path. */
export async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** How much the logs of a database hold, which it writes to a table when it is opened. */
export async function logBytes(folder: string): Promise<number> {
  const logs = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name));
  const sizes = await Promise.all(logs.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Copies the database aside before anything is done to it. Gives where the copy is. */
export async function putAside(folder: string): Promise<string> {
  for (let number = 1; ; number++) {
    const aside = `${folder}.damaged-${number}`;
    if (await isThere(aside)) continue;
    await cp(folder, aside, { recursive: true });
    return aside;
  }
}

/** What the database said when it was opened of changes that it could not read and left out. */
export async function droppedChanges(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, 'LOG'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => / dropping \d+ bytes|ignoring error/i.test(line));
}
