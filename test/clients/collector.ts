import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status?: { readonly code: number };
}

/** A collector of traces that answers as it is told. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { readonly url: string | undefined; readonly authorization: string | undefined; readonly body: unknown }[] = [];
  /** The status of answers; null = none comes. */
  status: number | null = 200;
  /** Where answers send to. */
  location: string | undefined;
  /** Answers begin and have no end. */
  drips = false;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      this.requests.push({ url: request.url, authorization: request.headers.authorization, body });
      if (this.status === 200) this.spans.push(...body.resourceSpans[0].scopeSpans[0].spans);
      if (this.status === null) return;
      response.writeHead(this.status, this.location === undefined ? {} : { location: this.location });
      if (this.drips) response.write('{');
      else response.end('{}');
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
