import { stat } from 'node:fs/promises';
import type { Config } from '../shared/config/config.ts';
import { pathSetting } from './setting-values.ts';

const forOthers = 0o077;

export interface OpenFile {
  readonly file: string;
  /** As chmod takes it. */
  readonly mode: string;
}

/** Of the files with secrets that the settings name: those that others can read, not their owner alone. Such credentials are refused where they are read. */
export async function openSecretFiles(config: Config): Promise<readonly OpenFile[]> {
  const paths = (['server.api_key_file', 'server.tls_key', 'client.api_key_file'] as const).map((name) => pathSetting(config, name));
  return (await Promise.all(paths.flatMap((path) => (path === undefined ? [] : openFile(path))))).flat();
}

/** What cannot be looked at is reported by whoever reads it. */
async function openFile(file: string): Promise<readonly OpenFile[]> {
  const mode = await stat(file).then(
    (found) => found.mode,
    () => 0,
  );
  return (mode & forOthers) === 0 ? [] : [{ file, mode: (mode & 0o777).toString(8) }];
}
