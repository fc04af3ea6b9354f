import { isIP } from 'node:net';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import type { NodeId } from '../core/messages.ts';
import { frameBytesMax } from '../transport/frames.ts';
import { FramedSocket } from './framed-socket.ts';
import {
  Authenticator,
  aliveMissedMax,
  aliveMs,
  type Challenge,
  encodeHello,
  handshakeBytesMax,
  type PeerSecrets,
  type PeerTls,
  type Purpose,
  type Verdict,
} from './handshake.ts';

const retryMsMin = 20;
const retryMsMax = 1_000;
/** Of a member that was told that it was removed: it stays so. */
const removedRetryMs = 60_000;
const connectMsMax = 2_000;
const otherKey = 'who listens there has another key than this member (CEP_RAFT_KEY; without it, one made of CEP_API_KEY)';

/** Why there is no connection: nobody listens there, or anything else. */
export type LinkLoss = 'closed' | 'refused' | 'failed';

export interface LinkOptions {
  readonly to: NodeId;
  readonly host: string;
  readonly port: number;
  readonly purpose: Purpose;
  readonly secrets: Omit<PeerSecrets, 'tls'>;
  /** What to show by now; undefined where members talk in the clear. */
  readonly tls: () => PeerTls | undefined;
  readonly door: OutboundDoor;
  readonly random: () => number;
  /** Whether the member there has the data that it had when it was first met. */
  readonly admits: (incarnation: number) => Promise<boolean>;
  readonly opened: () => void;
  /** `closed`: a connection that was open is over. The others: an attempt has come to nothing. */
  readonly lost: (loss: LinkLoss, reason: string) => void;
  /** The other side has told, and shown that it knows the key, that this member may not come in. */
  readonly rejected: (verdict: Exclude<Verdict, 'accepted'>) => void;
}

/** Of TLS 1.3 who dials is told nothing when the other side takes no certificate of its. */
const noWord = 'it was closed without a word: the certificate of this member may be what it does not take; its log says why';

function plainly(reason: string | undefined): string | undefined {
  return reason?.includes('before secure TLS connection') ? 'who listens there speaks no TLS (--raft-tls-ca), or ended it' : reason;
}

/** A connection to another member, over which packets go out. It is made again, with pauses that grow, until the link is closed. */
export class PeerLink {
  readonly #options: LinkOptions;
  #framed: FramedSocket | undefined;
  #isOpen = false;
  #formatMax: number | undefined;
  #isClosed = false;
  #retryMs = retryMsMin;
  #missed = 0;
  #timer: NodeJS.Timeout | undefined;
  #openedAt = 0;
  /** Between two attempts, the first of which came to nothing. */
  #isPausing = false;
  /** The one that worked last: a name is not looked up for each attempt, and may not be known for a while. */
  #address: string | undefined;
  /** After an attempt with the address that came to nothing, the name may have another by now; and the other way round. */
  #triesName = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The latest format of commands that the member there takes; undefined while there is no connection. */
  get formatMax(): number | undefined {
    return this.#isOpen ? this.#formatMax : undefined;
  }

  get hasRoom(): boolean {
    return this.#isOpen && (this.#framed as FramedSocket).hasRoom;
  }

  /** False when it is dropped: there is no connection, or too much waits in it. */
  send(packet: Uint8Array): boolean {
    return this.#isOpen && (this.#framed as FramedSocket).send(packet);
  }

  close(): void {
    this.#isClosed = true;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#framed?.destroy();
  }

