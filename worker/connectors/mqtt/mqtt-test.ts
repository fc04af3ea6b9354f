import { randomBytes } from 'node:crypto';
import type { MqttClient } from 'mqtt';
import type { ConnectorUse } from '../connector.ts';
import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { type MqttAddress, mqttClient, mqttReason } from './mqtt-client.ts';

const REFUSED_QOS = 128;
const BAD_CLIENT_ID = 2;
const BROKER_AWAY = 3;

export interface MqttTestOptions extends Pick<ConnectorUse, 'role' | 'topic'> {
  readonly address: MqttAddress;
  readonly qos: 0 | 1 | 2;
}

/**
 * Connects as a client of its own, so that the session of a program that runs goes on; what it subscribes to ends with it. Whether it may
 * publish a broker of MQTT 3.1.1 tells nobody.
 */
export async function* mqttSteps({ address, qos, role, topic }: MqttTestOptions): AsyncGenerator<TestStep> {
  yield* reachSteps(address);
  const connection: { client?: MqttClient } = {};
  try {
    yield {
      name: 'login',
      run: async () => {
        const client = await openedClient(address);
        connection.client = client.client;
        await client.connected;
        return address.username === undefined ? 'the broker takes clients without a login' : 'the broker takes the login';
      },
    };
    const { client } = connection;
    if (topic === null || client === undefined) yield { name: 'topic', untested: 'the topic is not named, or made of each event' };
    else if (role === 'source') yield { name: 'permission', run: () => subscribed(client, topic, qos) };
    else yield { name: 'permission', untested: `MQTT tells of the permission to publish to '${topic}' only when something is published` };
  } finally {
    connection.client?.end(true);
  }
}

async function openedClient(address: MqttAddress): Promise<{ readonly client: MqttClient; readonly connected: Promise<void> }> {
  let problem: Error | undefined;
  const client = await mqttClient(address, {
    clientId: `cep-test-${randomBytes(6).toString('hex')}`,
    clean: true,
    onError: (error) => {
      problem ??= error;
    },
  });
  const connected = new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.on('error', (error) => reject(loginFailure(problem ?? error, address)));
    client.once('close', () => reject(loginFailure(problem ?? new Error('the end of the connection'), address)));
  });
  return { client, connected };
}

function loginFailure(cause: Error, { username }: MqttAddress): StepFailure {
  const { code } = cause as { readonly code?: unknown };
  const reasonCode = typeof code === 'number' ? ` (reason code ${code})` : '';
  return new StepFailure({ found: `'${mqttReason(cause)}'${reasonCode}`, expected: 'a connection', hint: hintOf(code, username), cause });
}

function hintOf(code: unknown, username: string | undefined): string {
  if (code === BROKER_AWAY) return 'try again later: the broker says that it cannot serve now';
  if (code === BAD_CLIENT_ID) return 'let the broker take client identifiers that begin with cep-test-';
  if (typeof code !== 'number') return 'look whether an MQTT broker listens there, and whether it expects TLS (`tls: true`)';
  return username === undefined
    ? 'the broker wants a login: give `username` and `password`, or a `profile`'
    : 'correct `username` and `password`, or what the broker grants that user';
}

async function subscribed(client: MqttClient, topic: string, qos: 0 | 1 | 2): Promise<string> {
  const [granted] = await client.subscribeAsync(topic, { qos }).catch((cause: unknown) => {
    throw subscriptionFailure(topic, cause);
  });
  const given = granted?.qos as number | undefined;
  if (given === undefined || given >= REFUSED_QOS) throw subscriptionFailure(topic, undefined);
  return given < qos ? `'${topic}' can be read, with qos ${given} in the place of ${qos}` : `'${topic}' can be read, with qos ${given}`;
}

function subscriptionFailure(topic: string, cause: unknown): StepFailure {
  const reason = cause === undefined ? '' : ` (${mqttReason(cause)})`;
  const hint = 'correct the topic, or let the broker grant this user to read it';
  return new StepFailure({ found: `a refusal of the subscription of '${topic}'${reason}`, expected: 'that it is granted', hint, cause });
}
