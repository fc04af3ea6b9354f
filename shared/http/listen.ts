import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { CepError } from '../errors/error.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the address is not known',
};

export interface Place {
  readonly bind: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A noun for what listens, for messages. */
  readonly what: string;
}

/** Begins to listen and gives the URL. @throws CepError `runtime_error` when the place is not to be had. */
export async function listen(app: FastifyInstance, { bind, port, what }: Place): Promise<string> {
  try {
    await app.listen({ host: bind, port });
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new CepError('runtime_error', `${what} cannot listen on ${bind}:${port}: ${reasons[code] ?? message}`, {
      hint: 'choose another port or address, or end what uses it',
      cause,
    });
  }
  const address = app.server.address() as AddressInfo;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const isSecure = 'setSecureContext' in app.server;
  return `${isSecure ? 'https' : 'http'}://${host}:${address.port}`;
}

const loopback = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i;

/** Whether an address can be reached from this machine only. */
export function isLoopback(bind: string): boolean {
  return loopback.test(bind);
}
