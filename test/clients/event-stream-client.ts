import { get, type IncomingMessage } from 'node:http';

const clients: StreamClient[] = [];

/** Ends the connections of all clients that were opened. */
export function dropStreamClients(): void {
  for (const { response } of clients.splice(0)) response.destroy();
}

export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

/** A client of an event stream: what it has got so far, and waiting for more. */
export class StreamClient {
  readonly response: IncomingMessage;
  readonly frames: Frame[] = [];
  comments = 0;
  /** As a browser would send it when it comes back. */
  lastId: string | null = null;
  #rest = '';
  #waiting: (() => void) | undefined;
  isEnded = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    clients.push(this);
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    response.on('close', () => {
      this.isEnded = true;
      this.#waiting?.();
    });
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
    return new Promise((resolve, reject) => {
      get(url, { headers }, (response) => resolve(new StreamClient(response))).on('error', reject);
    });
  }

  #take(chunk: string): void {
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) this.comments++;
      else this.#takeFrame(frameOf(block));
    }
    this.#waiting?.();
  }

  #takeFrame(frame: Frame): void {
    this.lastId = frame.id ?? this.lastId;
    if (frame.data !== undefined) this.frames.push(frame);
  }

  drop(): void {
    this.response.destroy();
  }

  async until(condition: (client: StreamClient) => boolean): Promise<void> {
    while (!condition(this)) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }
}

function frameOf(block: string): Frame {
  const members = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return { ...members, ...(members['data'] === undefined ? {} : { data: JSON.parse(members['data']) }) };
}
