import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivered {
  readonly id: string;
  readonly event_type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** As `performance.now`. */
  readonly at: number;
}

/** The other end of an http connector: keeps what it is sent, as often as it is sent. */
export class HttpSink {
  readonly delivered: Delivered[] = [];
  /** Requests, whatever became of them. */
  requests = 0;
  /** The status of answers. */
  status = 200;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    this.requests++;
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      if (this.status === 200) this.delivered.push({ ...JSON.parse(Buffer.concat(chunks).toString()), at });
      response.writeHead(this.status).end();
    });
  });

  static async start(): Promise<HttpSink> {
    const sink = new HttpSink();
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/alerts`;
  }

  /** Whoever sends the same again sends it under the same id, so this is what a receiver has that looks at ids. */
  get byId(): ReadonlyMap<string, Delivered> {
    return new Map(this.delivered.map((one) => [one.id, one]));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
