import type { LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import type { OutboundDoor, Target } from '../../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { StepFailure, type TestStep } from './test-step.ts';

export interface Reach {
  readonly door: OutboundDoor;
  /** A name or an address; IPv6 with or without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean | NonNullable<Target['tls']>;
}

/** The steps below every protocol, each over a connection of its own: the name, TCP, and TLS where it is spoken. */
export function* reachSteps({ door, host, port, tls }: Reach): Generator<TestStep> {
  const target = { host, port };
  yield { name: 'name', run: () => resolved(door, host) };
  yield {
    name: 'tcp',
    run: async (signal) => {
      await opened(() => door.connect(target), { event: 'connect', signal, failureOf: (error) => tcpFailure(error, target) });
      return `${host}:${port} takes connections`;
    },
  };
  if (tls === false) return;
  const secure = { ...target, tls: tls === true ? {} : tls };
  yield {
    name: 'tls',
    run: async (signal) => {
      await opened(() => door.connect(secure), { event: 'secureConnect', signal, failureOf: tlsFailure });
      return `TLS is spoken, with a certificate for '${host}' that is trusted`;
    },
  };
}

async function resolved(door: OutboundDoor, host: string): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return `${bare} is an address`;
  const addresses = await new Promise<readonly LookupAddress[]>((resolve, reject) => {
    door.lookup(bare, { all: true }, (error, found) => {
      if (error) reject(nameFailure(error, host));
      else resolve(found as LookupAddress[]);
    });
  });
  return `'${host}' is ${addresses.map(({ address }) => address).join(', ')}`;
}

interface Opening {
  readonly event: 'connect' | 'secureConnect';
  readonly signal: AbortSignal;
  readonly failureOf: (error: Error) => Error;
}

/** Opens a connection and closes it again. */
async function opened(connect: () => Socket, { event, signal, failureOf }: Opening): Promise<void> {
  const socket = connect();
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, () => resolve());
      socket.on('error', (error) => reject(failureOf(error)));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

function nameFailure(cause: Error, host: string): Error {
  if (cause instanceof ForbiddenAddress) return cause;
  return new StepFailure({
    found: `no address of '${host}' (${codeOf(cause)})`,
    expected: 'a name that leads to a server',
    hint: 'correct the name of the host, or the name servers of this machine',
    cause,
  });
}

const tcpHints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the server, or correct the port: nothing listens there',
  EHOSTUNREACH: 'look at the network and its firewalls: there is no way to this machine',
  ENETUNREACH: 'look at the network and its firewalls: there is no way to this machine',
  ETIMEDOUT: 'look at the network and its firewalls: nothing answers',
};

function tcpFailure(cause: Error, { host, port }: Pick<Target, 'host' | 'port'>): Error {
  if (cause instanceof ForbiddenAddress) return cause;
  const code = codeOf(cause);
  return new StepFailure({
    found: `no connection (${code})`,
    expected: `a server at ${host}:${port}`,
    hint: tcpHints[code] ?? 'look at the server and the network between',
    cause,
  });
}

function tlsFailure(cause: Error): Error {
  if (cause instanceof ForbiddenAddress) return cause;
  const code = codeOf(cause);
  const isSpoken = /^(?:ERR_TLS_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_)/.test(code);
  if (!isSpoken) {
    const hint = 'use the port that speaks TLS, or leave TLS out of the settings where the server has none';
    return new StepFailure({ found: `no TLS at this port (${code})`, expected: 'a server that speaks TLS', hint, cause });
  }
  return new StepFailure({
    found: `a certificate that is not trusted (${cause.message})`,
    expected: 'one for this name, of an authority that is trusted',
    hint: certificateHint(code),
    cause,
  });
}

function certificateHint(code: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'connect by a name that the certificate is for';
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate of the server';
  return 'make the authority known to this machine: NODE_EXTRA_CA_CERTS names a PEM file';
}

/** The code of the system or of the TLS library; of several addresses that were tried, that of the first. */
function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.message;
}
