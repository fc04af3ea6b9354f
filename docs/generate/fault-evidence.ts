import type { ConnectorRole } from '../../shared/language/connectors/descriptor.ts';
import { evidence } from './connector-evidence.ts';

/** What is done to both sides and to the way between them. */
export const faults = {
  killed: 'the server is killed under load, and started again',
  paused: 'the server stands still',
  cut: 'the network is cut, and healed',
  login: 'the login is wrong',
  missing: 'what is named is not there',
  cep: 'cep is killed with `kill -9`, and started again',
} as const;

export type Fault = keyof typeof faults;

export interface Shown {
  /** Under `test/`. */
  readonly file: string;
  /** The name of the test. */
  readonly test: string;
}

/** The test of a fault, or why there is no such thing. */
export type FaultEvidence = Shown | string;

export interface FaultRow {
  readonly type: string;
  readonly role: ConnectorRole;
  /** Of what, where a type has ends of several kinds. */
  readonly of?: string;
  readonly shown: Readonly<Record<Fault, FaultEvidence>>;
}

const connectors = 'integration/connectors';
const brokers = `${connectors}/brokers`;

/** One table of sinks, each put through all of it. */
const troubledSink: Shown = {
  file: `${brokers}/troubled-sinks.ts`,
  test: 'delivers all, over a kill and a pause of the server, and a cut; and says what is wrong with a login or a topic',
};
const troubledLookup: Shown = {
  file: `${brokers}/troubled-lookups.ts`,
  test: 'give the fallback for each, in order, while the server is killed, paused or cut off, knows no login or no such name; and find all again',
};
const killedLookup: Shown = {
  file: `${connectors}/lookups-kill.test.ts`,
  test: 'what waits for a look-up when cep is killed is looked up again, and comes out once',
};

/** By the first guarantee that is measured of an end: that test kills cep. */
function killedEnd(type: string, role: 'source' | 'sink'): Shown {
  const row = evidence.find((each) => each.type === type && each.role === role);
  if (row === undefined) throw new Error(`nothing is measured of ${type} as ${role}`);
  return row;
}

function same(shown: FaultEvidence): Pick<FaultRow['shown'], 'killed' | 'paused' | 'cut'> {
  return { killed: shown, paused: shown, cut: shown };
}

function sink(type: string, missing: FaultEvidence = troubledSink): FaultRow {
  return { type, role: 'sink', shown: { ...same(troubledSink), login: troubledSink, missing, cep: killedEnd(type, 'sink') } };
}

function lookup(type: string): FaultRow {
  return { type, role: 'enrich', shown: { ...same(troubledLookup), login: troubledLookup, missing: troubledLookup, cep: killedLookup } };
}

function source(type: string, shown: Partial<FaultRow['shown']> & Pick<FaultRow['shown'], 'login' | 'missing'>): FaultRow {
  const all = killedEnd(type, 'source');
  return { type, role: 'source', shown: { ...same(all), cep: all, ...shown } };
}

/** Ends of what a server passes on to whoever listens, and keeps for nobody. */
const heardSource: Shown = {
  file: `${brokers}/heard-sources.ts`,
  test: 'listens again after kills of the server and of cep, a pause, and a cut; loses only what was said meanwhile, and gives nothing twice',
};

const noServer = 'there is no server';
const ofFile = `${noServer}, and whoever mounts files from another machine has its guarantees`;
const listens = 'it connects to nothing: whoever sends here sends again what was not accepted';
const noReceipt = 'it connects to nothing: others send here, and what comes while nobody listens is gone';
const noLogin = 'the protocol has no login';

const says = (broker: string, test: string): Shown => ({ file: `${brokers}/${broker}.test.ts`, test });

function sinkToListeners(type: string, of: string, cep: Shown): FaultRow {
  return { type, role: 'sink', of, shown: { ...same(troubledSink), login: troubledSink, missing: named, cep } };
}

const mqttStarts = says('mqtt', 'says at the start that the broker cannot be reached, or refuses the login');
const natsStarts = says('nats', 'says at the start that the server cannot be reached, refuses the login, or has no such stream');
const redisStarts = says(
  'redis',
  'says at the start that the server cannot be reached, refuses the login, or has something else under the name',
);
const kafkaStarts = says('kafka', 'says at the start that the cluster cannot be reached, refuses the login, or has no such topic');
const named = 'it is there as soon as somebody names it';
const madeByWriting = 'whoever writes first makes it';

const webSocket = 'unit/connectors/websocket.test.ts';
const webSocketSilence: Shown = { file: webSocket, test: 'reads on after a pause of the server and after a cut, and gives nothing twice' };
const webSocketRefusal: Shown = { file: webSocket, test: 'says what is wrong with a server that %s' };
const unsigned: Shown = {
  file: `${connectors}/webhook-run.test.ts`,
  test: 'tells where it listens, and refuses who does not sign or names no source',
};

const laterFile: Shown = { file: 'unit/connectors/followed-file.test.ts', test: 'waits for a file that is not there, and says so' };

/** For every end and look-up that is built, the test of each fault, or why there is no such thing. */
export const faultRows: readonly FaultRow[] = [
  source('kafka', {
    cep: says('kafka', 'gives every message of all partitions, once, over kills of cep, and commits what was taken'),
    login: kafkaStarts,
    missing: kafkaStarts,
  }),
  { ...source('nats', { login: natsStarts, missing: natsStarts }), of: 'a stream' },
  { ...source('nats', { ...same(heardSource), cep: heardSource, login: natsStarts, missing: named }), of: 'a subject' },
  source('mqtt', {
    killed: says('mqtt', 'loses nothing when the broker is started again'),
    login: mqttStarts,
    missing: 'a topic is there as soon as somebody names it',
  }),
  { ...source('redis', { login: redisStarts, missing: `${madeByWriting}; what is no stream is told` }), of: 'a stream' },
  { ...source('redis', { ...same(heardSource), cep: heardSource, login: redisStarts, missing: named }), of: 'a channel' },
  source('http', { ...same(listens), login: unsigned, missing: unsigned }),
  source('websocket', {
    killed: {
      file: `${connectors}/websocket-run.test.ts`,
      test: 'delivers each event that came, over lost connections of both and a kill of the process',
    },
    paused: webSocketSilence,
    cut: webSocketSilence,
    login: webSocketRefusal,
    missing: webSocketRefusal,
  }),
  source('file', { ...same(ofFile), login: noServer, missing: laterFile }),
  source('syslog', { ...same(noReceipt), login: noLogin, missing: 'it names nothing but its own port' }),

  sink('kafka'),
  { ...sink('nats'), of: 'a stream' },
  sinkToListeners('nats', 'a subject', says('nats', 'sends every output to whoever listens to a subject, over a kill of cep')),
  sink('mqtt', 'a topic is there as soon as somebody names it'),
  { ...sink('redis', madeByWriting), of: 'a stream' },
  sinkToListeners('redis', 'a channel', says('redis', 'sends every output to whoever listens to a channel, over a kill of cep')),
  sink('http'),
  sink('websocket'),
  sink('smtp'),
  sink('postgres'),
  sink('mysql'),
  sink('database'),
  { type: 'file', role: 'sink', shown: { ...same(ofFile), login: noServer, missing: madeByWriting, cep: killedEnd('file', 'sink') } },
  { type: 'console', role: 'sink', shown: { ...same(noServer), login: noServer, missing: noServer, cep: killedEnd('console', 'sink') } },

  ...['http', 'redis', 'postgres', 'mysql', 'database'].map(lookup),
];
