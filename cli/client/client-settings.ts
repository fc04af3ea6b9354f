import { createSecureContext } from 'node:tls';
import type { Config } from '../../shared/config/config.ts';
import { readInterval } from '../../shared/config/interval.ts';
import { CepError } from '../../shared/errors/error.ts';
import { readTextFile } from '../../shared/files/text-file.ts';
import { presentableKey } from '../../shared/security/presentable-key.ts';
import { intervalSetting, originOf, pathSetting, readKeyFile, settingError, unpresentableKey } from '../setting-values.ts';

/** Which server a client command talks to, and how. */
export interface ClientSettings {
  /** `http` or `https`, without a slash at its end, a query or a fragment; may have a path. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** PEM of the authorities to trust instead of the machine's. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
  /** How long a request is repeated that the server puts off. @default a minute at least */
  readonly patienceMs?: number;
  /** Where the URL was said. @default client.server */
  readonly urlSetting?: UrlSetting;
}

/** What says whom a command asks: a server, or a coordinator. */
export type UrlSetting = 'client.server' | 'client.coordinator';

/** What a command has of its own. */
interface ClientDefaults {
  readonly urlName?: UrlSetting;
  /** How long it waits for an answer where no setting says it. @default that of the setting */
  readonly timeoutUnset?: string;
}

/** How the settings that say whom a command asks are called elsewhere. */
export const asked: Readonly<Record<UrlSetting, { readonly what: string; readonly option: string; readonly variable: string }>> = {
  'client.server': { what: 'server', option: '--server', variable: 'CEP_SERVER' },
  'client.coordinator': { what: 'coordinator', option: '--coordinator', variable: 'CEP_COORDINATOR_URL' },
};

/**
 * Reads what the settings of a client name.
 * @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag
 */
export async function readClientSettings(
  config: Config,
  { urlName = 'client.server', timeoutUnset }: ClientDefaults = {},
): Promise<ClientSettings> {
  const isGiven = originOf(config, 'client.timeout') !== 'default';
  const timeoutMs =
    (timeoutUnset !== undefined && !isGiven ? readInterval(timeoutUnset) : undefined) ?? intervalSetting(config, 'client.timeout');
  return {
    url: urlOf(config, urlName),
    apiKey: await apiKeyOf(config),
    ca: await authorityOf(config),
    timeoutMs,
    ...(isGiven ? { patienceMs: timeoutMs } : {}),
    urlSetting: urlName,
  };
}

function urlOf(config: Config, name: UrlSetting): string {
  const text = config.get(name);
  const wrong = (problem: string, hint?: string): CepError => settingError(config, name, (where) => `${where}: ${problem}`, hint);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const hint = /^[\w.-]+(:\d+)?$/.test(text) ? `http://${text}` : undefined;
    throw wrong(`expected a URL such as http://127.0.0.1:9000, found '${text}'`, hint && `write it as ${hint}`);
  }
  if (url.username !== '' || url.password !== '') throw wrong('a URL holds no key', 'give the key with CEP_API_KEY');
  if (url.search !== '' || url.hash !== '') throw wrong(`expected a URL without a query or a fragment, found '${text}'`);
  return url.href.replace(/\/+$/, '');
}

/** A flag wins over the environment and files; of the rest a key that is given wins over a file that is named. */
async function apiKeyOf(config: Config): Promise<string | undefined> {
  const given = config.get('server.api_key');
  const isFileFirst = originOf(config, 'client.api_key_file') === 'flag' && originOf(config, 'server.api_key') !== 'flag';
  const path = pathSetting(config, 'client.api_key_file');
  const key = path !== undefined && (given === undefined || isFileFirst) ? await readKeyFile(path) : given;
  if (key !== undefined && !presentableKey.test(key)) throw settingError(config, 'server.api_key', unpresentableKey);
  return key;
}

/** PEM of the authorities to trust; undefined for those of the machine. @throws CepError `file_not_found`, `io_error`, `config_error` */
export async function authorityOf(config: Config): Promise<string | undefined> {
  const path = pathSetting(config, 'client.tls_ca');
  return path === undefined ? undefined : await readAuthority(path);
}

/** @throws CepError `file_not_found`, `io_error`, `config_error` when it is no PEM file of certificates */
export async function readAuthority(path: string): Promise<string> {
  const pem = await readTextFile(path, 'TLS authority');
  try {
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it is no PEM file with certificates');
    createSecureContext({ ca: pem });
    return pem;
  } catch (cause) {
    throw new CepError('config_error', `TLS authority '${path}' cannot be used: ${(cause as Error).message}`, { cause });
  }
}
