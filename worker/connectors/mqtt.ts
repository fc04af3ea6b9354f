import { createHash } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import type { MqttAddress } from './mqtt/mqtt-client.ts';
import { MqttSink } from './mqtt/mqtt-sink.ts';
import { MqttSource } from './mqtt/mqtt-source.ts';
import { mqttSteps } from './mqtt/mqtt-test.ts';
import { flagParameter, numberParameter, textParameter } from './parameters.ts';
import { followed } from './profiles.ts';
import { requireReachable } from './reachable-host.ts';

const PORT = 1883;
const TLS_PORT = 8883;
const QOS = 1;

/** MQTT 3.1.1 topics. */
export const mqttConnector: ConnectorType = {
  name: 'mqtt',
  openSource: (settings, environment) => {
    const { name, topic, subscription, parameters } = settings;
    if (topic === null) throw new CepError('connector_error', `connector '${name}' has no topic to read`, { hint: 'write `topic: ".."`' });
    const isDurable = environment.keepsState === true;
    const address = followed(settings, (now) => addressOf(now, environment));
    return new MqttSource({
      get address() {
        return address();
      },
      clientId: textParameter(parameters, 'client_id') ?? clientIdOf(subscription),
      topic,
      // A message of quality 2 that is under way when this process dies is lost: nobody keeps what was begun with it. One of quality 1 comes again.
      qos: qosOf(settings) === 0 ? 0 : 1,
      isDurable,
    });
  },
  clientOf: ({ parameters }) => {
    const name = textParameter(parameters, 'client_id');
    const server = ['url', 'host', 'port'].map((each) => String(parameters.get(each) ?? '')).join(' ');
    return name === undefined ? undefined : { name, server };
  },
  openSink: (settings, environment) => {
    const id = textParameter(settings.parameters, 'client_id');
    return new MqttSink({
      address: addressOf(settings, environment),
      clientId: id === undefined ? undefined : `${id}-out`,
      topic: textParameter(settings.parameters, 'topic') ?? textParameter(settings.parameters, 'output_topic'),
      qos: qosOf(settings),
    });
  },
  async *test(use, environment) {
    yield* mqttSteps({ address: addressOf(use, environment), qos: qosOf(use), role: use.role, topic: use.topic });
  },
};

/** Of at most 23 characters, which every broker takes. */
function clientIdOf(subscription: string): string {
  return `cep-${createHash('sha256').update(subscription).digest('hex').slice(0, 18)}`;
}

function qosOf({ name, parameters }: ConnectorSettings): 0 | 1 | 2 {
  const qos = numberParameter(parameters, 'qos', QOS);
  if (qos === 0 || qos === 1 || qos === 2) return qos;
  throw new CepError('connector_error', `connector '${name}': found qos ${qos}, expected 0, 1 or 2`);
}

/** @throws CepError `connector_error` */
function addressOf(settings: ConnectorSettings, environment: ConnectorEnvironment): MqttAddress {
  const door = environment.door.withoutPublic();
  const { name, parameters } = settings;
  const written = textParameter(parameters, 'url');
  const url = written === undefined ? undefined : urlOf(name, written);
  const tls = flagParameter(parameters, 'tls') || /^(?:mqtts|ssl):$/.test(url?.protocol ?? '');
  const host = url?.hostname ?? textParameter(parameters, 'host') ?? '';
  const port = Number(url?.port) || numberParameter(parameters, 'port', tls ? TLS_PORT : PORT);
  const username = textParameter(parameters, 'username') ?? (url?.username ? decodeURIComponent(url.username) : undefined);
  const password = textParameter(parameters, 'password') ?? (url?.password ? decodeURIComponent(url.password) : undefined);
  requireReachable(name, door, [host]);
  return { door, host, port, tls, username, password };
}

function urlOf(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && url.hostname !== '' && /^(?:mqtts?|tcp|ssl):$/.test(url.protocol)) return url;
  throw new CepError('connector_error', `connector '${name}': its url is no address of an MQTT broker`, {
    hint: 'write it as "mqtt://host:1883", or "mqtts://host:8883" for TLS',
  });
}
