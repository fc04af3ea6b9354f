import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Config } from '../../shared/config/config.ts';
import { configToJson } from '../../shared/config/show.ts';
import { CepError } from '../../shared/errors/error.ts';
import { CredentialsFile } from '../../shared/security/credentials/credentials.ts';
import type { StartServerOptions } from '../../worker/server/index.ts';
import { authorityOf } from '../client/client-settings.ts';
import { intervalSetting, pathSetting, settingError } from '../setting-values.ts';
import { type HttpSettings, hostsWith, isNetwork, listOf, readHttpSettings } from './http-settings.ts';

/** What a server is started with, read and checked. */
export type ServerSettings = StartServerOptions &
  HttpSettings & { readonly bind: string; readonly credentials: CredentialsFile | undefined };

/**
 * Reads what the settings of a server name. `configFile`: the file that they come from, which may hold secrets.
 * @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag
 */
export async function readServerSettings(config: Config, configFile: string | undefined): Promise<ServerSettings> {
  const http = await readHttpSettings(config);
  const member = clusterOf(config, http.tls !== undefined);
  const cluster = member && { ...member, ca: await authorityOf(config) };
  const credentials = await credentialsOf(config);
  return {
    ...http,
    allowedHosts: hostsWith(http, cluster?.address),
    cluster,
    bind: config.get('server.bind'),
    port: config.get('server.port'),
    tenantNetworks: listOf(config, 'server.tenant_networks', { fits: isNetwork, expected: 'an address, or a network such as 10.0.0.0/8' }),
    credentials,
    profiles: credentials?.profiles,
    workDir: (await folderOf(config, 'server.workdir')) ?? resolve('.'),
    tenantWorkDir: await folderOf(config, 'server.tenant_workdir'),
    privateFiles: [configFile ?? [], ...privateSettings.map((name) => pathSetting(config, name) ?? [])].flat(),
    stateDir: config.get('server.state_dir'),
    checkpointIntervalMs: intervalSetting(config, 'server.checkpoint_interval'),
    keepBackups: config.get('server.keep_backups'),
    strictEvents: config.get('processing.strict_events'),
    isSmtpUnverified: config.get('server.smtp_dangerous'),
    engineThreads: config.get('processing.workers'),
    metricsPort: config.get('metrics.enabled') ? config.get('metrics.port') : undefined,
    metricsNeedKey: config.get('metrics.auth'),
    tracing: tracingOf(config),
    settings: configToJson(config),
  };
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

async function credentialsOf(config: Config): Promise<CredentialsFile | undefined> {
  const path = config.get('server.credentials');
  return path === undefined ? undefined : await CredentialsFile.read(path, config.get('server.master_key'));
}

/** What makes the server a worker; undefined without a coordinator. */
function clusterOf(config: Config, isSecure: boolean): Omit<NonNullable<ServerSettings['cluster']>, 'ca'> | undefined {
  const coordinators = listOf(config, 'server.coordinator', { fits: isWebUrl, expected: 'a URL such as http://10.0.0.4:9100' });
  if (coordinators.length === 0) return undefined;
  const workerId = config.get('server.worker_id') ?? `worker-${randomUUID().slice(0, 8)}`;
  if (!/^(?!\.\.?$)[A-Za-z0-9._-]{1,128}$/.test(workerId)) {
    throw settingError(config, 'server.worker_id', (where) => `${where}: expected letters, digits, '.', '_' and '-', found '${workerId}'`);
  }
  const address = config.get('server.advertise_address') ?? ownAddress(config, isSecure);
  if (!isWebUrl(address)) {
    throw settingError(
      config,
      'server.advertise_address',
      (where) => `${where}: expected a URL such as http://10.0.0.7:9000, found '${address}'`,
    );
  }
  return { coordinators, workerId, address, incarnation: randomUUID() };
}

/** Where others reach the server, as far as its own settings say that. */
function ownAddress(config: Config, isSecure: boolean): string {
  const [bind, port] = [config.get('server.bind'), config.get('server.port')];
  if (port === 0) {
    throw new CepError('config_error', 'a worker on any free port cannot say where it is reached', {
      hint: 'name the port with --port, or the URL with --advertise-address',
    });
  }
  const isAny = bind === '0.0.0.0' || bind === '::';
  const host = isAny ? hostname() : bind.includes(':') ? `[${bind}]` : bind;
  return `${isSecure ? 'https' : 'http'}://${host}:${port}`;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
