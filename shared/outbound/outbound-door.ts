import { lookup as resolveName } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContextOptions } from 'node:tls';
import { limits } from '../limits.ts';
import { ForbiddenAddress, type NetworkPolicy } from '../security/network-policy.ts';

/** The other end of a connection. */
export interface Target {
  /** A name or an address, in whatever spelling; IPv6 with or without brackets. */
  readonly host: string;
  readonly port: number;
  /** Speaks TLS. @default plain TCP */
  readonly tls?: SecureContextOptions & Pick<ConnectionOptions, 'servername' | 'ALPNProtocols'>;
  /** What may come without being a whole answer or message; more ends the connection. @default that of the door */
  readonly heldBytesMax?: number;
}

/**
 * The one way out: whatever this process connects to, it connects to through a door, which knows on whose behalf. What is looked at is
 * the address of the very connection: a host that is written as an address is judged as it stands, a name is looked up once, all its
 * addresses are judged, and one of these is connected to. So neither how a target is written nor a name that means something else a
 * moment later leads past it. `web-door.ts` is the same for web addresses; drivers of brokers and databases that bring their own
 * protocol take a socket of `connect`, or `requireHost` and `lookup` where they insist on opening it.
 */
export class OutboundDoor {
  readonly #network: NetworkPolicy;
  readonly #heldBytesMax: number;

  /** @param heldBytesMax As that of a target, for all that name none. */
  constructor(network: NetworkPolicy, heldBytesMax: number = limits.connectionHeldBytesMax) {
    this.#network = network;
    this.#heldBytesMax = heldBytesMax;
  }

  /**
   * For drivers that keep what the other side sends until it is whole, whatever its length: a machine that nobody vouches for could fill the
   * memory that all tenants share, so a tenant reaches the networks that the operator has named and no public address.
   */
  withoutPublic(): OutboundDoor {
    return new OutboundDoor(this.#network.withoutPublic(), this.#heldBytesMax);
  }

  /** For a host that is written as an address, which the system looks up nowhere. @throws ForbiddenAddress */
  requireHost(host: string): void {
    const address = withoutBrackets(host);
    if (isIP(address) !== 0 && !this.#network.permits(address)) throw new ForbiddenAddress(this.#network);
  }

  /** Looks a name up for a connection. One address that may not be reached refuses them all. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) done(error, []);
      else if (!addresses.every(({ address }) => this.#network.permits(address))) done(new ForbiddenAddress(this.#network), []);
      else if (options.all) done(null, addresses);
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };

  /**
   * A socket that connects from now on; what goes wrong on the way is its `error`, and so are what a driver throws while it reads, and
   * more bytes than a driver may hold. Where the other side sends unasked, the driver says with `answered` what it has taken.
   * @throws ForbiddenAddress
   */
  connect({ host, port, tls, heldBytesMax = this.#heldBytesMax }: Target): Socket {
    this.requireHost(host);
    const to = { host: withoutBrackets(host), port, lookup: this.lookup };
    return readSafely(tls === undefined ? tcpTo(to) : connectTls({ ...saidTo(to.host), ...tls, ...to }), heldBytesMax);
  }
}

/** Bytes that have come over a connection and were made nothing of yet, as far as is known. */
const heldBytes = new WeakMap<object, number>();

/** What has come over the connection so far was taken: its driver holds nothing of it. */
export function answered(socket: object | undefined): void {
  if (socket !== undefined) heldBytes.set(socket, 0);
}

/**
 * Drivers throw where they are sent what their protocol does not know, in the middle of reading, where nobody catches it: whoever sends that
 * could end this process. And they keep what comes until it is whole, however long it says it is: whoever floods one could fill the memory.
 * A driver that sends has read what it sends for, so what is held counts from there.
 */
function readSafely(socket: Socket, heldBytesMax: number): Socket {
  const { emit, write } = socket;
  socket.write = (...values: unknown[]): boolean => {
    answered(socket);
    return Reflect.apply(write, socket, values) as boolean;
  };
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    const deliver = (): boolean => Reflect.apply(emit, socket, [event, ...values]) as boolean;
    if (event !== 'data') return deliver();
    const held = (heldBytes.get(socket) ?? 0) + (values[0] as Buffer).length;
    heldBytes.set(socket, held);
    try {
      if (held > heldBytesMax) throw new Error(`more than ${heldBytesMax} bytes came that are no whole answer`);
      return deliver();
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
  return socket;
}

/**
 * A driver may begin TLS on top by itself. For whom the certificate must be then, Node is told by the driver, else reads it here, and else
 * takes it to be `localhost`; only where it has looked up a name it has written that down.
 */
function tcpTo(to: TcpNetConnectOpts & { readonly host: string }): Socket {
  const socket = connectTcp(to);
  return isIP(to.host) === 0 ? socket : Object.assign(socket, { _host: to.host });
}

/** A server of many names shows the certificate of the one that it is asked for; Node itself says none. An address is no name, and a name has no dot at its end (RFC 6066, 3). */
function saidTo(host: string): Pick<ConnectionOptions, 'servername'> {
  const name = host.replace(/\.$/, '');
  return isIP(name) === 0 ? { servername: name } : {};
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
