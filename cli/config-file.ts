import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FILE_NAME = '.cep.toml';

/** The configuration file when none is named: `.cep.toml` of the current folder, else of the home folder; undefined when neither exists. */
export function findConfigFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = env['HOME'] || env['USERPROFILE'];
  return [FILE_NAME, ...(home ? [join(home, FILE_NAME)] : [])].find((path) => existsSync(path));
}
