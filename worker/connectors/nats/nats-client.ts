import { randomBytes } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import type { Authenticator, ConnectionOptions } from 'nats';
import type { NatsConnectionImpl } from 'nats/lib/nats-base-client/internal_mod.js';
import { answered, type OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { inTime } from '../in-time.ts';

/** Time for a server to answer, ms. */
export const ANSWER_MS_MAX = 10_000;
/** How often it is asked for a sign of life, ms; two that do not come end the connection. */
const PING_MS = 5_000;
const PINGS_OPEN_MAX = 2;
/** Of what a server says of itself before anything else: the library looks through all of it again whenever more comes. */
const INFO_BYTES_MAX = 65_536;

/** How a client says who it is. `nkey` is a seed, `creds` the text of a credentials file. */
export type NatsLogin =
  | { readonly user: string; readonly pass: string }
  | { readonly token: string }
  | { readonly nkey: string }
  | { readonly creds: string };

/** Servers of one cluster, of which the first that takes a connection is used. */
export interface NatsAddress {
  readonly door: OutboundDoor;
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** TLS is insisted on; else it is spoken where the server wants it. */
  readonly tls: boolean;
  readonly login: NatsLogin | undefined;
}

type Dialled = { readonly hostname: string; readonly port: number };
type OwnOptions = ConnectionOptions & { readonly door: OutboundDoor; readonly onSocket: (socket: Socket) => void };

/** A message as it goes out to a subject. */
export interface Published {
  readonly subject: string;
  /** Values by name; the names as they are to be written. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly payload: string;
}

interface Refusals {
  readonly subjects: Set<string>;
  /** What else the server had to say. */
  other: string | undefined;
}

/** What the server has said against something that was sent, and not of which subject. */
export class Complaint extends Error {}

/** A connection that is there, over a socket of the door. It does not connect again. */
export class NatsClient {
  readonly connection: NatsConnectionImpl;
  /** Resolves with the reason when the connection is over. */
  readonly over: Promise<unknown>;
  readonly #sockets: readonly Socket[];
  /** For each request under way: what the server has refused since it began. */
  readonly #refusals = new Set<Refusals>();
  /** Told when the connection is over: the library would have them wait for an answer. */
  readonly #waiting = new Set<(reason: unknown) => void>();

  private constructor(connection: NatsConnectionImpl, sockets: readonly Socket[]) {
    this.connection = connection;
    this.#sockets = sockets;
    this.over = connection.closed().then((error) => error ?? new Error('the connection was lost'));
    void this.over.then((reason) => {
      for (const end of this.#waiting) end(reason);
    });
    this.#listen();
  }

  /** @throws what is wrong with the connection or the login */
  static async open(address: NatsAddress): Promise<NatsClient> {
    const { door, servers, tls, login } = address;
    const { NatsConnectionImpl } = await library();
    const sockets: Socket[] = [];
    const options: OwnOptions = {
      servers: servers.map(({ host, port }) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`),
      name: 'cep',
      reconnect: false,
      // Whatever else a server says of its cluster is not looked up past the door.
      ignoreClusterUpdates: true,
      resolve: false,
      noRandomize: true,
      timeout: ANSWER_MS_MAX,
      pingInterval: PING_MS,
      maxPingOut: PINGS_OPEN_MAX,
      ...(tls ? { tls: {} } : {}),
      ...(await loginOptions(login)),
      door,
      onSocket: (socket) => sockets.push(socket),
    };
    try {
      return new NatsClient((await NatsConnectionImpl.connect(options)) as NatsConnectionImpl, sockets);
    } catch (error) {
      for (const socket of sockets) socket.destroy();
      throw error;
    }
  }

  /** Where the library reads it: those who ask it for its `status` hear of a refusal after the answer that the server has sent behind it. */
  #listen(): void {
    const { protocol } = this.connection;
    const dispatch = protocol.dispatchStatus.bind(protocol);
    protocol.dispatchStatus = (status) => {
      const { type, data, permissionContext } = status;
      if (type === 'error') {
        for (const refusals of this.#refusals) {
          if (permissionContext?.operation === 'publish') refusals.subjects.add(permissionContext.subject);
          else if (permissionContext === undefined) refusals.other ??= String(data);
        }
      }
      dispatch(status);
    };
  }

  /**
   * Sends them as one text: the library makes objects and buffers for the parts of each message, which cost more than all else that is done for
   * it. Those that it would refuse are left out. How it went: true for those that were sent. @throws Error when the connection is over
   */
  publishAll(messages: readonly Published[]): readonly boolean[] {
    const { protocol } = this.connection;
    const { headers: takesHeaders = false, max_payload: bytesMax = 0 } = protocol.info ?? {};
    const texts = messages.map((message) => (takesHeaders ? published(message, bytesMax) : undefined));
    const text = texts.join('');
    if (text !== '') {
      this.connection._check('one of them', false, true);
      protocol.sendCommand(Buffer.from(text));
    }
    return texts.map((each) => each !== undefined);
  }

  /** Resolves when the server has worked through everything that was sent. @throws Error when it does not answer in time, or the connection is lost */
  async flushed(): Promise<void> {
    let end: (reason: unknown) => void = () => undefined;
    const flushed = new Promise<void>((resolve, reject) => {
      end = reject;
      this.connection.flush().then(resolve, reject);
    });
    this.#waiting.add(end);
    try {
      await inTime(flushed, ANSWER_MS_MAX);
    } finally {
      this.#waiting.delete(end);
    }
  }

  /** There will be no more answers. */
  get isOver(): boolean {
    return this.connection.isClosed();
  }

  /**
   * Publishes, and resolves when the server has worked through that: with the subjects that it refused meanwhile. @throws Error when it does not
   * answer in time, Complaint when it says of no subject what is wrong
   */
  async refusedOf(publish: () => void): Promise<ReadonlySet<string>> {
    const refusals: Refusals = { subjects: new Set(), other: undefined };
    this.#refusals.add(refusals);
    try {
      publish();
      await this.flushed();
    } finally {
      this.#refusals.delete(refusals);
    }
    if (refusals.other !== undefined) throw new Complaint(`the server complains: ${refusals.other}`);
    return refusals.subjects;
  }

  /** A subject of this connection alone, for answers. */
  inbox(): string {
    return `_INBOX.${randomBytes(12).toString('hex')}`;
  }

  /** What came so far was taken. */
  answered(): void {
    answered(this.#sockets.at(-1));
  }

  /** Reads no further, which holds the server up as long as it lets itself be. */
  pause(): void {
    this.#sockets.at(-1)?.pause();
  }

  resume(): void {
    this.#sockets.at(-1)?.resume();
  }

  /** Ends the connection, whatever is under way. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
    void this.connection.close().catch(() => undefined);
  }
}

/** A message as the protocol writes it; undefined where that cannot be. */
function published({ subject, headers, payload }: Published, bytesMax: number): string | undefined {
  let head = 'NATS/1.0\r\n';
  for (const [name, value] of headers) {
    if (!isHeaderValue.test(value)) return undefined;
    head += `${name}: ${value}\r\n`;
  }
  // Of printable ASCII: as many bytes as characters, and two for the empty line.
  const headBytes = head.length + 2;
  const bytes = headBytes + Buffer.byteLength(payload);
  return bytes > bytesMax ? undefined : `HPUB ${subject} ${headBytes} ${bytes}\r\n${head}\r\n${payload}\r\n`;
}

/** What is written as it is, and comes out as it went in. */
const isHeaderValue = /^[!-~]+$/;

let loading: ReturnType<typeof load> | undefined;

/** The library, connecting through doors: it has one way to connect for all connections, so each brings its door along. */
function library(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}

async function load() {
  const { NatsConnectionImpl, setTransportFactory } = await import('nats/lib/nats-base-client/internal_mod.js');
  const { NodeTransport } = await import('nats/lib/src/node_transport.js');
  class DoorTransport extends NodeTransport {
    override connect(to: Dialled & { tlsName: string }, options: ConnectionOptions): Promise<void> {
      const { hostname } = to;
      // A certificate is for the name or the address that was written.
      const named = isIP(hostname) === 0 ? { ...to, tlsName: hostname } : { ...to, tlsName: '' };
      const tls = options.tls === null ? null : { ...options.tls, host: hostname };
      // Where TLS was not asked for there is no `tls` for the library to insist on.
      return super.connect(named, options.tls === undefined ? options : { ...options, tls });
    }

    override dial({ hostname, port }: Dialled): Promise<Socket> {
      const { door, onSocket } = this.options as OwnOptions;
      return new Promise((resolve, reject) => {
        const socket = door.connect({ host: hostname, port });
        onSocket(socket);
        socket.setNoDelay(true);
        const closed = (): void => reject(new Error('the connection was closed'));
        socket.once('error', reject).once('close', closed);
        socket.once('connect', () => {
          socket.removeAllListeners();
          resolve(socket);
        });
      });
    }

    override peekInfo(): ReturnType<InstanceType<typeof NodeTransport>['peekInfo']> {
      let bytes = 0;
      this.socket.on('data', ({ length }: Buffer) => {
        bytes += length;
        if (bytes > INFO_BYTES_MAX) this.socket.destroy(new Error(`more than ${INFO_BYTES_MAX} bytes came that are no greeting of NATS`));
      });
      return super.peekInfo();
    }

    /** Over TLS it is another socket now. */
    override setupHandlers(): void {
      (this.options as OwnOptions).onSocket(this.socket);
      super.setupHandlers();
    }
  }
  setTransportFactory({ factory: () => new DoorTransport() });
  return { NatsConnectionImpl };
}

async function loginOptions(login: NatsLogin | undefined): Promise<ConnectionOptions> {
  if (login === undefined) return {};
  if ('user' in login || 'token' in login) return { ...login };
  const { credsAuthenticator, nkeyAuthenticator } = await import('nats/lib/nats-base-client/internal_mod.js');
  const bytes = new TextEncoder().encode('nkey' in login ? login.nkey : login.creds);
  const authenticator: Authenticator = 'nkey' in login ? nkeyAuthenticator(bytes) : credsAuthenticator(bytes);
  return { authenticator };
}

const reasons: Readonly<Record<string, string>> = {
  AUTHORIZATION_VIOLATION: 'the server refuses the login (Authorization Violation)',
  AUTHENTICATION_EXPIRED: 'the login has expired',
  AUTHENTICATION_TIMEOUT: 'the server has waited too long for the login',
  CONNECTION_CLOSED: 'the connection was lost',
  DISCONNECT: 'the connection was lost',
  PERMISSIONS_VIOLATION: 'the user may not do that (Permissions Violation)',
  TIMEOUT: `no answer within ${ANSWER_MS_MAX / 1000} s`,
  SERVER_OPT_NA: 'the server speaks no TLS',
  '503': 'nobody answers: the server has no JetStream, or no stream takes this subject',
};

/** The library's name for what went wrong. */
export function natsCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What went wrong, in words. */
export function natsReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { chainedError } = error as { readonly chainedError?: unknown };
  if (natsCode(error) === 'CONNECTION_REFUSED' && chainedError instanceof Error) return natsReason(chainedError);
  // The library has no better word for a connection that ends before anything was said.
  if (error.message === 'node provided an undefined error!') return 'the connection was closed before the server had said who it is';
  const known = reasons[natsCode(error) ?? ''];
  if (known !== undefined) return known;
  return error.message === '' ? (natsCode(error) ?? error.name) : error.message;
}

/** The door refused it, however the library wrapped that. */
export function forbiddenBy(error: unknown): ForbiddenAddress | undefined {
  const { chainedError } = (error ?? {}) as { readonly chainedError?: unknown };
  return [error, chainedError].find((one) => one instanceof ForbiddenAddress);
}

/** What JetStream has answered. */
export function streamErrorOf(error: unknown): { readonly err_code: number; readonly description: string } | undefined {
  const { api_error } = (error ?? {}) as { readonly api_error?: { readonly err_code: number; readonly description: string } };
  return api_error;
}

/** The user may not publish to the subject. */
export function mayNotPublish(error: unknown): boolean {
  const { permissionContext } = (error ?? {}) as { readonly permissionContext?: { readonly operation: string } };
  return permissionContext?.operation === 'publish';
}
