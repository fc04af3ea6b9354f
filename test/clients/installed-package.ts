import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/**
 * Puts the package into a folder as `npm pack` makes it and an install lays it out, with the dependencies of this checkout. Gives the
 * folder of the package.
 */
export async function installPackage(folder: string): Promise<string> {
  const installed = join(folder, 'node_modules/cep');
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  mkdirSync(installed, { recursive: true });
  await run('tar', ['xzf', join(folder, archive), '-C', installed, '--strip-components=1']);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.') && name !== 'cep') symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  return installed;
}
