import { Command, Option } from 'clipanion';
import type { ConfigName } from '../shared/config/keys.ts';
import { CepCommand } from './command.ts';
import { onLostOutput } from './lost-output.ts';
import { serve } from './serving/serve.ts';
import { readServerSettings } from './serving/server-settings.ts';

export class ServerCommand extends CepCommand {
  protected override readonly isLogging = true;

  static override paths = [['server']];
  static override usage = Command.Usage({
    category: 'Service',
    description: 'Serve pipelines over REST, WebSocket and server-sent events',
    details:
      'Runs until SIGTERM or SIGINT (a second one ends at once); SIGHUP reads the certificate and the credentials again. Without a key everybody who ' +
      'can reach the port may do everything. Logs go to standard error. ' +
      'Ends with 0 when all that was accepted is done or safe, 2 when a file is missing, 3 when a setting is wrong, 4 when the port is in use or something was given up.',
    examples: [
      ['On this machine', '$0 server'],
      ['With a key, and state that outlives the process', 'CEP_API_KEY=.. $0 server --bind 0.0.0.0 --state-dir state'],
      ['With TLS and metrics', '$0 server --tls-cert cert.pem --tls-key key.pem --metrics'],
    ],
  });

  port = Option.String('-p,--port', { description: 'Port (9000); 0 takes any free one' });
  bind = Option.String('--bind', { description: 'Address to listen on (127.0.0.1)' });
  apiKey = Option.String('--api-key', { description: 'The key that requests must carry (CEP_API_KEY)' });
  tlsCert = Option.String('--tls-cert', { description: 'PEM file of the certificate (CEP_TLS_CERT)' });
  tlsKey = Option.String('--tls-key', { description: 'PEM file of the private key (CEP_TLS_KEY)' });
  tlsCa = Option.String('--tls-ca', {
    description: 'PEM file of the authority that signed the certificates of coordinators and other workers (CEP_TLS_CA)',
  });
  rateLimit = Option.String('--rate-limit', { description: 'Requests per second and client, 0 is no limit (CEP_RATE_LIMIT)' });
  workdir = Option.String('--workdir', {
    description: 'The only directory in which programs of the server key may name files (current directory)',
  });
  tenantWorkdir = Option.String('--tenant-workdir', {
    description: 'Directory with a folder for each tenant, named by its id, in which its programs may name files (none)',
  });
  metrics = Option.Boolean('--metrics', { description: 'Serve metrics in the Prometheus format' });
  metricsPort = Option.String('--metrics-port', { description: 'Port of the metrics endpoint (9090)' });
  metricsAuth = Option.Boolean('--metrics-auth', { description: 'Ask for the key on the metrics port too' });
  stateDir = Option.String('--state-dir', { description: 'Directory for state, checkpoints and dead letters (CEP_STATE_DIR)' });
  checkpointInterval = Option.String('--checkpoint-interval', { description: 'Time between checkpoints, seconds or a duration (10s)' });
  keepBackups = Option.String('--keep-backups', { description: 'Backups that stay in the state directory, the newest (5)' });
  workers = Option.String('--workers', { description: 'Engine threads for the pipelines (number of CPU cores)' });
  strictEvents = Option.Boolean('--strict-events', { description: 'Treat an event that lacks a declared field as invalid' });
  override credentials = Option.String('--credentials', { description: 'YAML file of credentials for connectors (CEP_CREDENTIALS)' });
  corsOrigins = Option.String('--cors-origins', { description: 'Origins whose pages may use the API, with commas between them' });
  allowedHosts = Option.String('--allowed-hosts', {
    description: 'Names by which requests may ask for the server, with commas between them, * for all (CEP_ALLOWED_HOSTS)',
  });
  trustedProxies = Option.String('--trusted-proxies', {
    description: 'Proxies whose X-Forwarded-For is believed, with commas between them',
  });
  otlpEndpoint = Option.String('--otlp-endpoint', { description: 'OpenTelemetry collector to send traces to, as OTLP over HTTP' });
  traceRatio = Option.String('--trace-ratio', { description: 'Share of the traces recorded that begin here, 0 to 1 (1)' });
  tenantNetworks = Option.String('--tenant-networks', {
    description: 'Private networks that programs of tenants may send to, with commas between them',
  });
  insecure = Option.Boolean('--insecure', { description: 'Do not warn when the server can be reached without a key' });
  coordinator = Option.String('--coordinator', {
    description: 'Coordinators to register with as a worker, with commas between them (CEP_COORDINATOR)',
  });
  workerId = Option.String('--worker-id', { description: 'Name of this worker, made at start without it (CEP_WORKER_ID)' });
  advertiseAddress = Option.String('--advertise-address', { description: 'URL by which the coordinator reaches this worker' });

  override async run(): Promise<number> {
    const settings = await readServerSettings(await this.loadConfig(this.#flags()), this.configFile());
    const { stdout, stderr } = this.context;
    onLostOutput(stdout, () => undefined); // What connectors of the console write is lost; the others go on.
    return await serve(settings, { stdout, stderr, signals: process });
  }

  #flags(): { readonly [N in ConfigName]?: string | boolean | undefined } {
    return {
      'server.port': this.port,
      'server.bind': this.bind,
      'server.api_key': this.apiKey,
      'server.tls_cert': this.tlsCert,
      'server.tls_key': this.tlsKey,
      'client.tls_ca': this.tlsCa,
      'server.rate_limit': this.rateLimit,
      'server.workdir': this.workdir,
      'server.tenant_workdir': this.tenantWorkdir,
      'server.state_dir': this.stateDir,
      'server.checkpoint_interval': this.checkpointInterval,
      'server.keep_backups': this.keepBackups,
      'server.credentials': this.credentials,
      'server.cors_origins': this.corsOrigins,
      'server.allowed_hosts': this.allowedHosts,
      'server.trusted_proxies': this.trustedProxies,
      'server.otlp_endpoint': this.otlpEndpoint,
      'server.trace_ratio': this.traceRatio,
      'server.tenant_networks': this.tenantNetworks,
      'server.insecure': this.insecure,
      'server.coordinator': this.coordinator,
      'server.worker_id': this.workerId,
      'server.advertise_address': this.advertiseAddress,
      'processing.workers': this.workers,
      'processing.strict_events': this.strictEvents,
      'metrics.enabled': this.metrics,
      'metrics.port': this.metricsPort,
      'metrics.auth': this.metricsAuth,
    };
  }
}
