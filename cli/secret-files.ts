import { stat } from 'node:fs/promises';
import type { Config } from '../shared/config/config.ts';
import type { ConfigName } from '../shared/config/keys.ts';

/** Settings that name a file which holds a secret. Of credentials a file that others can read is refused where it is read. */
const namesOfSecretFiles: readonly ConfigName[] = ['server.api_key_file', 'server.tls_key', 'client.api_key_file'];
const forOthers = 0o077;

export interface OpenFile {
  readonly file: string;
  /** As chmod takes it. */
  readonly mode: string;
}

/** Of the files with secrets that the settings name: those that others than their owner can read. */
export async function openSecretFiles(config: Config): Promise<readonly OpenFile[]> {
  const paths = namesOfSecretFiles.flatMap((name) => config.get(name) ?? []).map(String);
  return (await Promise.all(paths.map(openFile))).flat();
}

/** What cannot be looked at is reported by whoever reads it. */
async function openFile(file: string): Promise<readonly OpenFile[]> {
  const mode = await stat(file).then(
    (found) => found.mode,
    () => 0,
  );
  return (mode & forOthers) === 0 ? [] : [{ file, mode: (mode & 0o777).toString(8) }];
}
