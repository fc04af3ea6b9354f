import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

/** The way to a server of this machine, which can be cut and healed. */
export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Nothing goes through, and nobody is told. */
  #isSilent = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `port`: where it leads; asked for each connection where that is not known yet. */
  static async to(port: number | (() => number)): Promise<Link> {
    const server = createServer();
    const link = new Link(server);
    server.on('connection', (socket) => link.#join(socket, typeof port === 'number' ? port : port()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #join(near: Socket, port: number): void {
    const far = createConnection({ port, host: '127.0.0.1' });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      if (this.#isSilent) from.pause();
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => this.#isSilent || from.resume());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  /** As a cable that is pulled: what is sent arrives nowhere, until it is healed. */
  silence(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** As a router that has lost what it knew: connections from before lead nowhere, and nobody is told; others go through. */
  forget(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data');
      socket.pause();
    }
  }

  /** What was on its way arrives after all. */
  goOn(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Connections from before are gone: nothing of what was on its way arrives any more. */
  heal(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
