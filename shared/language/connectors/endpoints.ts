import type { ConnectorDescriptor } from './descriptor.ts';
import { timerRange } from './parameter-problem.ts';

const databaseParameters: ConnectorDescriptor['parameters'] = [
  {
    name: 'url',
    kind: 'str',
    secret: true,
    summary: 'host, database and login in one; `?sslmode=require` speaks TLS, with a certificate for this host that is trusted',
  },
  { name: 'query', kind: 'str', summary: 'of a look-up, `$1` is the key' },
  { name: 'table', kind: 'str', summary: 'table that a sink writes; none is made' },
  { name: 'topic', kind: 'str', summary: 'another word for the table' },
  { name: 'username', aliases: ['user'], kind: 'str', summary: 'user' },
  { name: 'password', kind: 'str', secret: true, summary: 'password' },
  { name: 'pool_size', kind: 'int', min: 1, max: 1_000, default: '4', summary: 'connections kept open at most' },
];

const database = (name: string, scheme: string, summary: string): ConnectorDescriptor => ({
  name,
  roles: ['sink', 'enrich'],
  built: ['sink', 'enrich'],
  oneOf: [['url']],
  needs: { sink: ['table', 'topic'], enrich: ['query'] },
  topics: ['table', 'topic'],
  broker: false,
  ownNames: ['id', 'event_type', 'timestamp'],
  summary,
  guarantees: {
    sink:
      'Effectively once: a row with the id of the event, which replaces the one that is there, so `id` must be the primary key. The columns are ' +
      'found by name: `id`, `event_type`, `timestamp`, one for each field, and `data` for all fields as JSON. A field that has the name of ' +
      'another of these stands in `data` alone (W054). In a column of times a text that says its zone is an instant, any other is for the ' +
      'database to read (MySQL and MariaDB in sessions that are in UTC). Delivered is what the database has committed; what it refuses, as values that another unique index has for another ' +
      'id, is a dead letter.',
    enrich:
      'The first row that the query gives. None, or one that does not come in time, is a failure of the look-up. As many run at a time as there are connections (`pool_size`); `timeout` of `.enrich` counts the wait for one too, and has no bound.',
  },
  example: `connector Tariffs = ${name} (url: "${scheme}://cep@db.example.com/shop", query: "select rate from tariffs where $1 between low and high")
connector Alerts = ${name} (url: "${scheme}://cep@db.example.com/shop", table: "alerts")

stream Large = Payment
    .where(amount > 1000)
    .enrich(Tariffs, key: amount, fields: [rate], cache_ttl: 5m)
    .emit(amount, rate)
    .to(Alerts)`,
  parameters: databaseParameters,
});

