/** What becomes of an event when either side, or the way between them, fails. */
export type Guarantee = 'at most once' | 'at least once' | 'effectively once' | 'exactly once';

/** A row of the guarantees of a type of connector, with the test that has shown it. */
export interface Evidence {
  readonly type: string;
  readonly role: 'source' | 'sink';
  /** Of what, where a type has ends of several kinds. */
  readonly of?: string;
  readonly guarantee: Guarantee;
  /** Under `test/`. */
  readonly file: string;
  /** The name of the test. */
  readonly test: string;
}

const brokers = 'integration/connectors/brokers';
const kafka = `${brokers}/kafka.test.ts`;
const nats = `${brokers}/nats.test.ts`;
const mqtt = `${brokers}/mqtt.test.ts`;
const redis = `${brokers}/redis.test.ts`;
const sinks = 'integration/connectors/sinks-kill.test.ts';

const killed = 'integration/connectors/at-most-once-kill.test.ts';
const givenOnce = 'gives nothing twice over a kill of cep, and loses only what came just before, or while nobody listened';

const table = {
  role: 'sink',
  guarantee: 'effectively once',
  file: `${brokers}/databases.test.ts`,
  test: 'keeps every output once, over kills of the server and of cep',
} as const;

/** For every end that is built, what tests have measured: they kill cep and the other side, and count by number and id. */
export const evidence: readonly Evidence[] = [
  {
    type: 'kafka',
    role: 'source',
    of: 'a group of its own',
    guarantee: 'exactly once',
    file: kafka,
    test: 'gives every message, once, over kills and a pause of the broker under load, and a cut',
  },
  {
    type: 'kafka',
    role: 'source',
    of: 'a group that is shared',
    guarantee: 'at least once',
    file: kafka,
    test: 'shares the partitions with others of its group, and takes over those of one that dies',
  },
  {
    type: 'kafka',
    role: 'sink',
    guarantee: 'at least once',
    file: kafka,
    test: 'writes every output, over kills of the broker and of cep',
  },
  {
    type: 'kafka',
    role: 'sink',
    of: '`exactly_once`',
    guarantee: 'exactly once',
    file: kafka,
    test: 'writes every output once, for readers of what is committed, over kills of cep and a rival with its transactional id',
  },
  {
    type: 'nats',
    role: 'source',
    of: 'a stream',
    guarantee: 'exactly once',
    file: nats,
    test: 'gives every message of a stream, once, over kills of the server and of cep, a pause, and a cut',
  },
  {
    type: 'nats',
    role: 'source',
    of: '`durable`',
    guarantee: 'exactly once',
    file: nats,
    test: 'gives every message, once, to a durable consumer, and leaves nothing that is not acknowledged',
  },
  {
    type: 'nats',
    role: 'source',
    of: 'a subject',
    guarantee: 'at most once',
    file: nats,
    test: 'listens to a subject, also after the server was away',
  },
  {
    type: 'nats',
    role: 'sink',
    of: 'a stream',
    guarantee: 'at least once',
    file: nats,
    test: 'adds every output to a stream, over kills of the server and of cep',
  },
  {
    type: 'nats',
    role: 'sink',
    of: 'a subject',
    guarantee: 'at most once',
    file: nats,
    test: 'sends to whoever listens to a subject at that moment, and keeps nothing for others',
  },
  {
    type: 'mqtt',
    role: 'source',
    of: 'qos 1',
    guarantee: 'at least once',
    file: mqtt,
    test: 'gives every message, once, over kills of cep, a pause of the broker, and a cut',
  },
  {
    type: 'mqtt',
    role: 'sink',
    of: 'qos 1',
    guarantee: 'at least once',
    file: mqtt,
    test: 'delivers every output, over kills of the broker and of cep',
  },
  {
    type: 'redis',
    role: 'source',
    of: 'a stream',
    guarantee: 'exactly once',
    file: redis,
    test: 'gives every entry of a stream, once, over kills of the server and of cep, a pause, and a cut',
  },
  {
    type: 'redis',
    role: 'source',
    of: '`group`',
    guarantee: 'exactly once',
    file: redis,
    test: 'gives every entry, once, to a group, and leaves nothing that is not acknowledged',
  },
  {
    type: 'redis',
    role: 'source',
    of: 'a channel',
    guarantee: 'at most once',
    file: redis,
    test: 'listens to a channel, also after the server was away',
  },
  {
    type: 'redis',
    role: 'sink',
    of: 'a stream',
    guarantee: 'at least once',
    file: redis,
    test: 'adds every output to a stream, over kills of the server and of cep',
  },
  {
    type: 'redis',
    role: 'sink',
    of: 'a channel',
    guarantee: 'at most once',
    file: redis,
    test: 'sends to whoever listens to a channel at that moment, and keeps nothing for others',
  },
  {
    type: 'http',
    role: 'source',
    of: 'with `Idempotency-Key`',
    guarantee: 'effectively once',
    file: 'integration/connectors/webhook-run.test.ts',
    test: 'takes each event once, whatever is sent again after a kill',
  },
  { type: 'http', role: 'sink', guarantee: 'at least once', file: sinks, test: 'sends every output to a web server and to the terminal' },
  {
    type: 'console',
    role: 'sink',
    guarantee: 'at least once',
    file: sinks,
    test: 'sends every output to a web server and to the terminal',
  },
  {
    type: 'file',
    role: 'source',
    guarantee: 'exactly once',
    file: 'integration/connectors/run-kill.test.ts',
    test: 'loses nothing and gives nothing twice, however often it is killed',
  },
  {
    type: 'file',
    role: 'sink',
    guarantee: 'exactly once',
    file: 'integration/connectors/run-kill.test.ts',
    test: 'loses nothing and gives nothing twice, however often it is killed',
  },
  {
    type: 'websocket',
    role: 'source',
    guarantee: 'at most once',
    file: killed,
    test: givenOnce,
  },
  {
    type: 'websocket',
    role: 'sink',
    guarantee: 'at least once',
    file: 'integration/connectors/websocket-run.test.ts',
    test: 'delivers each event that came, over lost connections of both and a kill of the process',
  },
  { type: 'postgres', ...table },
  { type: 'mysql', ...table },
  { type: 'database', ...table },
  {
    type: 'syslog',
    role: 'source',
    guarantee: 'at most once',
    file: killed,
    test: givenOnce,
  },
  {
    type: 'smtp',
    role: 'sink',
    guarantee: 'at least once',
    file: 'integration/connectors/mail-kill.test.ts',
    test: 'sends each, and what it sends again has the Message-ID that it had',
  },
];
