import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { CepError } from '../../../shared/errors/error.ts';
import type { NodeId } from '../core/messages.ts';
import { DamagedRecord } from '../storage/record.ts';
import { frameBytesMax } from '../transport/frames.ts';
import { FramedSocket } from './framed-socket.ts';
import {
  Authenticator,
  aliveMs,
  decodeHello,
  type Hello,
  handshakeBytesMax,
  type PeerSecrets,
  type PeerTls,
  type Purpose,
  type Verdict,
} from './handshake.ts';
import { UnprovenConnections } from './unproven-connections.ts';

/** Of connections whose TLS is not settled, and as many again that have not shown that they know the key. */
const strangersMax = 64;
const handshakeMsMax = 5_000;

/** Every member shows a certificate, and soon. */
const demanded = { requestCert: true, rejectUnauthorized: false, handshakeTimeout: handshakeMsMax };

export interface ListenerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly secrets: PeerSecrets;
  /** Says whether it may come in; who dials is told, once it has shown that it knows the key. */
  readonly judge: (hello: Hello) => Promise<Verdict>;
  /** A member has come in. */
  readonly admitted: (from: NodeId) => void;
  readonly take: (from: NodeId, packet: Uint8Array) => void;
  /** A connection came to nothing. `remote` is its address. */
  readonly refused: (remote: string, reason: string) => void;
}

