import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.ts';
import { cutWhenStalled } from './stall.ts';

/** Time for clients to send the rest of a request, and to read what was answered, once the server ends. */
export const farewellMs = 2_000;

/** How often it is looked for answers that are not taken, within the time that they have. */
const LOOKS_PER_STALL = 6;

type Response = ServerResponse<IncomingMessage>;

/** What a connection has to answer. */
interface Line {
  /** The response under way; undefined only while the next one is begun. */
  response: Response | undefined;
  waiting: Waiting[];
  /** Nothing more is read while something waits; not so when whoever takes the connection over will read it. */
  isHeld: boolean;
}

interface Waiting {
  readonly request: IncomingMessage | undefined;
  readonly act: () => void;
}

/** A request that has not come in in the time that Node gives it, in which its connection may not have been read. */
interface Late {
  /** Undefined until its headers are there. */
  request: IncomingMessage | undefined;
  readonly act: () => void;
  timer?: NodeJS.Timeout;
}

/**
 * The open connections of a server. Each has one request answered at a time: what a client sends before it has its answer waits,
 * and more than that is not read, so that a request which was begun always has its socket and always learns of its end. Who takes
 * nothing of an answer is cut after a while, also one that has said that it sends nothing more. The end of the server waits for
 * requests under way and for nobody who asks nothing.
 */
export class Connections {
  /** By their peers: the socket that carries the HTTP, which over TLS is not the one that was accepted. */
  readonly #sockets = new Map<string, Socket>();
  readonly #lines = new Map<Duplex, Line>();
  readonly #late = new Map<Duplex, Late>();
  /** When connections were read again that were held, monotonic, ms. */
  readonly #readAgainMs = new WeakMap<Duplex, number>();
  /** How long a client may take nothing of its answer, ms. */
  readonly #stallMs: number;
  #server: Server | undefined;
  #isEnding = false;

  constructor(stallMs: number = limits.answerStallMsMax) {
    this.#stallMs = stallMs;
  }

