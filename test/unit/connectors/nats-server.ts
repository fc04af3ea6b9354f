import { type AddressInfo, createServer, type Socket } from 'node:net';

/** As much of a NATS server as a sink needs: it counts what is published, and refuses some subjects. */
export class NatsServer {
  readonly port: number;
  /** How often each id was published, where that was allowed. */
  readonly published = new Map<string, number>();
  connections = 0;
  readonly #server: ReturnType<typeof createServer>;
  readonly #refused: ReadonlySet<string>;
  readonly #cut: ReadonlySet<string>;
  readonly #saysTogether: boolean;
  readonly #streamErrors: NatsServerOptions['streamErrors'];
  readonly #sockets = new Set<Socket>();

  private constructor(
    server: ReturnType<typeof createServer>,
    { refused = [], cut = [], streamErrors, saysTogether = streamErrors === undefined }: NatsServerOptions,
  ) {
    this.#server = server.on('connection', (socket: Socket) => this.#connected(socket));
    this.port = (server.address() as AddressInfo).port;
    this.#refused = new Set(refused);
    this.#cut = new Set(cut);
    this.#saysTogether = saysTogether;
    this.#streamErrors = streamErrors;
  }

  static async start(options: NatsServerOptions): Promise<NatsServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new NatsServer(server, options);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write('INFO {"server_id":"x","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}\r\n');
    let text = '';
    let unsaid = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const words = text.slice(0, end).split(' ');
        const length = words[0] === 'HPUB' ? Number(words.at(-1)) + 2 : 0;
        if (text.length < end + 2 + length) return;
        if (words[0] === 'HPUB' && this.#cut.has(words[1] ?? '')) return void socket.destroy();
        if (words[0] === 'HPUB') unsaid += this.#publish(words, text.slice(end + 2, end + 2 + length));
        const isPing = words[0] === 'PING';
        if (unsaid !== '' && !(this.#saysTogether || isPing)) unsaid = said(socket, unsaid);
        if (isPing) unsaid = said(socket, `${unsaid}PONG\r\n`);
        text = text.slice(end + 2 + length);
      }
    });
  }

  /** What the server has to say of it. */
  #publish([, subject = '', reply = '']: readonly string[], message: string): string {
    if (this.#refused.has(subject)) return `-ERR 'Permissions Violation for Publish to "${subject}"'\r\n`;
    const id = /Nats-Msg-Id: (\S+)/i.exec(message)?.[1] ?? '';
    this.published.set(id, (this.published.get(id) ?? 0) + 1);
    if (this.#streamErrors === undefined) return '';
    const error = this.#streamErrors[subject];
    const answer = JSON.stringify(error === undefined ? { stream: 'S', seq: this.published.size } : { error });
    // The library's first subscription is that for answers.
    return `MSG ${reply} 1 ${answer.length}\r\n${answer}\r\n`;
  }
}

interface NatsServerOptions {
  /** Subjects that the user may not publish to. */
  readonly refused?: readonly string[];
  /** Subjects over which it ends the connection. */
  readonly cut?: readonly string[];
  /** A refusal and the sign of life behind it are one piece. */
  readonly saysTogether?: boolean;
  /** It keeps streams, which take every subject but these. */
  readonly streamErrors?: Readonly<Record<string, { readonly code: number; readonly err_code: number; readonly description: string }>>;
}

function said(socket: Socket, text: string): string {
  socket.write(text);
  return '';
}
