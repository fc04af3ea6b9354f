import { isIP } from 'node:net';
import type { Config } from '../../shared/config/config.ts';
import { CepError } from '../../shared/errors/error.ts';
import { apiKeyCharsMin, presentableKey } from '../../shared/security/presentable-key.ts';
import { type TlsFiles, tlsFilesOf } from '../../shared/security/tls-files.ts';
import type { LogLevel } from '../../shared/telemetry/logger.ts';
import { type OpenFile, openSecretFiles } from '../secret-files.ts';
import { originOf, pathSetting, readKeyFile, settingError, unpresentableKey } from '../setting-values.ts';

/** What every process of ours that serves HTTP is started with, read and checked. */
export interface HttpSettings {
  readonly apiKey: string | undefined;
  /** The key stood on the command line, where others can see it. */
  readonly isKeyOnCommandLine: boolean;
  /** Files with secrets that others can read. */
  readonly openSecrets: readonly OpenFile[];
  readonly isInsecureAccepted: boolean;
  readonly tls: TlsFiles | undefined;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly logging: { readonly level: LogLevel; readonly format: 'text' | 'json'; readonly timestamps: boolean };
}

/** @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag */
export async function readHttpSettings(config: Config): Promise<HttpSettings> {
  return {
    apiKey: await apiKeyOf(config),
    isKeyOnCommandLine: originOf(config, 'server.api_key') === 'flag',
    openSecrets: await openSecretFiles(config),
    isInsecureAccepted: config.get('server.insecure'),
    tls: tlsFilesOf(config.get('server.tls_cert'), config.get('server.tls_key')),
    rateLimit: config.get('server.rate_limit'),
    corsOrigins: listOf(config, 'server.cors_origins', { fits: isOrigin, expected: 'an origin such as https://console.example.com, or *' }),
    allowedHosts: listOf(config, 'server.allowed_hosts', { fits: isHost, expected: 'a name such as cep.example.org, without port, or *' }),
    trustedProxies: listOf(config, 'server.trusted_proxies', { fits: isNetwork, expected: 'an address, or a network such as 10.0.0.0/8' }),
    logging: {
      level: config.get('logging.level') as LogLevel,
      format: config.get('logging.format') as 'text' | 'json',
      timestamps: config.get('logging.timestamps'),
    },
  };
}

/** The names that are taken, with the one in `url`, by which others of the cluster ask. Where there is a key, no names are all of them. */
export function hostsWith({ allowedHosts, apiKey }: HttpSettings, url: string | undefined): readonly string[] {
  const areAllTaken = allowedHosts.length === 0 && apiKey !== undefined;
  return url === undefined || areAllTaken ? allowedHosts : [...allowedHosts, new URL(url).hostname];
}

interface Expectation {
  readonly fits: (part: string) => boolean;
  readonly expected: string;
}

/** The parts of a text with commas between them. */
export function listOf(
  config: Config,
  name: 'server.cors_origins' | 'server.allowed_hosts' | 'server.trusted_proxies' | 'server.tenant_networks' | 'server.coordinator',
  { fits, expected }: Expectation,
): readonly string[] {
  const parts = (config.get(name) ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const wrong = parts.find((part) => !fits(part));
  if (wrong === undefined) return parts;
  throw settingError(config, name, (where) => `${where}: found '${wrong}', expected ${expected}`);
}

function isOrigin(text: string): boolean {
  return text === '*' || /^https?:\/\/[^/\s]+\/?$/i.test(text);
}

function isHost(text: string): boolean {
  return text === '*' || isIP(text.replace(/^\[|\]$/g, '')) !== 0 || /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?$/i.test(text);
}

export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** @throws CepError `config_error` when there must be one and is none */
async function apiKeyOf(config: Config): Promise<string | undefined> {
  const key = await givenKeyOf(config);
  if (key !== undefined || !config.get('server.key_required') || config.get('server.insecure')) return key;
  throw new CepError('config_error', 'there is no API key, without which whoever reaches the port may do everything (CEP_KEY_REQUIRED)', {
    hint: 'set CEP_API_KEY, or name a file that has it with CEP_SERVER_API_KEY_FILE; CEP_INSECURE=true says that none is meant',
  });
}

/** A key that is given wins over a file that is named. */
async function givenKeyOf(config: Config): Promise<string | undefined> {
  const given = config.get('server.api_key');
  const path = pathSetting(config, 'server.api_key_file');
  if (given !== undefined) requireGoodKey(given, (problem, hint) => settingError(config, 'server.api_key', problem, hint));
  if (given !== undefined || path === undefined) return given;
  const key = await readKeyFile(path);
  requireGoodKey(key, (problem, hint) => new CepError('config_error', problem(`API key file '${path}'`), { hint }));
  return key;
}

type KeyError = (problem: (where: string) => string, hint: string) => CepError;

/** A short key is found by trying, and what no header can hold opens the server to nobody. */
function requireGoodKey(key: string, error: KeyError): void {
  const { length } = key;
  if (!presentableKey.test(key)) throw error(unpresentableKey, 'a key is of letters, digits and signs of ASCII: openssl rand -hex 32');
  if (length >= apiKeyCharsMin) return;
  const found = `found a key of ${length} ${length === 1 ? 'character' : 'characters'}, expected at least ${apiKeyCharsMin}`;
  throw error((where) => `${where}: ${found}`, 'a good key is long and random: openssl rand -hex 32');
}
