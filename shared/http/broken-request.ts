import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors/codes.ts';
import { CepError } from '../errors/error.ts';
import { envelopeOf } from './error-envelope.ts';

const codes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request did not come in in time'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the headers are larger than the server takes'],
};

/** Answers what is no request at all, or came too slowly to become one, and ends its connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = codes[error.code ?? ''] ?? ['bad_request', 'what came in is no HTTP request'];
  const known = new CepError(code, message);
  const id = randomUUID();
  const body = JSON.stringify(envelopeOf(known, id));
  const head = [
    `HTTP/1.1 ${known.status} ${STATUS_CODES[known.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
