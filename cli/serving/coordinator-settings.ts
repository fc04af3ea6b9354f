import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { LATEST_FORMAT, memberUrl, type StartCoordinatorOptions } from '../../coordinator/index.ts';
import type { Config } from '../../shared/config/config.ts';
import type { ConfigName } from '../../shared/config/keys.ts';
import { CepError } from '../../shared/errors/error.ts';
import { isLoopback } from '../../shared/http/listen.ts';
import { authorityOf, readAuthority } from '../client/client-settings.ts';
import { settingError } from '../setting-values.ts';
import { type HttpSettings, hostsWith, readHttpSettings } from './http-settings.ts';

type Bucket = Extract<NonNullable<StartCoordinatorOptions['checkpoints']>, { readonly bucket: unknown }>['bucket'];
type GroupSettings = NonNullable<StartCoordinatorOptions['group']>;

/** What a coordinator is started with, read and checked. */
export interface CoordinatorSettings
  extends HttpSettings,
    Pick<
      StartCoordinatorOptions,
      'bind' | 'port' | 'tlsCa' | 'dataDir' | 'checkpoints' | 'logFormatMax' | 'workers' | 'scaling' | 'scalingWebhook'
    > {
  readonly group: GroupSettings | undefined;
  /** Its members know each other by no key. */
  readonly isGroupOpen: boolean;
}

const STORE_HINT =
  'file:///mnt/checkpoints, s3://bucket/prefix?region=eu-central-1, or s3://bucket/prefix?endpoint=https://minio.example.com';
const PEERS_MIN = 3;
const KEY_CHARS_MIN = 16;
/** Where nobody else can come in. */
const OPEN_KEY = 'members of a group without a key';

/** @throws CepError `file_not_found`, `io_error`; `config_error`, or `usage_error` for a bad flag */
export async function readCoordinatorSettings(config: Config): Promise<CoordinatorSettings> {
  const http = await readHttpSettings(config);
  requireTimes(config);
  requireScaling(config);
  const bind = config.get('coordinator.bind');
  const isGroup = config.get('raft.enabled');
  if (!isGroup) requireNoMembers(config);
  const peerUrls = isGroup ? peersOf(config) : [];
  const key = isGroup ? keyOf(config, http.apiKey) : undefined;
  if (isGroup) requireGroupKey(key, [bind, ...peerUrls.map((url) => new URL(url).hostname)]);
  const group = isGroup ? await groupOf(config, peerUrls, key ?? OPEN_KEY) : undefined;
  return {
    ...http,
    allowedHosts: hostsWith(http, group && peerUrls[group.nodeId - 1]),
    ...{ bind, port: config.get('coordinator.port'), dataDir: config.get('raft.data_dir'), logFormatMax: logFormatMaxOf(config) },
    workers: {
      heartbeatIntervalMs: config.get('coordinator.heartbeat_interval') * 1_000,
      heartbeatTimeoutMs: config.get('coordinator.heartbeat_timeout') * 1_000,
      strategy: config.get('coordinator.placement') as 'least-loaded' | 'round-robin',
    },
    scaling: {
      workersMin: config.get('coordinator.scaling_min_workers'),
      workersMax: config.get('coordinator.scaling_max_workers'),
      upThreshold: config.get('coordinator.scaling_up_threshold'),
      downThreshold: config.get('coordinator.scaling_down_threshold'),
    },
    scalingWebhook: webhookOf(config),
    checkpoints: checkpointsOf(config),
    tlsCa: await authorityOf(config),
    ...{ group, isGroupOpen: isGroup && key === undefined },
  };
}

/** Three members of a group that each believe to be alone would be three clusters. */
function requireNoMembers(config: Config): void {
  for (const name of ['raft.peers', 'raft.node_id'] as const) {
    if (config.get(name) === undefined) continue;
    const hint = 'add --raft (CEP_RAFT=true); a coordinator that is alone needs neither --raft-peers nor --raft-node-id';
    throw settingError(config, name, (where) => `${where}: stands there without --raft, and so this coordinator would be alone`, hint);
  }
}

