/**
 * The table of settings. The file loader, the environment, `config show`, `config-gen` and the documentation read it.
 * A setting comes from, in this order: its flag, its environment variable, the configuration file, its default.
 */
export interface ConfigKey {
  /** `<section>.<key>`, as in the file. */
  readonly name: `${string}.${string}`;
  readonly type: 'integer' | 'number' | 'string' | 'boolean';
  /** Absent when leaving it out has a meaning of its own; `unset` then says which. */
  readonly default?: number | string | boolean;
  readonly unset?: string;
  /** A value to show where there is no default. */
  readonly example?: number | string;
  readonly min?: number;
  readonly max?: number;
  readonly oneOf?: readonly string[];
  readonly environment: `CEP_${string}`;
  readonly flag?: `--${string}`;
  /** One sentence for people. */
  readonly doc: string;
  /** False when the setting is never read from a file. */
  readonly inFile?: false;
  /** True when the value is never shown. */
  readonly secret?: true;
}

const portMax = 65_535;

export const configKeys = [
  {
    name: 'processing.workers',
    type: 'integer',
    min: 1,
    unset: 'number of CPU cores',
    example: 4,
    environment: 'CEP_PROCESSING_WORKERS',
    flag: '--workers',
    doc: 'Engine threads of a partitioned program.',
  },
  {
    name: 'processing.partition_by',
    type: 'string',
    unset: 'chosen from the program',
    example: 'user_id',
    environment: 'CEP_PROCESSING_PARTITION_BY',
    flag: '--partition-by',
    doc: 'Event field by which events are divided among the threads.',
  },
  {
    name: 'processing.batch_size',
    type: 'integer',
    min: 1,
    default: 1000,
    environment: 'CEP_PROCESSING_BATCH_SIZE',
    doc: 'Events handed to an engine thread at once; never changes results.',
  },
  {
    name: 'processing.strict_events',
    type: 'boolean',
    default: false,
    environment: 'CEP_PROCESSING_STRICT_EVENTS',
    flag: '--strict-events',
    doc: 'Treat an event that lacks a declared field as invalid.',
  },
  {
    name: 'mqtt.broker',
    type: 'string',
    unset: 'no broker',
    example: 'localhost',
    environment: 'CEP_MQTT_BROKER',
    doc: 'Host of the MQTT broker.',
  },
  {
    name: 'mqtt.port',
    type: 'integer',
    min: 1,
    max: portMax,
    default: 1883,
    environment: 'CEP_MQTT_PORT',
    doc: 'Port of the MQTT broker.',
  },
  {
    name: 'mqtt.input_topic',
    type: 'string',
    unset: 'no input',
    example: 'sensors/#',
    environment: 'CEP_MQTT_INPUT_TOPIC',
    doc: 'Topic that events are read from; `#` stands for everything below.',
  },
  {
    name: 'mqtt.output_topic',
    type: 'string',
    unset: 'no output',
    example: 'alerts',
    environment: 'CEP_MQTT_OUTPUT_TOPIC',
    doc: 'Topic that output events are written to.',
  },
  {
    name: 'mqtt.client_id',
    type: 'string',
    unset: 'made by the client',
    example: 'cep-1',
    environment: 'CEP_MQTT_CLIENT_ID',
    doc: 'Name of this client at the broker.',
  },
  {
    name: 'mqtt.qos',
    type: 'integer',
    min: 0,
    max: 2,
    default: 1,
    environment: 'CEP_MQTT_QOS',
    doc: 'MQTT quality of service.',
  },
  {
    name: 'mqtt.tls',
    type: 'boolean',
    default: false,
    environment: 'CEP_MQTT_TLS',
    doc: 'Connect to the broker with TLS.',
  },
  {
    name: 'server.port',
    type: 'integer',
    min: 0,
    max: portMax,
    default: 9000,
    environment: 'CEP_SERVER_PORT',
    flag: '--port',
    doc: 'Port of the server; 0 takes any free one.',
  },
  {
    name: 'server.bind',
    type: 'string',
    default: '127.0.0.1',
    environment: 'CEP_SERVER_BIND',
    flag: '--bind',
    doc: 'Address the server listens on.',
  },
  {
    name: 'server.api_key_file',
    type: 'string',
    unset: 'authentication is off',
    example: '/etc/cep/api-key',
    environment: 'CEP_SERVER_API_KEY_FILE',
    doc: 'File that holds the key which requests must carry.',
  },
  {
    name: 'server.api_key',
    type: 'string',
    unset: 'authentication is off',
    environment: 'CEP_API_KEY',
    flag: '--api-key',
    doc: 'The key that requests must carry.',
    inFile: false,
    secret: true,
  },
  {
    name: 'server.tls_cert',
    type: 'string',
    unset: 'plain HTTP',
    environment: 'CEP_TLS_CERT',
    flag: '--tls-cert',
    doc: 'PEM file of the certificate.',
    inFile: false,
  },
  {
    name: 'server.tls_key',
    type: 'string',
    unset: 'plain HTTP',
    environment: 'CEP_TLS_KEY',
    flag: '--tls-key',
    doc: 'PEM file of the private key.',
    inFile: false,
  },
  {
    name: 'server.rate_limit',
    type: 'number',
    min: 0,
    default: 0,
    environment: 'CEP_RATE_LIMIT',
    flag: '--rate-limit',
    doc: 'Requests per second and client; 0 is no limit.',
    inFile: false,
  },
  {
    name: 'server.state_dir',
    type: 'string',
    unset: 'state is in memory',
    environment: 'CEP_STATE_DIR',
    flag: '--state-dir',
    doc: 'Directory for state, checkpoints and dead letters.',
    inFile: false,
  },
  {
    name: 'server.checkpoint_interval',
    type: 'string',
    default: '10s',
    environment: 'CEP_CHECKPOINT_INTERVAL',
    flag: '--checkpoint-interval',
    doc: 'Time between checkpoints, seconds or a duration.',
    inFile: false,
  },
  {
    name: 'server.keep_backups',
    type: 'integer',
    min: 1,
    default: 5,
    environment: 'CEP_KEEP_BACKUPS',
    flag: '--keep-backups',
    doc: 'Copies that stay in the state directory; a new one removes those that are older.',
    inFile: false,
  },
  {
    name: 'server.workdir',
    type: 'string',
    unset: 'the current directory',
    environment: 'CEP_WORKDIR',
    flag: '--workdir',
    doc: 'The only directory in which programs of the server key may name files.',
    inFile: false,
  },
  {
    name: 'server.tenant_workdir',
    type: 'string',
    unset: 'programs of tenants may name no files',
    environment: 'CEP_TENANT_WORKDIR',
    flag: '--tenant-workdir',
    doc: 'Directory with a folder for each tenant, named by its id: the only one in which programs of that tenant may name files.',
    inFile: false,
  },
  {
    name: 'server.credentials',
    type: 'string',
    unset: 'no profiles',
    environment: 'CEP_CREDENTIALS',
    flag: '--credentials',
    doc: 'YAML file of credentials that connectors name by profile.',
    inFile: false,
  },
  {
    name: 'server.master_key',
    type: 'string',
    unset: 'nothing can be decrypted',
    environment: 'CEP_MASTER_KEY',
    doc: 'The key, 64 hex digits, that the values of the credentials are encrypted with.',
    inFile: false,
    secret: true,
  },
  {
    name: 'server.cors_origins',
    type: 'string',
    unset: 'pages of other sites are not let in',
    environment: 'CEP_CORS_ORIGINS',
    flag: '--cors-origins',
    doc: 'Origins whose pages may use the API, with commas between them.',
    inFile: false,
  },
  {
    name: 'server.allowed_hosts',
    type: 'string',
    unset: 'any with a key, else this machine',
    example: 'cep.example.org',
    environment: 'CEP_ALLOWED_HOSTS',
    flag: '--allowed-hosts',
    doc: 'Names that requests may ask for the server by (`Host`), with commas between them; localhost and its own address always pass.',
  },
  {
    name: 'server.trusted_proxies',
    type: 'string',
    unset: 'no proxy is believed',
    environment: 'CEP_TRUSTED_PROXIES',
    flag: '--trusted-proxies',
    doc: 'Addresses or networks of proxies whose X-Forwarded-For says who the client is, with commas between them.',
    inFile: false,
  },
  {
    name: 'server.tenant_networks',
    type: 'string',
    unset: 'public addresses only',
    environment: 'CEP_TENANT_NETWORKS',
    flag: '--tenant-networks',
    doc: 'Private addresses or networks that programs of tenants may send to, with commas between them. The server key may send anywhere.',
    inFile: false,
  },
  {
    name: 'server.otlp_endpoint',
    type: 'string',
    unset: 'no traces',
    environment: 'CEP_OTLP_ENDPOINT',
    flag: '--otlp-endpoint',
    doc: 'URL of an OpenTelemetry collector that traces are sent to, as OTLP over HTTP.',
    inFile: false,
  },
  {
    name: 'server.trace_ratio',
    type: 'number',
    min: 0,
    max: 1,
    default: 1,
    environment: 'CEP_TRACE_RATIO',
    flag: '--trace-ratio',
    doc: 'Share of the traces recorded that begin at this server; a request with a traceparent says it itself.',
    inFile: false,
  },
  {
    name: 'server.insecure',
    type: 'boolean',
    default: false,
    environment: 'CEP_INSECURE',
    flag: '--insecure',
    doc: 'Do not warn when a server without a key can be reached from other machines.',
    inFile: false,
  },
  {
    name: 'server.coordinator',
    type: 'string',
    unset: 'a server on its own',
    environment: 'CEP_COORDINATOR',
    flag: '--coordinator',
    doc: 'URL of the coordinator to register with.',
    inFile: false,
  },
  {
    name: 'server.worker_id',
    type: 'string',
    unset: 'made at start',
    environment: 'CEP_WORKER_ID',
    flag: '--worker-id',
    doc: 'Name of this worker at its coordinator.',
    inFile: false,
  },
  {
    name: 'server.advertise_address',
    type: 'string',
    unset: 'made of bind address and port',
    environment: 'CEP_ADVERTISE_ADDRESS',
    flag: '--advertise-address',
    doc: 'URL by which the coordinator reaches this worker.',
    inFile: false,
  },
  {
    name: 'client.server',
    type: 'string',
    default: 'http://127.0.0.1:9000',
    environment: 'CEP_SERVER',
    flag: '--server',
    doc: 'URL of the server that client commands talk to.',
  },
  {
    name: 'client.api_key_file',
    type: 'string',
    unset: 'no key is sent',
    example: 'api-key',
    environment: 'CEP_API_KEY_FILE',
    flag: '--api-key-file',
    doc: 'File that holds the key which client commands send; relative to the configuration file that names it.',
  },
  {
    name: 'client.tls_ca',
    type: 'string',
    unset: 'the authorities that this machine trusts',
    example: 'ca.pem',
    environment: 'CEP_TLS_CA',
    flag: '--tls-ca',
    doc: "PEM file of the authority that signed the server's certificate; relative to the configuration file that names it.",
  },
  {
    name: 'client.timeout',
    type: 'string',
    default: '30s',
    environment: 'CEP_TIMEOUT',
    flag: '--timeout',
    doc: 'How long a client command waits for an answer, seconds or a duration.',
  },
  {
    name: 'metrics.enabled',
    type: 'boolean',
    default: false,
    environment: 'CEP_METRICS_ENABLED',
    flag: '--metrics',
    doc: 'Serve metrics in the Prometheus format.',
  },
  {
    name: 'metrics.port',
    type: 'integer',
    min: 0,
    max: portMax,
    default: 9090,
    environment: 'CEP_METRICS_PORT',
    flag: '--metrics-port',
    doc: 'Port of the metrics endpoint.',
  },
  {
    name: 'metrics.auth',
    type: 'boolean',
    default: false,
    environment: 'CEP_METRICS_AUTH',
    flag: '--metrics-auth',
    doc: "Ask for the server's key on the metrics port too.",
    inFile: false,
  },
  {
    name: 'logging.level',
    type: 'string',
    oneOf: ['trace', 'debug', 'info', 'warn', 'error'],
    default: 'info',
    environment: 'CEP_LOGGING_LEVEL',
    doc: 'Least severity that is logged.',
  },
  {
    name: 'logging.format',
    type: 'string',
    oneOf: ['text', 'json'],
    default: 'text',
    environment: 'CEP_LOGGING_FORMAT',
    doc: 'Lines for people, or one JSON object per line.',
  },
  {
    name: 'logging.timestamps',
    type: 'boolean',
    default: true,
    environment: 'CEP_LOGGING_TIMESTAMPS',
    doc: 'Begin every log line with its time.',
  },
] as const satisfies readonly ConfigKey[];

/** What is said when a file still has a deprecated section, by the section's name. */
export const deprecatedSections: Readonly<Record<string, string>> = {
  mqtt: "section 'mqtt' is deprecated; declare a connector in the program and read from it with .from()",
};

type Row = (typeof configKeys)[number];

/** The name of a setting, such as `server.port`. */
export type ConfigName = Row['name'];

interface TypeOfName {
  integer: number;
  number: number;
  string: string;
  boolean: boolean;
}

/** The type of a setting's value; `undefined` belongs to it when the setting has no default. */
export type ConfigValueOf<N extends ConfigName> =
  | TypeOfName[Extract<Row, { name: N }>['type']]
  | (Extract<Row, { name: N }> extends { default: unknown } ? never : undefined);

export type ConfigValue = number | string | boolean;
