import type { ConnectorDescriptor } from './descriptor.ts';
import { timerRange } from './parameter-problem.ts';

/** Message brokers: both ends of a topic. */
export const brokerConnectors: readonly ConnectorDescriptor[] = [
  {
    name: 'kafka',
    roles: ['source', 'sink'],
    built: ['source', 'sink'],
    oneOf: [['brokers']],
    topics: ['topic'],
    broker: true,
    summary: 'Apache Kafka topics; offsets are part of the checkpoint',
    guarantees: {
      source:
        'Exactly once, where there is a state directory and the group is not shared: the offsets stand in the log and in checkpoints, and are ' +
        'committed once they are there. Where reading goes on they count before those of the group if they are ahead. Where the group is ahead it ' +
        'counts, also after the restore of an older checkpoint: what came in between is not read again. In a group that several pipelines share ' +
        'at least once: what was not committed when partitions change hands comes again. What a cluster loses itself is lost. ' +
        'Messages that a topic has deleted before they were read are a dead letter, which says from which offset on. A topic that was deleted ' +
        'and made anew is read from its beginning (brokers before 2.8 do not tell it from the one before, and what stands before the last ' +
        'offset is passed over), and so are partitions that a topic gets, which are noticed after half a minute at most; with `start: "latest"` by ' +
        'readers that read the topic, or had read it, before it got them: one that begins later begins at their end. ' +
        'Reads messages without compression and with gzip. Time waits for the partitions that hold messages when reading begins, and for those ' +
        'that have brought some, each until it is idle. What is written first to a topic that was empty, or after all partitions were idle, ' +
        'moves time by itself: older messages that others bring behind it are late by that, unless `out_of_order` covers it.',
      sink:
        'At least once: delivered is what all replicas in sync have (acks=all). What is sent again has the same `id`, in the message and in ' +
        'the header `id`. Messages have no key; topics are not created. With `exactly_once` exactly once for readers with the isolation level ' +
        '`read_committed`, where there is a state directory: outputs are written in transactions, and no earlier than a checkpoint has them, so ' +
        'they come a tenth of a second later, or after a checkpoint where that takes long. The place of the last one stands in the same ' +
        'transaction, as an offset of a group `cep-<ledger>`, by which what comes again after a crash is known and not written again; whoever ' +
        'else writes under the same transactional id is put out. The user needs the right to write with the transactional id and to read the ' +
        'group, both `cep-*` where `transactional_id` says nothing.',
    },
    example: `connector Ledger = kafka (brokers: "k1.example.com:9092", group_id: "fraud", profile: "ledger")

stream Large = Payment.from(Ledger, topic: "payments")
    .where(amount > 1000)
    .emit(amount)
    .to(Ledger, topic: "alerts")`,
    parameters: [
      { name: 'brokers', kind: 'list', entries: 'hosts', summary: 'addresses to start from, host:port (port 9092 where none is written)' },
      { name: 'topic', kind: 'str', summary: 'topic' },
      { name: 'group_id', kind: 'str', default: '"cep-<pipeline>-<source>"', summary: 'consumer group' },
      {
        name: 'session_timeout',
        kind: 'duration',
        ...timerRange,
        default: '10s',
        summary:
          'after this time a reader that is silent has left the group, and so long one that was killed holds its partitions; brokers allow 6s to 5m where nobody has set more',
      },
      {
        name: 'start',
        aliases: ['auto_offset_reset'],
        kind: 'str',
        words: ['earliest', 'latest'],
        default: '"earliest"',
        summary: 'where a new group begins, and a group whose place is no longer there',
      },
      { name: 'client_id', kind: 'str', summary: 'name shown to the brokers' },
      {
        name: 'sasl_mechanism',
        kind: 'str',
        words: ['plain', 'scram-sha-256', 'scram-sha-512', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
        default: '"plain"',
        summary: 'kind of login',
      },
      { name: 'sasl_username', kind: 'str', summary: 'user' },
      { name: 'sasl_password', kind: 'str', secret: true, summary: 'password' },
      { name: 'ssl', kind: 'bool', default: 'false', summary: 'TLS' },
      { name: 'ssl_ca', kind: 'str', summary: 'certificate authority: a PEM file, or its text; means `ssl`' },
      { name: 'ssl_cert', kind: 'str', summary: 'client certificate, likewise' },
      { name: 'ssl_key', kind: 'str', secret: true, summary: 'client key, likewise' },
      {
        name: 'compression',
        aliases: ['compression_type'],
        kind: 'str',
        words: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
        default: '"none"',
        summary: 'of what is written; this build refuses all but `none` and `gzip`',
      },
      {
        name: 'batch_size',
        kind: 'int',
        min: 1,
        max: 100_000,
        default: '500',
        summary: 'messages of one write at most; what waits is written together',
      },
      {
        name: 'linger_ms',
        kind: 'number',
        min: 0,
        max: 60_000,
        default: '0',
        summary: 'how long a write that is not full waits for more, ms',
      },
      { name: 'exactly_once', kind: 'bool', default: 'false', summary: 'writes in transactions; needs a state directory' },
      {
        name: 'transactional_id',
        kind: 'str',
        default: '"cep-<ledger>"',
        summary: 'identity of the transactions, of one sink alone; replicas but the first put their number behind it; means `exactly_once`',
      },
    ],
  },
  {
    name: 'nats',
    roles: ['source', 'sink'],
    built: ['source', 'sink'],
    oneOf: [['servers', 'url']],
    topics: ['subject', 'topic'],
    broker: true,
    summary: 'NATS subjects; with JetStream at least once',
    guarantees: {
      source:
        'With JetStream exactly once, where there is a state directory and the consumer is not shared: without `durable` the place in the ' +
        'stream stands in the log and in checkpoints; with it each message is acknowledged once it is in the log, and what is given again is ' +
        'recognized. A consumer that several pipelines share: at least once. A subject of core NATS at most once: what is published while ' +
        'nobody listens is gone. What a server loses itself is lost. What a stream has deleted before it was read is a dead letter, where all ' +
        'of its subjects are read; of some of them it is not known. To a consumer that several share, what is given again comes behind newer ' +
        'messages. What waits here is not given to another of them while the process runs, also by a consumer that somebody else has made and that ' +
        'waits less (`ack_wait`, `backoff`), down to 0.3 s. One with `max_deliver` does not give again, after a crash, what it has given so often.',
      sink:
        'With JetStream at least once: delivered is what the stream has kept. What is sent again has the same `id`, also as `Nats-Msg-Id`, by ' +
        'which the stream drops it within its duplicate window. To core NATS at most once: delivered is what the server has read.',
    },
    example: `connector Bus = nats (servers: "nats://n1.example.com:4222", jetstream: true, profile: "bus")

stream Large = Payment.from(Bus, subject: "payments.>", durable: "large")
    .where(amount > 1000)
    .emit(amount)
    .to(Bus, topic: "alerts.large")`,
    parameters: [
      {
        name: 'servers',
        aliases: ['url'],
        kind: 'list',
        entries: 'hosts',
        summary: 'addresses of one cluster, nats://host:port or tls://host:port (port 4222 where none is written)',
      },
      { name: 'subject', kind: 'str', summary: 'subject, wildcards allowed in a source' },
      { name: 'topic', kind: 'str', summary: 'another word for the subject' },
      {
        name: 'queue_group',
        kind: 'str',
        summary: 'members of one group share the messages; with JetStream they share the consumer of that name',
      },
      {
        name: 'jetstream',
        kind: 'bool',
        default: 'false',
        summary: 'reads from, and is kept by, a stream; `stream` and `durable` mean it too',
      },
      { name: 'stream', kind: 'str', summary: 'the stream, where it is not the one that has the subject; none is made' },
      { name: 'durable', kind: 'str', summary: 'consumer that the server keeps, made where it is not there' },
      {
        name: 'start',
        kind: 'str',
        words: ['earliest', 'latest'],
        default: '"earliest"',
        summary: 'where a source of a stream begins that was never read',
      },
      { name: 'username', aliases: ['user'], kind: 'str', summary: 'user' },
      { name: 'password', aliases: ['pass'], kind: 'str', secret: true, summary: 'password' },
      { name: 'token', kind: 'str', secret: true, summary: 'token' },
      { name: 'nkey', kind: 'str', secret: true, summary: 'seed of an NKey' },
      { name: 'creds', kind: 'str', secret: true, summary: 'text of a credentials file: a JWT and the seed of its NKey' },
      { name: 'auth', kind: 'map', secret: true, summary: 'login as a map: user and pass, token, nkey, or creds' },
      { name: 'tls', kind: 'bool', default: 'false', summary: 'insists on TLS, which is spoken anyway where the server wants it' },
    ],
  },
  {
    name: 'mqtt',
    roles: ['source', 'sink'],
    built: ['source', 'sink'],
    oneOf: [['host', 'broker', 'url']],
    topics: ['topic'],
    broker: true,
    summary: 'MQTT topics; at least once with a persistent session',
    guarantees: {
      source:
        'At least once with qos 1, where there is a state directory: the broker keeps the session, and a message is acknowledged once it is in ' +
        'the log. What it gives again because it had not heard that is recognized, and not taken twice. Mosquitto before 2.0.13 gives all that has ' +
        'queued up without waiting to hear of it; of more than 65,535 messages some may then come twice or be lost. With qos 0 at most once; ' +
        "a source takes 2 for 1. What a session that was another topic's still brings of that is not taken. The session of a `.from` that is " +
        'gone stays at the broker and goes on queueing until the broker lets it expire, or its `client_id` connects with a clean session. What ' +
        'a broker loses itself is lost.',
      sink: 'At least once with qos 1 and 2: delivered is what the broker has acknowledged. What is sent again has the same `id`.',
    },
    example: `connector Plant = mqtt (host: "broker.example.com", username: "cep", profile: "plant")

stream Large = Payment.from(Plant, topic: "payments/+")
    .where(amount > 1000)
    .emit(amount)
    .to(Plant, topic: "alerts/payments")`,
    parameters: [
      { name: 'host', aliases: ['broker'], kind: 'str', summary: 'host of the broker' },
      { name: 'port', kind: 'int', min: 1, max: 65_535, default: '1883', summary: 'port of the broker' },
      { name: 'url', kind: 'str', summary: 'host and port in one, mqtt://host:port' },
      { name: 'topic', kind: 'str', summary: 'topic, wildcards allowed in a source' },
      { name: 'input_topic', kind: 'str', summary: 'topic of the default input (config mqtt)' },
      { name: 'output_topic', kind: 'str', summary: 'topic of outputs without .to (config mqtt)' },
      { name: 'qos', kind: 'int', min: 0, max: 2, default: '1', summary: 'quality of service' },
      {
        name: 'client_id',
        kind: 'str',
        summary:
          'identity of the session of a source, of one `.from` alone; a sink puts `-out` behind it, replicas but the first their number',
      },
      { name: 'username', kind: 'str', summary: 'user' },
      { name: 'password', kind: 'str', secret: true, summary: 'password' },
      { name: 'tls', kind: 'bool', default: 'false', summary: 'TLS' },
    ],
  },
  {
    name: 'redis',
    aliases: ['redis_stream'],
    roles: ['source', 'sink', 'enrich'],
    built: ['source', 'sink', 'enrich'],
    oneOf: [['url']],
    topics: ['channel', 'stream', 'topic'],
    kinds: { usual: 'channel', other: 'stream', otherBy: ['redis_stream', 'stream', 'group', 'consumer', 'max_len'] },
    broker: true,
    summary: 'Redis channels, streams, and look-ups by key',
    guarantees: {
      source:
        'A stream exactly once, where there is a state directory: the place in it stands in the log and in checkpoints. In a group each ' +
        'entry is acknowledged once it is in the log. What a member of a group has left, and not said for a minute that it works on it, ' +
        'another takes over, behind newer entries (Redis 6.2 or later, and a user who may `XAUTOCLAIM` and `XCLAIM`): a group that several ' +
        'pipelines share gives at least once, as one of them may have been away for so long with an acknowledgement that had got lost. An ' +
        'entry of a group that was deleted or trimmed after it was given to a member, and before it was read, is a dead letter that names it; ' +
        'one says how many were before they were given to anybody, or read without a group, as far as the server tells (Redis 7.0 or later, and ' +
        'a user who may `XINFO`; of a group where all that is left is unread when reading begins). A channel at most once: what is ' +
        'published while nobody listens is gone. What a server loses itself is lost.',
      sink: 'A stream at least once: what is added again has the same `id`. A channel at most once: it reaches whoever listens at that moment.',
      enrich:
        'The fields of a hash, or the value under a key, which may be JSON. What is not there, or does not come in time, is a failure of the look-up.',
    },
    example: `connector Ledger = redis_stream (url: "redis://redis.example.com:6379", profile: "ledger")

stream Large = Payment.from(Ledger, topic: "payments")
    .where(amount > 1000)
    .emit(amount)
    .to(Ledger, topic: "alerts")`,
    parameters: [
      { name: 'url', kind: 'str', secret: true, summary: 'redis://host:port' },
      { name: 'channel', kind: 'str', summary: 'pub/sub channel: at most once' },
      { name: 'stream', kind: 'str', summary: 'stream: at least once' },
      { name: 'topic', kind: 'str', summary: 'another word for the channel or stream' },
      { name: 'group', kind: 'str', summary: 'consumer group of a stream' },
      { name: 'consumer', kind: 'str', summary: 'name within the group' },
      { name: 'max_len', kind: 'int', min: 1, summary: 'entries that a written stream keeps' },
      { name: 'key_prefix', kind: 'str', summary: 'put before the key of a look-up' },
      { name: 'username', kind: 'str', summary: 'user' },
      { name: 'password', kind: 'str', secret: true, summary: 'password' },
    ],
  },
];