/** Web addresses, files, terminals and databases. */
export const endpointConnectors: readonly ConnectorDescriptor[] = [
  {
    name: 'http',
    aliases: ['rest', 'api'],
    roles: ['source', 'sink', 'enrich'],
    built: ['source', 'sink', 'enrich'],
    oneOf: [],
    needs: { sink: ['url'], enrich: ['url'] },
    topics: ['topic'],
    broker: false,
    summary: 'Webhooks both ways, and look-ups',
    guarantees: {
      enrich:
        'A GET for each key, which stands behind the path of the url and the `topic`, or where `{key}` stands in the url; the answer is JSON. What is ' +
        'not 2xx, or does not come within the `timeout` of the connector and that of `.enrich`, is a failure of the look-up.',
      source:
        'Effectively once, where there is a state directory and the sender names each request: what was answered with 202 is in the log by ' +
        'then, and what comes again with the same `Idempotency-Key` within 10 minutes is not taken again. Without that key a sender that got ' +
        'no answer and sends again is taken twice.',
      sink: 'At least once: what is sent again has the same `Idempotency-Key`. Only 2xx is taken for delivered.',
    },
    example: `connector Incoming = http (profile: "incoming")
connector Hooks = http (url: "https://alerts.example.com/hook", timeout: 5s)

stream Large = Payment.from(Incoming)
    .where(amount > 1000)
    .emit(amount)
    .to(Hooks)`,
    parameters: [
      { name: 'url', aliases: ['base_url'], kind: 'str', summary: 'address; a source needs none' },
      { name: 'method', kind: 'str', words: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], default: '"POST"', summary: 'of a request' },
      { name: 'headers', kind: 'map', entries: 'headers', secret: true, summary: 'headers of a request' },
      { name: 'timeout', kind: 'duration', ...timerRange, summary: 'how long an answer may take' },
      {
        name: 'concurrency',
        kind: 'int',
        min: 1,
        max: 1_000,
        default: '1',
        summary: 'requests of a sink at a time; with more than one they may arrive in another order',
      },
      {
        name: 'secret',
        kind: 'str',
        secret: true,
        summary: 'a source checks with it that requests carry `x-cep-signature: sha256=<hex HMAC of the body>`',
      },
      { name: 'topic', kind: 'str', summary: 'put behind the path: of the url, or of the webhook, where a `/` in it is `%2F`' },
    ],
  },
  {
    name: 'file',
    roles: ['source', 'sink'],
    built: ['source', 'sink'],
    oneOf: [],
    needs: { source: ['path', 'topic'], sink: ['path', 'topic'] },
    topics: ['path', 'topic'],
    broker: false,
    summary: 'Event files, read and followed, or appended to',
    guarantees: {
      source:
        'Exactly once, where there is a state directory: the place in the file stands in the log and in checkpoints, also across renamed files, and ' +
        'those that were compressed (`<name>.<anything>.gz`), or copied before the file was cut (`copytruncate`), while nobody read, where one alone begins as what was read did. A file that is shorter than what was read of it, or whose first 256 bytes are others, or, when reading begins again, the last 256 that were read, was written anew and is read from its beginning. ' +
        'Where what was read is neither in its place nor beside it, or was written over, before its end was seen, what it may have had behind ' +
        'what was read is a dead letter, which says behind which byte.',
      sink:
        'Exactly once, also after a crash of the process: what the last 64 MiB of the file hold is not written again. When the whole ' +
        'machine fails, the last 0.1 s may be missing. Where the file was renamed, as rotation does, or removed, the next event begins ' +
        'another; what lies beside it as `<name>.<anything>`, not compressed, counts as the file too.',
    },
    example: `connector Log = file (path: "payments.jsonl")
connector Alerts = file (path: "alerts.jsonl")

stream Large = Payment.from(Log)
    .where(amount > 1000)
    .emit(amount)
    .to(Alerts)`,
    parameters: [
      {
        name: 'path',
        kind: 'str',
        summary:
          'path under the work directory, of a file and no pipe or device; a source reads `.evt`, `.jsonl`, `.csv` or `.tsv`, also with `.gz`',
      },
      { name: 'topic', kind: 'str', summary: 'another word for the path' },
      {
        name: 'follow',
        kind: 'bool',
        default: 'true',
        summary: 'a source waits for what is appended, also when the file is replaced by another, or written anew',
      },
      {
        name: 'start',
        kind: 'str',
        words: ['earliest', 'latest'],
        default: '"earliest"',
        summary:
          'where a source begins that was never read; the latest is behind the last line that is whole; not of `.gz`, which is read as a whole',
      },
    ],
  },
  {
    name: 'console',
    roles: ['sink'],
    built: ['sink'],
    oneOf: [],
    topics: ['topic'],
    broker: false,
    summary: 'Lines on the terminal',
    guarantees: { sink: 'At least once: what was shown since the last checkpoint is shown again after a crash.' },
    example: `connector Screen = console (topic: "large")

stream Large = Payment
    .where(amount > 1000)
    .emit(amount)
    .to(Screen)`,
    parameters: [{ name: 'topic', kind: 'str', summary: 'label before each line' }],
  },
  {
    name: 'websocket',
    roles: ['source', 'sink'],
    built: ['source', 'sink'],
    oneOf: [['url']],
    topics: ['topic'],
    broker: false,
    summary: 'A WebSocket of another server, both ways',
    guarantees: {
      source:
        'At most once: what the server sends while the connection is lost is gone, and so is what came just before this process died. A message ' +
        'of more than 1 MiB ends the connection.',
      sink:
        'At least once: delivered is a message when the server has answered the ping behind it, so has read it. What is sent again has the ' +
        'same `id`.',
    },
    example: `connector Feed = websocket (url: "wss://feed.example.com/payments")
connector Desk = websocket (url: "wss://desk.example.com/alerts")

stream Large = Payment.from(Feed)
    .where(amount > 1000)
    .emit(amount)
    .to(Desk)`,
    parameters: [
      { name: 'url', kind: 'str', summary: 'address, ws:// or wss://' },
      { name: 'headers', kind: 'map', entries: 'headers', secret: true, summary: 'headers of the handshake' },
      { name: 'topic', kind: 'str', summary: 'label: a sink puts it into each message as `topic`' },
    ],
  },
  database('postgres', 'postgres', 'PostgreSQL tables and look-ups'),
  database('mysql', 'mysql', 'MySQL and MariaDB tables and look-ups'),
  database('database', 'postgres', 'PostgreSQL or MySQL, by the scheme of the url'),
];