  /** The other side is there: what is left of a pause is not waited for. */
  hurry(): void {
    if (!this.#isPausing || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#retryMs = retryMsMin;
    this.#triesName = true;
    this.#connect();
  }

  #connect(): void {
    this.#isPausing = false;
    const { host, port, door } = this.#options;
    const own = this.#options.tls();
    // An address that stands for a name is connected to under that name.
    const tls = own && { ...own, ...(isIP(host) === 0 && { servername: host }) };
    const socket = door.connect({ host: this.#triesName ? host : (this.#address ?? host), port, ...(tls && { tls }) });
    const framed = new FramedSocket(socket, handshakeBytesMax);
    this.#framed = framed;
    let isRefused = false;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isRefused = error.code === 'ECONNREFUSED';
    });
    this.#timer = setTimeout(() => framed.destroy(`no connection within ${connectMsMax} ms`), connectMsMax);
    let isGreeted = false;
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      isGreeted = true;
      this.#greet(framed);
    });
    framed.ended = (reason) => {
      const silence = tls && isGreeted ? noWord : 'it was closed';
      this.#ended(isRefused ? 'refused' : 'failed', (isGreeted ? reason : plainly(reason)) ?? silence);
    };
  }

  #greet(framed: FramedSocket): void {
    const { to, purpose, secrets } = this.#options;
    const { self, clusterId, key } = secrets;
    const hello = encodeHello({ clusterId, purpose, from: self.id, to, incarnation: self.incarnation });
    const authenticator = new Authenticator(key, hello);
    framed.take = (challenge) => {
      const found = authenticator.readChallenge(challenge);
      if (found === undefined) return framed.destroy(otherKey);
      if (found.from !== to) return framed.destroy(`node ${found.from} listens there, not node ${to}`);
      framed.take = (bytes) => this.#judged(framed, authenticator.readVerdict(challenge, bytes), found);
      framed.send(authenticator.proof(challenge));
    };
    framed.send(hello);
  }

  #judged(framed: FramedSocket, verdict: Verdict | undefined, listener: Challenge) {
    if (verdict === undefined) return framed.destroy(otherKey);
    if (verdict !== 'accepted') {
      framed.destroy(`it is refused: ${verdict}`);
      if (verdict === 'removed') this.#retryMs = removedRetryMs;
      return this.#options.rejected(verdict);
    }
    framed.take = () => {
      this.#missed = 0;
    };
    void this.#open(framed, listener);
  }

  async #open(framed: FramedSocket, { incarnation, formatMax }: Challenge): Promise<void> {
    const { to, admits, opened } = this.#options;
    const isAdmitted = await admits(incarnation);
    if (this.#isClosed || framed.isOver) return;
    if (!isAdmitted) return framed.destroy(`node ${to} has other data than the member that had this id before`);
    clearTimeout(this.#timer);
    framed.allow(frameBytesMax);
    this.#address = framed.socket.remoteAddress;
    this.#triesName = false;
    this.#isOpen = true;
    this.#openedAt = performance.now();
    this.#formatMax = formatMax;
    this.#missed = 0;
    this.#timer = setInterval(() => this.#listen(framed), aliveMs);
    opened();
  }

  /** Counts, and compares no times: after this process has stood still itself, what has come meanwhile is read first. */
  #listen(framed: FramedSocket): void {
    if (++this.#missed > aliveMissedMax) framed.destroy(`nothing was heard for ${(aliveMissedMax * aliveMs) / 1_000} s`);
  }

  #ended(attempt: LinkLoss, reason: string): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const loss = this.#isOpen ? 'closed' : attempt;
    const hasLasted = this.#isOpen && performance.now() - this.#openedAt > aliveMs;
    if (!this.#isOpen) this.#triesName = !this.#triesName;
    this.#isOpen = false;
    if (hasLasted) this.#retryMs = retryMsMin;
    // After a loss at once: whether somebody listens there still tells a process that is gone from a connection that broke. What closes as
    // soon as it is open would go on like that without an end.
    const pauseMs = hasLasted ? 1 : this.#retryMs * (0.5 + this.#options.random());
    if (!hasLasted) this.#retryMs = Math.max(this.#retryMs, Math.min(retryMsMax, 2 * this.#retryMs));
    this.#isPausing = loss !== 'closed';
    this.#timer = setTimeout(() => this.#connect(), pauseMs);
    this.#options.lost(loss, reason);
  }
}
