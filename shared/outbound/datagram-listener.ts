import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';

export interface DatagramListenerOptions {
  /** An address of this machine, or a name of it. */
  readonly host: string;
  readonly port: number;
  readonly onMessage: (bytes: Buffer) => void;
}

/** Hears datagrams that are sent to a port. It never sends any, so it reaches nobody. */
export class DatagramListener {
  readonly #socket: Socket;
  /** Rejects when it can hear no more. */
  readonly failed: Promise<never>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.failed = new Promise((_, reject) => socket.once('error', reject));
    this.failed.catch(() => undefined); // Whoever listens asks for it.
  }

  /** @throws Error when the port is not to be had */
  static async open({ host, port, onMessage }: DatagramListenerOptions): Promise<DatagramListener> {
    const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 1_048_576 });
    const listener = new DatagramListener(socket);
    socket.on('message', onMessage);
    const bound = new Promise<void>((resolve) => socket.bind(port, host, resolve));
    await Promise.race([bound, listener.failed]);
    return listener;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  close(): void {
    this.#socket.removeAllListeners('message').close();
  }
}
