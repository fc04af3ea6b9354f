import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { Config } from '../../shared/config/config.ts';
import { CepError } from '../../shared/errors/error.ts';
import { type Profiles, readProfiles } from '../../shared/security/credentials/credentials.ts';
import { tlsFilesOf } from '../../shared/security/tls-files.ts';
import type { LogLevel } from '../../shared/telemetry/logger.ts';
import type { StartServerOptions } from '../../worker/server/index.ts';
import { type OpenFile, openSecretFiles } from '../secret-files.ts';
import { intervalSetting, originOf, readKeyFile, settingError } from '../setting-values.ts';

/** What a server is started with, read and checked. */
export interface ServerSettings extends StartServerOptions {
  readonly bind: string;
  /** The key stood on the command line, where others can see it. */
  readonly isKeyOnCommandLine: boolean;
  /** Files with secrets that others can read. */
  readonly openSecrets: readonly OpenFile[];
  readonly isInsecureAccepted: boolean;
}

/**
 * Reads what the settings of a server name. `configFile`: the file that they come from, which may hold secrets.
 * @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag
 */
export async function readServerSettings(config: Config, configFile: string | undefined): Promise<ServerSettings> {
  refuseCoordinator(config);
  return {
    bind: config.get('server.bind'),
    port: config.get('server.port'),
    apiKey: await apiKeyOf(config),
    isKeyOnCommandLine: originOf(config, 'server.api_key') === 'flag',
    openSecrets: await openSecretFiles(config),
    isInsecureAccepted: config.get('server.insecure'),
    tls: tlsFilesOf(config.get('server.tls_cert'), config.get('server.tls_key')),
    rateLimit: config.get('server.rate_limit'),
    corsOrigins: listOf(config, 'server.cors_origins', { fits: isOrigin, expected: 'an origin such as https://console.example.com, or *' }),
    allowedHosts: listOf(config, 'server.allowed_hosts', { fits: isHost, expected: 'a name such as cep.example.org, without port, or *' }),
    trustedProxies: listOf(config, 'server.trusted_proxies', { fits: isNetwork, expected: 'an address, or a network such as 10.0.0.0/8' }),
    tenantNetworks: listOf(config, 'server.tenant_networks', { fits: isNetwork, expected: 'an address, or a network such as 10.0.0.0/8' }),
    profiles: await profilesOf(config),
    workDir: (await folderOf(config, 'server.workdir')) ?? resolve('.'),
    tenantWorkDir: await folderOf(config, 'server.tenant_workdir'),
    privateFiles: [configFile ?? [], ...privateSettings.map((name) => config.get(name) ?? [])].flat(),
    stateDir: config.get('server.state_dir'),
    checkpointIntervalMs: intervalSetting(config, 'server.checkpoint_interval'),
    keepBackups: config.get('server.keep_backups'),
    strictEvents: config.get('processing.strict_events'),
    engineThreads: config.get('processing.workers'),
    metricsPort: config.get('metrics.enabled') ? config.get('metrics.port') : undefined,
    metricsNeedKey: config.get('metrics.auth'),
    tracing: tracingOf(config),
    logging: {
      level: config.get('logging.level') as LogLevel,
      format: config.get('logging.format') as 'text' | 'json',
      timestamps: config.get('logging.timestamps'),
    },
  };
}

interface Expectation {
  readonly fits: (part: string) => boolean;
  readonly expected: string;
}

/** The parts of a text with commas between them. */
function listOf(
  config: Config,
  name: 'server.cors_origins' | 'server.allowed_hosts' | 'server.trusted_proxies' | 'server.tenant_networks',
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

function tracingOf(config: Config): ServerSettings['tracing'] {
  const endpoint = config.get('server.otlp_endpoint');
  if (endpoint === undefined) return undefined;
  if (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)) return { endpoint, ratio: config.get('server.trace_ratio') };
  throw settingError(
    config,
    'server.otlp_endpoint',
    (where) => `${where}: expected a URL such as http://127.0.0.1:4318, found '${endpoint}'`,
  );
}

function isOrigin(text: string): boolean {
  return text === '*' || /^https?:\/\/[^/\s]+\/?$/i.test(text);
}

function isHost(text: string): boolean {
  return text === '*' || isIP(text.replace(/^\[|\]$/g, '')) !== 0 || /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?$/i.test(text);
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A key that is given wins over a file that is named. */
async function apiKeyOf(config: Config): Promise<string | undefined> {
  const given = config.get('server.api_key');
  const path = config.get('server.api_key_file');
  if (given !== undefined) requireLongKey(given, (problem, hint) => settingError(config, 'server.api_key', problem, hint));
  if (given !== undefined || path === undefined) return given;
  const key = await readKeyFile(path);
  requireLongKey(key, (problem, hint) => new CepError('config_error', problem(`API key file '${path}'`), { hint }));
  return key;
}

/** Characters of the server's key, at least. */
const apiKeyCharsMin = 8;

type KeyError = (problem: (where: string) => string, hint: string) => CepError;

/** Whoever can ask can guess: a short key is found by trying. */
function requireLongKey(key: string, error: KeyError): void {
  const { length } = key;
  if (length >= apiKeyCharsMin) return;
  const found = `found a key of ${length} ${length === 1 ? 'character' : 'characters'}, expected at least ${apiKeyCharsMin}`;
  throw error((where) => `${where}: ${found}`, 'a good key is long and random: openssl rand -hex 32');
}

/** Settings that name files which hold secrets, or say where they are. */
const privateSettings = ['server.api_key_file', 'server.credentials', 'server.tls_cert', 'server.tls_key', 'client.api_key_file'] as const;

/** Undefined when it is not set. */
async function folderOf(config: Config, name: 'server.workdir' | 'server.tenant_workdir'): Promise<string | undefined> {
  const given = config.get(name);
  if (given === undefined) return undefined;
  const path = resolve(given);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return path;
  throw settingError(config, name, (where) => `${where}: directory '${path}' does not exist`);
}

async function profilesOf(config: Config): Promise<Profiles | undefined> {
  const path = config.get('server.credentials');
  return path === undefined ? undefined : await readProfiles(path, config.get('server.master_key'));
}

function refuseCoordinator(config: Config): void {
  if (config.get('server.coordinator') === undefined) return;
  throw new CepError('config_error', 'this version serves on its own only: it cannot register with a coordinator', {
    hint: 'leave --coordinator and CEP_COORDINATOR out',
  });
}
