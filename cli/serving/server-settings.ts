import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../shared/config/config.ts';
import { CepError } from '../../shared/errors/error.ts';
import { type Profiles, readProfiles } from '../../shared/security/credentials/credentials.ts';
import type { StartServerOptions } from '../../worker/server/index.ts';
import { intervalSetting, settingError } from '../setting-values.ts';
import { type HttpSettings, isNetwork, listOf, readHttpSettings } from './http-settings.ts';

/** What a server is started with, read and checked. */
export type ServerSettings = StartServerOptions & HttpSettings & { readonly bind: string };

/**
 * Reads what the settings of a server name. `configFile`: the file that they come from, which may hold secrets.
 * @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag
 */
export async function readServerSettings(config: Config, configFile: string | undefined): Promise<ServerSettings> {
  refuseCoordinator(config);
  return {
    ...(await readHttpSettings(config)),
    bind: config.get('server.bind'),
    port: config.get('server.port'),
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
