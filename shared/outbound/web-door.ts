import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { ForbiddenAddress } from '../security/network-policy.ts';
import type { OutboundDoor } from './outbound-door.ts';

const KEEP_ALIVE_MS = 10_000;
/** What is read of a body that nobody wants, so that its connection can be used again. */
const UNWANTED_BYTES_MAX = 64 * 1024;
/** Answers whose unwanted bodies are still under way; the oldest of more is cut off. */
const UNWANTED_ANSWERS_MAX = 8;

export interface WebDoorOptions {
  /** Time to connect, ms. */
  readonly connectMs: number;
  /** Time between two signs of life of the other side, ms. 0 = no limit, where each request has a deadline. */
  readonly silenceMs: number;
  /** PEM of the authorities to trust instead of the machine's. */
  readonly ca?: string | undefined;
  /** Connections to one server; what there is none for waits, and its deadline runs. @default no limit */
  readonly connectionsMax?: number | undefined;
  /** Whether it can be asked for the peers of origins. @default false: of as many as there are it would remember one each */
  readonly remembersPeers?: boolean;
  /** Asked once a connection is there, before anything goes over it: much may have changed while it was made. @default always */
  readonly maySend?: (() => boolean) | undefined;
}

export interface WebRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  /** In place of the path and the query of the target, as it is: an address has no way to say a part that is `..`. */
  readonly path?: string;
  /** Ends the request with its reason. */
  readonly signal?: AbortSignal;
  /** For all of it, from the look-up of the name to the last byte of the body, ms. @default none */
  readonly deadlineMs?: number;
  /** Another time between two signs of life, ms. */
  readonly silenceMs?: number;
  /** Another time until the answer begins, ms. */
  readonly headersMs?: number;
}

export type WebAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

/** The other side did not answer, or not to the end, in the time that the request had. */
class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly code = 'timeout';

  constructor(ms: number) {
    super(`not done within ${ms / 1000} s`);
  }
}

/** Whoever asked for the request has lost the right to send it. */
class NothingToSend extends Error {
  override readonly name = 'NothingToSend';
  readonly code = 'held_back';
}

/** A target that no request is sent to, whoever asks. */
export class UnfitTarget extends Error {
  override readonly name = 'UnfitTarget';
  readonly code = 'unfit_target';
}

/**
 * Requests to web addresses through the door, over connections that are kept. A request names its final address, which is what is
 * judged; there is no way to name a server and another one apart. Redirects are not followed: their status is the answer.
 */
export class WebDoor {
  readonly #door: OutboundDoor;
  readonly #agent: Agent;
  readonly #unwanted = new Set<WebAnswer['body']>();
  /** By origin. */
  readonly #peers = new Map<string, string>();

  constructor(door: OutboundDoor, { connectMs, silenceMs, ca, connectionsMax, remembersPeers = false, maySend }: WebDoorOptions) {
    this.#door = door;
    const connect = buildConnector({ timeout: connectMs, lookup: door.lookup, ...(ca === undefined ? {} : { ca }) });
    this.#agent = new Agent({
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...(connectionsMax === undefined ? {} : { connections: connectionsMax }),
      connect: (to, done) => {
        try {
          door.requireHost(to.hostname);
        } catch (error) {
          done(error as ForbiddenAddress, null);
          return;
        }
        connect(to, (...made) => {
          if (made[0] !== null || maySend?.() !== false) {
            const peer = made[1]?.remoteAddress;
            if (remembersPeers && peer !== undefined) this.#peers.set(`${to.protocol}//${to.host}`, peer);
            done(...made);
            return;
          }
          made[1].destroy();
          done(new NothingToSend('nothing is to be sent any more'), null);
        });
      },
    });
  }

  /** The status and headers of the answer; its body is to be read, or to be `leave`d. @throws ForbiddenAddress, UnfitTarget, DeadlinePassed, and what undici throws */
  async request(target: URL, { method, headers, body, path, signal, deadlineMs, silenceMs, headersMs }: WebRequest): Promise<WebAnswer> {
    this.requireTarget(target);
    const deadline = deadlineMs === undefined ? undefined : new Deadline(deadlineMs, signal);
    const ended = deadline?.signal ?? signal;
    try {
      const answer = await this.#agent.request({
        origin: target.origin,
        path: path ?? target.pathname + target.search,
        method,
        headers,
        body,
        ...(ended === undefined ? {} : { signal: ended }),
        ...(silenceMs === undefined ? {} : { bodyTimeout: silenceMs }),
        ...(headersMs === undefined ? {} : { headersTimeout: headersMs }),
      });
      answer.body.once('close', () => deadline?.clear());
      return answer;
    } catch (error) {
      deadline?.clear();
      throw error;
    }
  }

  /** @throws ForbiddenAddress, UnfitTarget */
  requireTarget({ protocol, hostname, username, password }: URL): void {
    if (protocol !== 'http:' && protocol !== 'https:') throw new UnfitTarget('the address begins with neither http: nor https:');
    if (username !== '' || password !== '') throw new UnfitTarget('the address holds a login, which belongs into a header');
    this.#door.requireHost(hostname);
  }

  /** The IP address that the newest connection to the origin of a target led to: a name may lead to another machine than before. */
  peerOf({ origin }: URL): string | undefined {
    return this.#peers.get(origin);
  }

  /** Takes an answer for what its status says. What comes of its body until the deadline is read, up to a bound, and forgotten. */
  leave({ body }: WebAnswer): void {
    this.#unwanted.add(body);
    body.once('close', () => this.#unwanted.delete(body));
    // A body that breaks off changes nothing of the status.
    body.dump({ limit: UNWANTED_BYTES_MAX }).catch(() => undefined);
    for (const oldest of this.#unwanted) {
      if (this.#unwanted.size <= UNWANTED_ANSWERS_MAX) return;
      this.#unwanted.delete(oldest);
      oldest.destroy();
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Ends when its time is over, or with the signal that it was given. */
class Deadline {
  readonly #end = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #given: AbortSignal | undefined;

  constructor(ms: number, given: AbortSignal | undefined) {
    this.#given = given;
    this.#timer = setTimeout(() => this.#end.abort(new DeadlinePassed(ms)), ms);
    if (given?.aborted) this.#pass();
    else given?.addEventListener('abort', this.#pass, { once: true });
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#pass);
  }

  readonly #pass = (): void => this.#end.abort(this.#given?.reason);
}