function logFormatMaxOf(config: Config): number | undefined {
  const format = config.get('raft.log_format_max');
  if (format === undefined || format <= LATEST_FORMAT) return format;
  throw settingError(config, 'raft.log_format_max', (where) => `${where}: found ${format}, and this version reads up to ${LATEST_FORMAT}`);
}

function requireTimes(config: Config): void {
  const [interval, timeout] = [config.get('coordinator.heartbeat_interval'), config.get('coordinator.heartbeat_timeout')];
  if (timeout > interval) return;
  throw settingError(
    config,
    'coordinator.heartbeat_timeout',
    (where) => `${where}: found ${timeout} s, expected more than the ${interval} s between two heartbeats`,
  );
}

function requireScaling(config: Config): void {
  const wrong = (name: ConfigName, problem: string): CepError => settingError(config, name, (where) => `${where}: ${problem}`);
  const [min, max] = [config.get('coordinator.scaling_min_workers'), config.get('coordinator.scaling_max_workers')];
  const [up, down] = [config.get('coordinator.scaling_up_threshold'), config.get('coordinator.scaling_down_threshold')];
  if (min > max) throw wrong('coordinator.scaling_min_workers', `found ${min}, expected at most the ${max} of --scaling-max-workers`);
  if (down >= up)
    throw wrong('coordinator.scaling_down_threshold', `found ${down}, expected less than the ${up} of --scaling-up-threshold`);
  const url = config.get('coordinator.scaling_webhook_url');
  const isWeb = url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol));
  if (!isWeb) throw wrong('coordinator.scaling_webhook_url', 'expected a URL with http or https');
}

function webhookOf(config: Config): CoordinatorSettings['scalingWebhook'] {
  const [url, secret] = [config.get('coordinator.scaling_webhook_url'), config.get('coordinator.scaling_webhook_secret')];
  if (url !== undefined) return { url, secret };
  if (secret === undefined) return undefined;
  throw new CepError('config_error', '--scaling-webhook-secret signs what --scaling-webhook-url is sent, and no such URL is given');
}

/** `file:///shared/folder`, or `s3://bucket/prefix`, with `endpoint` and `region` as parameters. */
function checkpointsOf(config: Config): CoordinatorSettings['checkpoints'] {
  const text = config.get('coordinator.checkpoint_store');
  if (text === undefined) return undefined;
  const wrong = (problem: string): CepError =>
    settingError(config, 'coordinator.checkpoint_store', (where) => `${where}: ${problem}`, STORE_HINT);
  if (!URL.canParse(text)) throw wrong(`found '${text}', expected a URL`);
  const url = new URL(text);
  if (url.protocol === 'file:') {
    if (url.hostname !== '') throw wrong(`found a host '${url.hostname}', expected file:/// and a path of this machine`);
    return { folder: fileURLToPath(url) };
  }
  if (url.protocol !== 's3:') throw wrong(`found '${url.protocol}', expected file: or s3:`);
  return { bucket: bucketOf(url, config, wrong) };
}

