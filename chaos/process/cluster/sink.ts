import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textOf } from './expected.ts';

export interface Delivery {
  readonly id: string;
  /** What it says, as a text. */
  readonly text: string;
  /** As `performance.now`. */
  readonly at: number;
}

/** The other end of the pipelines' http connectors: keeps what it is sent, as often as it is sent. */
export class Sink {
  readonly deliveries: Delivery[] = [];
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, host: string) {
    this.#server = server;
    this.url = `http://${host}:${(server.address() as AddressInfo).port}/outputs`;
  }

  static async start(host: string): Promise<Sink> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const sink = new Sink(server, host);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { id, event_type: type, data } = JSON.parse(Buffer.concat(chunks).toString());
        sink.deliveries.push({ id, text: textOf({ type, data }), at: performance.now() });
        response.writeHead(204).end();
      });
    });
    return sink;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
