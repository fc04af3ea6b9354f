import { toCepError } from '../../../shared/http/error-envelope.ts';
import type { Access, Runtime } from '../../runtime/service.ts';
import { Connection } from '../streaming/connection.ts';
import type { StreamClients } from '../streaming/stream-clients.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

/** The close code of a server that has too much to do (IANA registry of WebSocket close codes). */
const tryAgainLater = 1013;

interface TurnsOfCallers {
  /** Resolves when the caller may send more; undefined when it may at once. */
  enter(caller: Access, weight: number): undefined | Promise<void>;
  /** A message is answered. */
  leave(caller: Access): void;
}

/**
 * `/ws`: a connection with a program of its own, which can follow deployed pipelines too.
 */
export function webSocketRoute(runtime: Runtime, connections: StreamClients<Connection>, turns: TurnsOfCallers): ApiRoute {
  return apiRoute({
    method: 'GET',
    path: '/ws',
    operation: 'openWebSocket',
    summary:
      'Open a WebSocket (subprotocol cep.v1; the key may stand in a subprotocol cep-auth.<key>, or cep-auth-base64url.<key in base64url>)',
    tag: 'events',
    access: 'key',
    keyInQuery: true,
    success: { 101: 'The connection is a WebSocket' },
    errors: ['upgrade_required', 'forbidden'],
    webSocket: (socket, { caller, telemetry, request: { socket: transport } }) => {
      try {
        connections.requireRoom(caller.tenantId);
      } catch (error) {
        socket.close(tryAgainLater, toCepError(error).message);
        return;
      }
      const onClose = (connection: Connection): void => connections.remove(connection);
      const turn = { enter: (weight: number) => turns.enter(caller, weight), leave: () => turns.leave(caller) };
      connections.add(new Connection({ socket, transport, access: caller, runtime, turn, turns: connections.turns, telemetry, onClose }));
    },
  });
}
