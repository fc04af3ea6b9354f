import { constants, readFileSync, statSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import { CepError } from '../../shared/errors/error.ts';
import { isArray } from '../../shared/events/value.ts';
import { WITHOUT_WAITING } from '../../shared/files/regular-file.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import type { KafkaAddress, KafkaLogin } from './kafka/kafka-client.ts';
import { KafkaSink } from './kafka/kafka-sink.ts';
import { KafkaSource } from './kafka/kafka-source.ts';
import { kafkaSteps } from './kafka/kafka-test.ts';
import { PlainWriter } from './kafka/kafka-writer.ts';
import { TransactionalWriter } from './kafka/transactional-writer.ts';
import { durationParameter, flagParameter, numberParameter, type Parameters, textParameter } from './parameters.ts';
import { followed } from './profiles.ts';
import { requireReachable } from './reachable-host.ts';

const PORT = 9092;
const BATCH_MESSAGES_DEFAULT = 500;
const SESSION_MS_DEFAULT = 10_000;
const PEM_BYTES_MAX = 1_048_576;
const PEM_FLAGS = (constants.O_RDONLY | WITHOUT_WAITING) as unknown as string;
/** What the library has the code for. */
const compressions = ['none', 'gzip'];

/** Topics of Apache Kafka. */
export const kafkaConnector: ConnectorType = {
  name: 'kafka',
  openSource: (settings, environment) => {
    const { name, topic, subscription, parameters, replica, messagesMax } = settings;
    if (topic === null) throw wrong(name, 'it has no topic to read', 'write `topic: ".."`');
    const address = followed(settings, (now) => addressOf(now, environment));
    return new KafkaSource({
      get address() {
        return address();
      },
      topic,
      group: textParameter(parameters, 'group_id') ?? `cep-${replica?.sharedSubscription ?? subscription}`,
      start: textParameter(parameters, 'start') === 'latest' ? 'latest' : 'earliest',
      sessionMs: durationParameter(parameters, 'session_timeout', SESSION_MS_DEFAULT),
      replica,
      messagesMax,
    });
  },
  openSink: (settings, environment) => {
    const { name, parameters } = settings;
    const compression = textParameter(parameters, 'compression') ?? 'none';
    if (!compressions.includes(compression)) {
      throw wrong(name, `found compression '${compression}'`, `this build can ${compressions.join(' and ')}`);
    }
    const transactionalId = textParameter(parameters, 'transactional_id');
    const isTransactional = transactionalId !== undefined || flagParameter(parameters, 'exactly_once');
    if (isTransactional && environment.keepsState !== true) {
      throw wrong(
        name,
        'exactly_once needs a state directory: without one nothing is known after a crash',
        'give --state-dir, or cep run --checkpoint-dir',
      );
    }
    const written = { address: addressOf(settings, environment), isGzip: compression === 'gzip' };
    return new KafkaSink({
      writer: isTransactional ? new TransactionalWriter({ ...written, transactionalId }) : new PlainWriter(written),
      topic: textParameter(parameters, 'topic'),
      batchMessages: numberParameter(parameters, 'batch_size', BATCH_MESSAGES_DEFAULT),
      awaitsCheckpoint: isTransactional,
    });
  },
  async *test(use, environment) {
    yield* kafkaSteps({ address: addressOf(use, environment), role: use.role, topic: use.topic });
  },
};

function wrong(connector: string, problem: string, hint: string): CepError {
  return new CepError('connector_error', `connector '${connector}': ${problem}`, { hint });
}

/** @throws CepError `connector_error` */
function addressOf(settings: ConnectorSettings, environment: ConnectorEnvironment): KafkaAddress {
  const { name, parameters } = settings;
  const door = environment.door.withoutPublic();
  const brokers = brokersOf(name, parameters);
  requireReachable(
    name,
    door,
    brokers.map((broker) => broker.replace(/:\d+$/, '')),
  );
  const clientId = textParameter(parameters, 'client_id') ?? 'cep';
  return { door, brokers, clientId, login: loginOf(name, parameters), tls: tlsOf(settings, environment) };
}

function brokersOf(name: string, parameters: Parameters): readonly string[] {
  const value = parameters.get('brokers') ?? null;
  const written = isArray(value) ? value.map(String) : String(value ?? '').split(',');
  const brokers = written.map((text) => text.trim()).filter((text) => text !== '');
  for (const broker of brokers.length === 0 ? [''] : brokers) {
    const port = Number(/^[^\s:/]+(?::(\d{1,5}))?$/.exec(broker)?.[1] ?? (/[\s:/]/.test(broker) || broker === '' ? 0 : PORT));
    if (port < 1 || port > 65_535) throw wrong(name, `'${broker}' is no address of a broker`, 'write brokers: ["host:9092"]');
  }
  return brokers.map((broker) => (broker.includes(':') ? broker : `${broker}:${PORT}`));
}

function loginOf(name: string, parameters: Parameters): KafkaLogin | undefined {
  const username = textParameter(parameters, 'sasl_username');
  const password = textParameter(parameters, 'sasl_password');
  const written = textParameter(parameters, 'sasl_mechanism');
  if (username === undefined && password === undefined && written === undefined) return undefined;
  if (username === undefined || password === undefined) {
    throw wrong(name, 'a login needs both a user and a password', 'write sasl_username and sasl_password, or leave out all of sasl_*');
  }
  return { mechanism: (written ?? 'plain').toLowerCase() as KafkaLogin['mechanism'], username, password };
}

/** Undefined: plain TCP. */
function tlsOf(
  { name, parameters }: ConnectorSettings,
  { filePath = () => undefined }: ConnectorEnvironment,
): SecureContextOptions | undefined {
  const pem = (parameter: string): string | undefined => {
    const path = textParameter(parameters, parameter);
    if (path === undefined || path.startsWith('-----BEGIN ')) return path;
    const file = filePath(path);
    if (file === undefined) {
      throw new CepError('validation_error', `connector '${name}': ${parameter}: the file '${path}' is not in the work directory`, {
        hint: 'name a file in the work directory, or write the PEM text itself',
      });
    }
    return readPem(name, parameter, file);
  };
  const [ca, cert, key] = [pem('ssl_ca'), pem('ssl_cert'), pem('ssl_key')];
  if (!flagParameter(parameters, 'ssl') && ca === undefined && cert === undefined && key === undefined) return undefined;
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
}

function readPem(name: string, parameter: string, file: string): string {
  try {
    const found = statSync(file);
    if (!found.isFile()) throw new Error('it is no regular file');
    if (found.size <= PEM_BYTES_MAX) return readFileSync(file, { encoding: 'utf8', flag: PEM_FLAGS });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CepError('connector_error', `connector '${name}': ${parameter} cannot be read: ${reason}`, {
      hint: 'name a PEM file',
      cause,
    });
  }
  throw wrong(name, `${parameter}: the file has more than ${PEM_BYTES_MAX} bytes`, 'name a PEM file');
}
