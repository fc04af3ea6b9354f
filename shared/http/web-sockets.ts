import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { CepError } from '../errors/error.ts';
import { limits } from '../limits.ts';
import { refuseConnection } from './broken-request.ts';
import { farewellMs } from './connections.ts';
import { selectProtocol } from './request-identity.ts';

/** Lets routes take WebSockets, whose handshakes come from `handshakes` as `upgrade`. */
export async function takeWebSockets(app: FastifyInstance, handshakes: EventEmitter): Promise<void> {
  await app.register(fastifyWebsocket, {
    options: {
      // The plugin only listens to it.
      server: handshakes as Server,
      maxPayload: limits.webSocketMessageBytesMax,
      perMessageDeflate: false,
      handleProtocols: selectProtocol,
    },
  });
  // The plugin says goodbye to them all; who does not answer is cut.
  app.addHook('preClose', async () => {
    const cut = (): void => {
      for (const client of app.websocketServer.clients) client.terminate();
    };
    setTimeout(cut, farewellMs).unref();
  });
  app.websocketServer.on('wsClientError', (error: Error, socket: Duplex) => {
    const refusal = new CepError('bad_request', `this is no WebSocket handshake: ${error.message}`, {
      hint: 'a handshake has Upgrade, Connection, Sec-WebSocket-Key and Sec-WebSocket-Version: 13',
    });
    refuseConnection(socket, refusal, { 'sec-websocket-version': '13' });
  });
}