  watch(server: Server): void {
    this.#server = server;
    const looking = setInterval(() => this.#watchUntaken(), this.#stallMs / LOOKS_PER_STALL).unref();
    server.once('close', () => clearInterval(looking));
    for (const event of ['connection', 'secureConnection']) server.on(event, (socket: Socket) => this.#open(socket));
  }

  /** Has the listener hear of each request when those before it on its connection are answered; of none whose client has left. */
  inTurn(listener: RequestListener): RequestListener {
    return (request, response) => {
      const begin = (): void => {
        this.#begin(response);
        listener(request, response);
      };
      if (this.#late.size > 0) this.#headersCame(request);
      const line = this.#lines.get(request.socket);
      if (line === undefined) begin();
      else hold(request.socket, line, { request, act: begin });
    };
  }

  /** Acts when every request of a connection is answered, at once when none is under way: for who takes the connection over. */
  whenAnswered(socket: Duplex, act: () => void): void {
    const line = this.#lines.get(socket);
    if (line === undefined) {
      act();
      return;
    }
    line.waiting.push({ request: undefined, act });
    line.isHeld = false;
  }

  /** Acts in place of a request that did not come in whole, or is none, when those before it are answered. */
  inPlaceOfBroken(socket: Duplex, act: () => void): void {
    const line = this.#lines.get(socket);
    if (line === undefined || (line.waiting.length === 0 && line.response?.req.complete === false)) {
      act();
      return;
    }
    if (line.waiting.at(-1)?.request?.complete === false) line.waiting.pop();
    hold(socket, line, { request: undefined, act });
  }

  /** The same of one that did not come in in time. Its time begins anew when its connection is read again, if that was held. */
  inPlaceOfLate(socket: Duplex, act: () => void): void {
    const line = this.#lines.get(socket);
    const last = line?.waiting.at(-1)?.request ?? line?.response?.req;
    this.#late.set(socket, { request: last?.complete === false ? last : undefined, act });
    socket.once('close', () => this.#forgetLate(socket));
    this.#judgeLate(socket);
  }

  #headersCame(request: IncomingMessage): void {
    const late = this.#late.get(request.socket);
    if (late !== undefined) late.request ??= request;
  }

  #judgeLate(socket: Duplex): void {
    const late = this.#late.get(socket);
    if (late === undefined || this.#lines.get(socket)?.isHeld === true) return;
    const timeMs = this.#server?.requestTimeout ?? 0;
    const leftMs = (this.#readAgainMs.get(socket) ?? Number.NEGATIVE_INFINITY) + timeMs - performance.now();
    clearTimeout(late.timer);
    if (leftMs > 0 && late.request?.complete !== true) {
      late.timer = setTimeout(() => this.#judgeLate(socket), Math.ceil(leftMs)).unref();
      return;
    }
    this.#forgetLate(socket);
    if (late.request?.complete !== true) this.inPlaceOfBroken(socket, late.act);
  }

  #forgetLate(socket: Duplex): void {
    clearTimeout(this.#late.get(socket)?.timer);
    this.#late.delete(socket);
  }

  /** From here on the connection belongs to somebody else. */
  release(socket: Socket): void {
    this.#sockets.delete(peerOf(socket));
  }

  /**
   * Closes every connection without a request at once, and each other one after its answer. A client that keeps its own request
   * or our answer waiting is cut after two seconds; a request that is being worked on is waited for.
   */
  end(): void {
    this.#isEnding = true;
    this.#cutAllBut(() => true);
    setTimeout(() => this.#cutAllBut(isAtWork), farewellMs).unref();
  }

  #open(socket: Socket): void {
    if (this.#isEnding) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    if (this.#sockets.get(peer) === socket) return;
    this.#sockets.set(peer, socket);
    // Node takes its own listener away when a request asks for another protocol; an error that nobody hears ends the process.
    socket.on('error', ignore);
    // Node reads on by itself after each request, and whenever a client has taken a part of an answer.
    socket.on('resume', () => {
      if (this.#lines.get(socket)?.isHeld) socket.pause();
    });
    socket.once('close', () => {
      if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer);
    });
  }

  #begin(response: Response): void {
    const { socket } = response.req;
    const line = this.#lines.get(socket) ?? { response, waiting: [], isHeld: false };
    line.response = response;
    this.#lines.set(socket, line);
    response.once('close', () => this.#goOn(socket, line));
  }

  /** Answers that are made, and of which something waits for its client. The socket itself knows whether any of that goes. */
  #watchUntaken(): void {
    for (const { response } of this.#lines.values()) {
      const socket = response?.writableEnded === true ? response.socket : null;
      if (response === undefined || socket === null || socket.writableLength === 0 || socket.timeout === this.#stallMs) continue;
      socket.setTimeout(this.#stallMs);
      response.on(
        'timeout',
        cutWhenStalled(socket, () => socket.destroy()),
      );
      // Unless Node has given it the time between two requests by then.
      response.once('finish', () => {
        if (socket.timeout === this.#stallMs) socket.setTimeout(0);
      });
    }
  }

  /** A response is over: sent, or its client has left. */
  #goOn(socket: Socket, line: Line): void {
    line.response = undefined;
    if (this.#isEnding) socket.destroySoon();
    // A connection that ends takes no more answers.
    while (line.response === undefined && socket.writable) {
      const next = line.waiting.shift();
      if (next === undefined) break;
      next.act();
    }
    if (line.response === undefined) this.#lines.delete(socket);
    if (!line.isHeld || line.waiting.length > 0) return;
    line.isHeld = false;
    socket.resume();
    this.#readAgainMs.set(socket, performance.now());
    this.#judgeLate(socket);
  }

  #cutAllBut(isKept: (response: Response) => boolean): void {
    for (const socket of this.#sockets.values()) {
      const response = this.#lines.get(socket)?.response;
      if (response === undefined || !isKept(response)) socket.destroy();
    }
  }
}

function hold(socket: Duplex, line: Line, waiting: Waiting): void {
  line.waiting.push(waiting);
  line.isHeld = true;
  // Behind what was read together with this: it may hold what takes the connection over, and a socket that was stopped stays so then.
  process.nextTick(() => line.isHeld && socket.pause());
}

function ignore(): void {
  // The socket closes, and that is heard of.
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The request is here and its answer is not made yet. */
function isAtWork({ req, writableEnded }: Response): boolean {
  return req.complete && !writableEnded;
}