/** Takes connections of other members: of each, one for every purpose, the newest. */
export class PeerListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  /** Until they are judged. */
  readonly #strangers = new Set<FramedSocket>();
  readonly #unsettled = new Set<Socket>();
  /** Apart from each other, so that who has no certificate takes no place of those that have one. */
  readonly #withoutTls = new UnprovenConnections(strangersMax);
  readonly #withoutKey = new UnprovenConnections(strangersMax);
  readonly #members = new Map<string, FramedSocket>();
  #isClosed = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    const { tls } = options.secrets;
    const taken = (socket: Socket): void => this.#accept(socket);
    this.#server =
      // Refused here rather than by Node, which would not say why, nor whom.
      tls === undefined ? createServer(taken) : createTlsServer({ ...demanded, ...tls }, (socket) => this.#acceptKnown(socket, taken));
    if (tls !== undefined) this.#server.on('connection', (socket: Socket) => this.#admitUnsettled(socket));
    this.#server.on('tlsClientError', (error: Error, socket: Socket) => {
      options.refused(remoteOf(socket), `TLS: ${plainly(error)}`);
      // One that says nothing Node leaves open.
      socket.destroy();
    });
  }

  /** @throws CepError `runtime_error` when it cannot bind */
  static async start(options: ListenerOptions): Promise<PeerListener> {
    const listener = new PeerListener(options);
    await new Promise<void>((resolve, reject) => {
      const { host, port } = options.listen;
      listener.#server.once('error', (cause) => {
        const hint = 'is another process there? stop it, or give this member another port';
        reject(new CepError('runtime_error', `the Raft listener cannot bind to ${host}:${port}: ${cause.message}`, { hint, cause }));
      });
      listener.#server.listen(options.listen, resolve);
    });
    listener.#server.removeAllListeners('error');
    listener.#server.on('error', (error) => options.refused('', error.message));
    return listener;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The certificate of connections that are made from now on. */
  renew(tls: PeerTls): void {
    if ('setSecureContext' in this.#server) (this.#server as TlsServer).setSecureContext({ ...demanded, ...tls });
  }

  #admitUnsettled(socket: Socket) {
    const settled = this.#withoutTls.add(remoteOf(socket), () => socket.destroy(new Error(displacedReason)));
    this.#unsettled.add(socket);
    socket.once('close', () => {
      settled();
      this.#unsettled.delete(socket);
    });
  }

  #acceptKnown(socket: TLSSocket, taken: (socket: Socket) => void) {
    this.#withoutTls.delete(remoteOf(socket));
    // Who goes on with a session shows none, and Node takes it for one that was shown, even when none was. Members begin anew each time.
    if (socket.authorized && !socket.isSessionReused()) return taken(socket);
    const remote = remoteOf(socket);
    socket.on('error', () => undefined);
    socket.destroy();
    this.#options.refused(
      remote,
      `TLS: it shows no certificate that this member takes (${socket.authorizationError ?? 'it goes on with an earlier session'})`,
    );
  }

  #accept(socket: Socket) {
    const remote = remoteOf(socket);
    const framed = new FramedSocket(socket, handshakeBytesMax);
    this.#strangers.add(framed);
    const proven = this.#withoutKey.add(remote, () => framed.destroy(displacedReason));
    const timer = setTimeout(() => framed.destroy(`it has not shown within ${handshakeMsMax} ms that it knows the key`), handshakeMsMax);
    framed.ended = (reason) => {
      clearTimeout(timer);
      proven();
      this.#strangers.delete(framed);
      if (!this.#isClosed) this.#options.refused(remote, reason ?? 'it was closed before it had shown that it knows the key');
    };
    framed.take = (bytes) =>
      this.#greeted(framed, bytes, () => {
        clearTimeout(timer);
        proven();
      });
  }

  #greeted(framed: FramedSocket, bytes: Uint8Array, known: () => void) {
    const hello = attempt(() => decodeHello(bytes));
    if (hello instanceof DamagedRecord) return framed.destroy(hello.message);
    const { self, key } = this.#options.secrets;
    const authenticator = new Authenticator(key, bytes);
    const challenge = authenticator.challenge({ ...self, from: self.id });
    framed.take = (proof) => {
      if (!authenticator.isProof(challenge, proof)) return framed.destroy('it does not know the key of the group');
      known();
      // Until it is judged, nothing more is taken of it.
      framed.take = () => framed.destroy('it goes on before it is told whether it may');
      void this.#judge(framed, hello, (verdict) => authenticator.verdict(challenge, verdict));
    };
    framed.send(challenge);
  }

  async #judge(framed: FramedSocket, hello: Hello, verdictOf: (verdict: Verdict) => Uint8Array): Promise<void> {
    const verdict = await this.#options.judge(hello);
    if (framed.isOver) return;
    framed.send(verdictOf(verdict));
    this.#strangers.delete(framed);
    const remote = remoteOf(framed.socket);
    if (verdict !== 'accepted') {
      framed.ended = () => undefined;
      framed.end();
      this.#options.refused(remote, `node ${hello.from}: ${refusalTexts[verdict]}`);
      return;
    }
    this.#admit(framed, hello.from, hello.purpose);
  }

  /** Ends what is open of a member; it is judged anew when it comes back. */
  expel(id: NodeId): void {
    for (const [place, framed] of this.#members) if (place.startsWith(`${id} `)) framed.destroy();
  }

  #admit(framed: FramedSocket, from: NodeId, purpose: Purpose): void {
    const place = `${from} ${purpose}`;
    this.#members.get(place)?.destroy();
    this.#members.set(place, framed);
    framed.allow(frameBytesMax);
    this.#options.admitted(from);
    const alive = setInterval(() => framed.send(new Uint8Array(0)), aliveMs);
    framed.ended = (reason) => {
      clearInterval(alive);
      if (this.#members.get(place) === framed) this.#members.delete(place);
      if (reason !== undefined && !this.#isClosed) this.#options.refused(remoteOf(framed.socket), `node ${from}: ${reason}`);
    };
    framed.take = (packet) => {
      try {
        this.#options.take(from, packet);
      } catch (cause) {
        if (!(cause instanceof DamagedRecord)) throw cause;
        framed.destroy(cause.message);
      }
    };
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#isClosed = true;
    for (const open of [...this.#strangers, ...this.#unsettled, ...this.#members.values()]) open.destroy();
    await closed;
  }
}

const displacedReason = `a new connection takes its place: of ${strangersMax} none had shown yet that it knows the key`;

const refusalTexts: Readonly<Record<Exclude<Verdict, 'accepted'>, string>> = {
  otherCluster: 'it is of another cluster',
  otherNode: 'it looks for another node here',
  identityLost: 'it has other data than the member that had this id before',
  notAMember: 'its id is that of this node',
  removed: 'it was removed from the group, and still runs',
};

function attempt<T>(read: () => T): T | DamagedRecord {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof DamagedRecord) return cause;
    throw cause;
  }
}

/** What OpenSSL says, in words where it is one of the common mistakes. */
function plainly({ message, code }: NodeJS.ErrnoException): string {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_HTTP_REQUEST') return 'it speaks no TLS (--raft-tls-ca)';
  return message.trim();
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? '' : `${remoteAddress}:${remotePort}`;
}