function bucketOf(url: URL, config: Config, wrong: (problem: string) => CepError): Bucket {
  const [keyId, secret] = [config.get('coordinator.checkpoint_key_id'), config.get('coordinator.checkpoint_secret')];
  if (keyId === undefined || secret === undefined) {
    throw new CepError('config_error', 'a bucket for checkpoints needs CEP_CHECKPOINT_KEY_ID and CEP_CHECKPOINT_SECRET', {
      hint: 'those of a user that may list the bucket, and read, write and delete its objects',
    });
  }
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const endpoint = url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`;
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region' && name !== 'endpoint');
  if (unknown !== undefined) throw wrong(`found the parameter '${unknown}', expected region or endpoint`);
  if (!/^[a-z\d][a-z\d.-]{2,62}$/.test(url.hostname)) throw wrong(`found the bucket '${url.hostname}', which is no name of one`);
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!/^[\w./-]*$/.test(prefix)) throw wrong(`found the prefix '${prefix}', expected letters, digits, '_', '.', '-' and '/'`);
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw wrong(`found the endpoint '${endpoint}', expected a URL with http or https`);
  const where = `${endpoint.replace(/\/+$/, '')}/${url.hostname}`;
  return { url: where, prefix: prefix === '' ? '' : `${prefix}/`, region, keyId, secret };
}

/** A group is not begun by halves: what is missing is all named at once. */
async function groupOf(config: Config, peerUrls: readonly string[], key: string): Promise<GroupSettings> {
  const nodeId = config.get('raft.node_id');
  const missing = [
    nodeId === undefined ? '--raft-node-id' : [],
    config.get('raft.peers') === undefined ? '--raft-peers' : [],
    config.get('raft.data_dir') === undefined ? '--raft-data-dir' : [],
  ].flat();
  if (nodeId === undefined || missing.length > 0) {
    throw new CepError('config_error', `--raft needs ${missing.join(' and ')}`, {
      hint: '--raft --raft-node-id 1 --raft-peers http://10.0.0.1:9100,http://10.0.0.2:9100,http://10.0.0.3:9100 --raft-data-dir raft',
    });
  }
  const port = config.get('coordinator.port');
  if (port === 0)
    throw settingError(config, 'coordinator.port', (where) => `${where}: found 0, and the members of a group must find each other`);
  const caPath = config.get('raft.tls_ca');
  if (caPath !== undefined && config.get('server.tls_cert') === undefined) {
    throw new CepError('config_error', '--raft-tls-ca needs --tls-cert and --tls-key: members show their certificates to each other');
  }
  const tlsCa = caPath === undefined ? undefined : await readAuthority(caPath);
  return { nodeId, peerUrls, areMoved: config.get('raft.new_addresses'), clusterId: config.get('raft.cluster_id'), key, tlsCa };
}

function peersOf(config: Config): readonly string[] {
  const text = config.get('raft.peers');
  if (text === undefined) return [];
  const wrong = (problem: string, hint?: string): CepError => settingError(config, 'raft.peers', (where) => `${where}: ${problem}`, hint);
  const urls = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      try {
        return memberUrl(part);
      } catch (error) {
        throw error instanceof CepError ? wrong(error.message, error.hint) : error;
      }
    });
  const repeated = urls.find((url, at) => urls.indexOf(url) !== at);
  if (repeated !== undefined) throw wrong(`${repeated} stands there twice`);
  if (urls.length >= PEERS_MIN) return urls;
  throw wrong(`found ${urls.length} members, expected ${PEERS_MIN} or more`, 'a group of fewer cannot go on without one; leave --raft out');
}

/** Undefined when there is none. */
function keyOf(config: Config, apiKey: string | undefined): string | undefined {
  const given = config.get('raft.key');
  if (given === undefined) return apiKey && createHash('sha256').update(`cep raft ${apiKey}`).digest('hex');
  if (given.length >= KEY_CHARS_MIN) return given;
  throw settingError(
    config,
    'raft.key',
    (where) => `${where}: found a key of ${given.length} characters, expected at least ${KEY_CHARS_MIN}`,
    'a good key is long and random: openssl rand -hex 32',
  );
}

function requireGroupKey(key: string | undefined, hosts: readonly string[]): void {
  const outside = hosts.find((host) => !isLoopback(host));
  if (key !== undefined || outside === undefined) return;
  throw new CepError(
    'config_error',
    `the group reaches beyond this machine (${outside}), and its members have no key to know each other by`,
    {
      hint: 'set CEP_RAFT_KEY, or CEP_API_KEY, to the same on all members: openssl rand -hex 32',
    },
  );
}
