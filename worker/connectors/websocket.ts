import { CepError } from '../../shared/errors/error.ts';
import { apartFromLogin } from '../../shared/outbound/url-login.ts';
import { ForbiddenAddress } from '../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import { headersParameter, textParameter } from './parameters.ts';
import { followed } from './profiles.ts';
import type { WebSocketAddress } from './websocket/websocket-client.ts';
import { WebSocketSink } from './websocket/websocket-sink.ts';
import { WebSocketSource } from './websocket/websocket-source.ts';
import { webSocketSteps } from './websocket/websocket-test.ts';

/** WebSockets (RFC 6455) of other servers: this process is the client. */
export const websocketConnector: ConnectorType = {
  name: 'websocket',
  openSource: (settings, environment) => {
    const address = followed(settings, (now) => addressOf(now, environment));
    return new WebSocketSource({
      get address() {
        return address();
      },
      topic: settings.topic,
    });
  },
  openSink: (settings, environment) => {
    const topic = textParameter(settings.parameters, 'topic') ?? null;
    return new WebSocketSink({ address: addressOf(settings, environment), topic });
  },
  async *test(use, environment) {
    yield* webSocketSteps(addressOf(use, environment));
  },
};

/** A login in the url goes as Basic authentication. @throws CepError `connector_error` */
function addressOf({ name, parameters }: ConnectorSettings, { door }: ConnectorEnvironment): WebSocketAddress {
  const text = textParameter(parameters, 'url') ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '' || !/^wss?:$/.test(url.protocol)) {
    throw new CepError('connector_error', `connector '${name}': its url is no address of a WebSocket`, {
      hint: 'write it as "ws://host/path", or "wss://host/path" for TLS',
    });
  }
  // A fragment is none of the server's business, and no WebSocket address may have one.
  url.hash = '';
  const { address, login } = apartFromLogin(url);
  const headers = headersParameter(parameters);
  if (login.authorization !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === 'authorization'))
    throw new CepError('connector_error', `connector '${name}': its url holds a login and its headers another`, { hint: 'leave one out' });
  try {
    door.requireHost(address.hostname);
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    const hint = 'whoever runs the server can allow a network with --tenant-networks';
    throw new CepError('connector_error', `connector '${name}': ${cause.message}`, { hint, cause });
  }
  return { door, url: address, headers: { ...login, ...headers } };
}
