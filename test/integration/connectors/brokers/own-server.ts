import { Link } from './link.ts';

/** What can be done to a server, whether it stands in a container or in this process. */
export interface TroubledServer {
  readonly port: number;
  pause(): Promise<void>;
  resume(): Promise<void>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

interface Opened {
  readonly port: number;
  /** Its connections end at once. */
  readonly close: () => Promise<unknown>;
}

/** A server of this process, at one port however often it is opened again. */
export class OwnServer implements TroubledServer {
  readonly #open: () => Promise<Opened>;
  readonly #way: Link;
  #opened: Opened | undefined;

  private constructor(open: () => Promise<Opened>, way: Link) {
    this.#open = open;
    this.#way = way;
  }

  static async start(open: () => Promise<Opened>): Promise<OwnServer> {
    // Nobody listens at port 1.
    const server: OwnServer = new OwnServer(open, await Link.to(() => server.#opened?.port ?? 1));
    await server.startAgain();
    return server;
  }

  get port(): number {
    return this.#way.port;
  }

  /** As a process that is stopped: it is connected to, and reads and says nothing. */
  async pause(): Promise<void> {
    this.#way.silence();
  }

  async resume(): Promise<void> {
    this.#way.goOn();
  }

  async kill(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.close();
  }

  async startAgain(): Promise<void> {
    this.#opened = await this.#open();
  }

  async stop(): Promise<void> {
    await this.#way.close();
    await this.kill();
  }
}
