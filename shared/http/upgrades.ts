import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.ts';

/** Headers that ask for another protocol, and mean nothing once that is not taken. */
const upgradeHeaders: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

export interface UpgradeOptions {
  /** Whether a path, without its query, takes WebSockets. */
  readonly isWebSocketPath: (path: string) => boolean;
  /** Gets the handshakes, as `upgrade`. */
  readonly webSockets: EventEmitter;
  readonly connections: Connections;
}

/**
 * Hands on the WebSocket handshakes of paths that take them. Any other upgrade (`h2c` of Java and curl, a WebSocket to a path
 * without) is ignored, and the request is answered over HTTP/1.1, as RFC 9110, 7.8 has it; Node alone would take the connection
 * out of its hands and leave the body unread.
 */
export function sortUpgrades(server: Server, { isWebSocketPath, webSockets, connections }: UpgradeOptions): void {
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, rest: Buffer) => {
    const [path = ''] = (request.url ?? '').split('?');
    const isHandshake = request.method === 'GET' && /^websocket$/i.test(request.headers.upgrade ?? '') && isWebSocketPath(path);
    const socket = stream as Socket;
    connections.whenAnswered(socket, () => {
      socket.setTimeout(0);
      if (isHandshake) connections.release(socket);
      if (isHandshake && webSockets.emit('upgrade', request, socket, rest)) return;
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), rest]));
      server.emit('setSecureContext' in server ? 'secureConnection' : 'connection', socket);
    });
  });
}

/** The head of a request as it came, but for the upgrade. */
function headWithoutUpgrade({ method, url, httpVersion, rawHeaders, headers }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (!upgradeHeaders.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  const others = (headers.connection ?? '').split(',').filter((token) => !upgradeHeaders.has(token.trim().toLowerCase()));
  if (others.length > 0) lines.push(`connection: ${others.join(',')}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
