import { Command, Option } from 'clipanion';
import type { ConfigName } from '../shared/config/keys.ts';
import { CepCommand } from './command.ts';
import { readCoordinatorSettings } from './serving/coordinator-settings.ts';
import { serveCoordinator } from './serving/serve-coordinator.ts';

export class CoordinatorCommand extends CepCommand {
  protected override readonly isLogging = true;

  static override paths = [['coordinator']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Coordinate a cluster, alone or as a member of a Raft group',
    details:
      'Takes workers, places pipelines on them, and gives those of a worker that is lost to others. With --raft three or more coordinators agree on everything: all but a minority ' +
      'may fail. Members talk to each other on the port 1000 above that of their API. ' +
      'Runs until SIGTERM or SIGINT; a leader then hands over first. SIGHUP reads the certificate again. Logs go to standard error. ' +
      'Ends with 0 in order, 2 when a file is missing or the data of the member cannot be used, 3 when a setting is wrong or missing, ' +
      '4 when the port is in use, its disk fails or is full, or the others know other data under its id.',
    examples: [
      ['Alone, with a log that outlives the process', '$0 coordinator --raft-data-dir raft'],
      [
        'The first of three members',
        'CEP_API_KEY=.. $0 coordinator --bind 0.0.0.0 --raft --raft-node-id 1 --raft-data-dir raft ' +
          '--raft-peers http://10.0.0.1:9100,http://10.0.0.2:9100,http://10.0.0.3:9100',
      ],
    ],
  });

  port = Option.String('-p,--port', { description: 'Port (9100); 0 takes any free one' });
  bind = Option.String('--bind', { description: 'Address to listen on (127.0.0.1)' });
  apiKey = Option.String('--api-key', { description: 'The key that requests must carry (CEP_API_KEY)' });
  tlsCert = Option.String('--tls-cert', { description: 'PEM file of the certificate (CEP_TLS_CERT)' });
  tlsKey = Option.String('--tls-key', { description: 'PEM file of the private key (CEP_TLS_KEY)' });
  tlsCa = Option.String('--tls-ca', {
    description: 'PEM file of the authority that signed the certificates of workers (that of --raft-tls-ca; CEP_TLS_CA)',
  });
  rateLimit = Option.String('--rate-limit', { description: 'Requests per second and client, 0 is no limit (CEP_RATE_LIMIT)' });
  heartbeatInterval = Option.String('--heartbeat-interval', { description: 'Seconds between two heartbeats of a worker (5)' });
  heartbeatTimeout = Option.String('--heartbeat-timeout', { description: 'Seconds without one after which a worker counts as lost (15)' });
  placement = Option.String('--placement', {
    description: 'How workers are chosen for pipelines: least-loaded or round-robin (least-loaded)',
  });
  raft = Option.Boolean('--raft', { description: 'Be a member of a Raft group of coordinators' });
  raftNodeId = Option.String('--raft-node-id', { description: 'Number of this member' });
  raftPeers = Option.String('--raft-peers', {
    description: 'URLs of the first members, this one included, in the order of their numbers, with commas between them',
  });
  raftNewAddresses = Option.Boolean('--raft-new-addresses', {
    description: 'Members are where --raft-peers says, whatever their log says: after it was restored on other machines',
  });
  raftDataDir = Option.String('--raft-data-dir', { description: 'Directory of the log (in memory, which no group may have)' });
  raftClusterId = Option.String('--raft-cluster-id', { description: 'Name of the group, the same on all members (cep)' });
  raftLogFormatMax = Option.String('--raft-log-format-max', {
    description: 'Latest format in which the group may write its log, for the way back to an earlier version (the latest)',
  });
  raftTlsCa = Option.String('--raft-tls-ca', { description: "PEM file of the authority of the members' certificates" });
  checkpointStore = Option.String('--checkpoint-store', {
    description: 'Where all members keep the checkpoints of pipelines, file:///folder or s3://bucket/prefix (on a majority of the members)',
  });
  scalingMinWorkers = Option.String('--scaling-min-workers', { description: 'Fewest workers that are recommended, 0 is off (0)' });
  scalingMaxWorkers = Option.String('--scaling-max-workers', { description: 'Most workers that are recommended (100)' });
  scalingUpThreshold = Option.String('--scaling-up-threshold', {
    description: 'Pipelines per worker above which more are recommended (5)',
  });
  scalingDownThreshold = Option.String('--scaling-down-threshold', {
    description: 'Pipelines per worker below which fewer are recommended (1)',
  });
  scalingWebhookUrl = Option.String('--scaling-webhook-url', { description: 'URL that is sent recommendations' });
  scalingWebhookSecret = Option.String('--scaling-webhook-secret', {
    description: 'Signs what that URL is sent; other users of the machine can read it here (CEP_SCALING_WEBHOOK_SECRET)',
  });
  corsOrigins = Option.String('--cors-origins', { description: 'Origins whose pages may use the API, with commas between them' });
  allowedHosts = Option.String('--allowed-hosts', {
    description: 'Names by which requests may ask for the coordinator, with commas between them, * for all (CEP_ALLOWED_HOSTS)',
  });
  trustedProxies = Option.String('--trusted-proxies', {
    description: 'Proxies whose X-Forwarded-For is believed, with commas between them',
  });
  insecure = Option.Boolean('--insecure', { description: 'Do not warn when the coordinator can be reached without a key' });

  override async run(): Promise<number> {
    const settings = await readCoordinatorSettings(await this.loadConfig(this.#flags()));
    return await serveCoordinator(settings, { stderr: this.context.stderr, signals: process });
  }

  #flags(): { readonly [N in ConfigName]?: string | boolean | undefined } {
    return {
      'coordinator.port': this.port,
      'coordinator.bind': this.bind,
      'coordinator.heartbeat_interval': this.heartbeatInterval,
      'coordinator.heartbeat_timeout': this.heartbeatTimeout,
      'coordinator.placement': this.placement,
      'coordinator.checkpoint_store': this.checkpointStore,
      'coordinator.scaling_min_workers': this.scalingMinWorkers,
      'coordinator.scaling_max_workers': this.scalingMaxWorkers,
      'coordinator.scaling_up_threshold': this.scalingUpThreshold,
      'coordinator.scaling_down_threshold': this.scalingDownThreshold,
      'coordinator.scaling_webhook_url': this.scalingWebhookUrl,
      'coordinator.scaling_webhook_secret': this.scalingWebhookSecret,
      'raft.enabled': this.raft,
      'raft.node_id': this.raftNodeId,
      'raft.peers': this.raftPeers,
      'raft.new_addresses': this.raftNewAddresses,
      'raft.data_dir': this.raftDataDir,
      'raft.cluster_id': this.raftClusterId,
      'raft.log_format_max': this.raftLogFormatMax,
      'raft.tls_ca': this.raftTlsCa,
      'server.api_key': this.apiKey,
      'server.tls_cert': this.tlsCert,
      'server.tls_key': this.tlsKey,
      'client.tls_ca': this.tlsCa,
      'server.rate_limit': this.rateLimit,
      'server.cors_origins': this.corsOrigins,
      'server.allowed_hosts': this.allowedHosts,
      'server.trusted_proxies': this.trustedProxies,
      'server.insecure': this.insecure,
    };
  }
}
