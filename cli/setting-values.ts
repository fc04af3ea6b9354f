/** What the text of a setting stands for. */
import { dirname, isAbsolute, join } from 'node:path';
import type { Config, ConfigOrigin } from '../shared/config/config.ts';
import { readInterval } from '../shared/config/interval.ts';
import type { ConfigName } from '../shared/config/keys.ts';
import { CepError, invariant } from '../shared/errors/error.ts';
import { readTextFile } from '../shared/files/text-file.ts';

export function originOf(config: Config, name: ConfigName): ConfigOrigin | undefined {
  return config.settings.find(({ key }) => key.name === name)?.origin;
}

/** A wrong value of a setting: of a flag the command line is wrong, of anything else the configuration. */
export function settingError(config: Config, name: ConfigName, problem: (where: string) => string, hint?: string): CepError {
  const setting = config.settings.find(({ key }) => key.name === name);
  const code = setting?.origin === 'flag' ? 'usage_error' : 'config_error';
  return new CepError(code, problem(setting?.where ?? name), hint === undefined ? {} : { hint });
}

/** Settings that are paths of files. */
export type PathName =
  | 'server.api_key_file'
  | 'server.credentials'
  | 'server.tls_cert'
  | 'server.tls_key'
  | 'client.api_key_file'
  | 'client.tls_ca';

/** A path in a configuration file is relative to the folder of that file, every other to the current folder. */
export function pathSetting(config: Config, name: PathName): string | undefined {
  const path = config.get(name);
  const setting = config.settings.find(({ key }) => key.name === name);
  if (path === undefined || setting?.origin !== 'file' || isAbsolute(path)) return path;
  return join(dirname(setting.where ?? ''), path);
}

/** Milliseconds of a setting that is a time. */
export function intervalSetting(config: Config, name: 'server.checkpoint_interval' | 'client.timeout'): number {
  const ms = readInterval(config.get(name));
  invariant(ms !== undefined, 'a setting was checked when it was read');
  return ms;
}

export function unpresentableKey(where: string): string {
  return `${where}: the key has blanks or characters that no key has`;
}

/** The key that a file holds. @throws CepError `file_not_found`, `io_error`, `config_error` */
export async function readKeyFile(path: string): Promise<string> {
  const key = (await readTextFile(path, 'API key file')).trim();
  if (key === '' || /\s/.test(key)) throw new CepError('config_error', `API key file '${path}': expected one key on one line`);
  return key;
}
