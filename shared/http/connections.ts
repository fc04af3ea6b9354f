import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Time for clients to send the rest of a request, and to read what was answered, once the server ends. */
export const farewellMs = 2_000;

/** The open connections of a server, so that its end waits for requests under way and for nobody who asks nothing. */
export class Connections {
  /** By their peers: the socket that carries the HTTP, which over TLS is not the one that was accepted. */
  readonly #sockets = new Map<string, Socket>();
  readonly #underWay = new Set<ServerResponse<IncomingMessage>>();
  #isEnding = false;

  watch(server: Server): void {
    for (const event of ['connection', 'secureConnection']) server.on(event, (socket: Socket) => this.#open(socket));
    server.on('request', (_request, response: ServerResponse<IncomingMessage>) => this.#begin(response));
    // From here on the connection belongs to whoever takes the upgrade.
    server.on('upgrade', (_request, socket) => this.#sockets.delete(peerOf(socket as Socket)));
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

  /** Acts when every request of a connection is answered; at once when none is under way. */
  whenAnswered(socket: Duplex, action: () => void): void {
    const next = Array.from(this.#underWay).find(({ req }) => req.socket === socket);
    if (next) next.once('close', () => this.whenAnswered(socket, action));
    else action();
  }

  #open(socket: Socket): void {
    if (this.#isEnding) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    if (this.#sockets.get(peer) === socket) return;
    this.#sockets.set(peer, socket);
    socket.once('close', () => {
      if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer);
    });
  }

  #begin(response: ServerResponse<IncomingMessage>): void {
    this.#underWay.add(response);
    response.once('close', () => {
      this.#underWay.delete(response);
      if (this.#isEnding) response.req.socket.destroySoon();
    });
  }

  #cutAllBut(isKept: (response: ServerResponse<IncomingMessage>) => boolean): void {
    const kept = new Set(
      Array.from(this.#underWay)
        .filter(isKept)
        .map(({ req }) => req.socket),
    );
    for (const socket of this.#sockets.values()) if (!kept.has(socket)) socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The request is here and its answer is not made yet. */
function isAtWork({ req, writableEnded }: ServerResponse<IncomingMessage>): boolean {
  return req.complete && !writableEnded;
}
