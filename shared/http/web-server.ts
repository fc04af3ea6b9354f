import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { CepError } from '../errors/error.ts';
import { limits } from '../limits.ts';
import type { TlsPair } from '../security/tls-files.ts';
import { refuseConnection, wholeAnswer } from './broken-request.ts';
import { sortUpgrades, type UpgradeOptions } from './upgrades.ts';

export interface WebServerOptions extends UpgradeOptions {
  readonly tls: TlsPair | undefined;
}

const limited = {
  maxHeaderSize: limits.requestHeaderBytesMax,
  headersTimeout: limits.requestHeadersMsMax,
  requestTimeout: limits.requestMsMax,
  keepAliveTimeout: limits.keepAliveMsMax,
  connectionsCheckingInterval: 1_000,
  // A request without Host gets an answer like any other error, from the guard.
  requireHostHeader: false,
};

/** A server of Node with our limits, which answers in our way also where no route is reached. */
export function createWebServer(listener: RequestListener, options: WebServerOptions): Server {
  const { tls, connections } = options;
  const inTurn = connections.inTurn(listener);
  const server =
    tls === undefined
      ? createPlainServer(limited, inTurn)
      : createSecureServer({ ...limited, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.requestHeadersMsMax }, inTurn);
  connections.watch(server);
  sortUpgrades(server, options);
  server.on('connect', (_request, socket) => {
    const error = new CepError('method_not_allowed', 'this server is no proxy: it takes no CONNECT');
    const refuse = (): void => refuseConnection(socket, error, { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' });
    connections.whenAnswered(socket, refuse);
  });
  const refuseExpectation: RequestListener = ({ headers }, response) => {
    const message = `Expect: found '${headers.expect}', expected 100-continue`;
    const answer = wholeAnswer(new CepError('expectation_failed', message));
    response.writeHead(417, answer.headers).end(answer.body);
  };
  server.on('checkExpectation', connections.inTurn(refuseExpectation));
  return server;
}
