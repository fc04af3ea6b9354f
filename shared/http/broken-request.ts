import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors/codes.ts';
import { CepError } from '../errors/error.ts';
import { type Connections, farewellMs } from './connections.ts';
import { envelopeOf, errorHeaders } from './error-envelope.ts';

const codes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request did not come in in time'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the headers are larger than the server takes'],
  HPE_INVALID_METHOD: ['bad_request', 'what came in begins with no method of HTTP'],
};

/** Answers what is no request at all, or came too slowly to become one, when its turn comes, and ends its connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, connections: Connections): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = codes[error.code ?? ''] ?? ['bad_request', 'what came in is no HTTP request'];
  const refuse = (): void => refuseConnection(socket, new CepError(code, message));
  if (code === 'request_timeout') connections.inPlaceOfLate(socket, refuse);
  else connections.inPlaceOfBroken(socket, refuse);
}

/** Writes an error to a connection that has no response object, and ends it. */
export function refuseConnection(socket: Duplex, error: CepError, more: Readonly<Record<string, string>> = {}): void {
  const { headers, body } = wholeAnswer(error);
  const lines = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  // What else comes is for nobody; its end is heard of only when it is read, and there may be none.
  socket.resume();
  setTimeout(() => socket.destroy(), farewellMs).unref();
}

/** An error as headers and body, for answers that no route makes; their connection ends with them. */
export function wholeAnswer(error: CepError): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const id = randomUUID();
  const body = JSON.stringify(envelopeOf(error, id));
  const headers = {
    ...errorHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': id,
    connection: 'close',
  };
  return { headers, body };
}
