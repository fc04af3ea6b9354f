import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { limits } from '../../../shared/limits.ts';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';

/** From the look-up of the name to the end of the handshake, and for the answer to a ping, ms. */
export const ANSWER_MS_MAX = 10_000;
const PORT = 80;
const TLS_PORT = 443;

export interface WebSocketAddress {
  readonly door: OutboundDoor;
  /** Without a login and a fragment. */
  readonly url: URL;
  /** Of the handshake. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A connection that is open, or was. */
export interface OpenWebSocket {
  readonly socket: WebSocket;
  /** Resolves when it has come to its end. */
  readonly closed: Promise<WebSocketClose>;
}

export interface WebSocketClose {
  /** RFC 6455, section 7.4; 1006 = without a word. */
  readonly code: number;
  readonly reason: string;
}

/**
 * Connects through the door. A message that is longer than an event may be ends the connection, and none is compressed, so it takes no more
 * memory than has come over the line. `arrived`: what comes, the first message included.
 * @throws what is wrong with the connection or the handshake
 */
export async function openWebSocket(
  { door, url, headers }: WebSocketAddress,
  arrived: (bytes: Buffer, socket: WebSocket) => void = () => undefined,
): Promise<OpenWebSocket> {
  const { WebSocket: Client } = await import('ws');
  const isSecure = url.protocol === 'wss:';
  const host = url.hostname;
  const port = Number(url.port) || (isSecure ? TLS_PORT : PORT);
  const tls = { ALPNProtocols: ['http/1.1'] };
  const socket = new Client(url, {
    headers: { ...headers },
    // The library itself keeps to what a message may have.
    createConnection: () => door.connect({ host, port, heldBytesMax: Number.POSITIVE_INFINITY, ...(isSecure ? { tls } : {}) }),
    maxPayload: limits.eventBytesMax,
    perMessageDeflate: false,
  });
  // All listeners stand before it opens: what comes right behind the handshake would find nobody later.
  socket.on('message', (data) => arrived(data as Buffer, socket));
  const closed = closeOf(socket);
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch (error) {
    socket.terminate();
    throw isTimeout(error) ? new Error(`no answer to the handshake within ${ANSWER_MS_MAX / 1_000} s`) : error;
  }
  return { socket, closed };
}

function closeOf(socket: WebSocket): Promise<WebSocketClose> {
  return new Promise((resolve) => {
    let problem: string | undefined;
    socket.on('error', (error) => {
      problem ??= webSocketReason(error);
    });
    socket.once('close', (code, reason) => resolve({ code, reason: problem ?? closedBy(code, reason) }));
  });
}

/** That the other side has ended a connection, in words. */
export function closedBy(code: number, reason: Buffer): string {
  const said = reason.toString('utf8');
  return `the other side closed the connection with ${code}${said === '' ? '' : ` (${said})`}`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** What went wrong, in words. */
export function webSocketReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return `found a message of more than ${limits.eventBytesMax} bytes`;
  return error.message === '' && typeof code === 'string' ? code : error.message;
}
