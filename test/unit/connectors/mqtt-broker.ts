import { type AddressInfo, createServer, type Socket } from 'node:net';

const [CONNECT, PUBLISH, SUBSCRIBE, PINGREQ] = [1, 3, 8, 12];
const CONNACK = Buffer.of(0x20, 2, 0, 0);
const PINGRESP = Buffer.of(0xd0, 0);

export interface Given {
  readonly topic: string;
  readonly text: string;
  readonly qos: 0 | 1;
  /** In the session, with quality 1. */
  readonly number?: number;
  readonly isRepetition?: boolean;
}

/**
 * As much of an MQTT broker as a sink of quality 1 needs: it acknowledges what is published, and ends the connection over what it does not
 * bear. Who has subscribed to anything is given what the test says.
 */
export class MqttBroker {
  readonly port: number;
  connections = 0;
  /** How often each message came, with those that it does not bear. */
  readonly published = new Map<string, number>();
  readonly #server: ReturnType<typeof createServer>;
  readonly #cuts: (text: string) => boolean;
  readonly #sockets = new Set<Socket>();

  private constructor(server: ReturnType<typeof createServer>, cuts: (text: string) => boolean) {
    this.#server = server.on('connection', (socket: Socket) => this.#connected(socket));
    this.port = (server.address() as AddressInfo).port;
    this.#cuts = cuts;
  }

  static async start(cuts: (text: string) => boolean): Promise<MqttBroker> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new MqttBroker(server, cuts);
  }

  /** To all that are connected. */
  give({ topic, text, qos, number = 1, isRepetition = false }: Given): void {
    const name = Buffer.from(topic);
    const id = qos === 0 ? [] : [number >> 8, number & 0xff];
    const body = Buffer.concat([Buffer.of(0, name.length), name, Buffer.from(id), Buffer.from(text)]);
    for (const socket of this.#sockets)
      socket.write(Buffer.concat([Buffer.of(0x30 | (isRepetition ? 8 : 0) | (qos << 1), body.length), body]));
  }

  /** Once all that was given has been sent. */
  endConnections(): void {
    for (const socket of this.#sockets) socket.end();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      for (let packet = firstPacket(bytes); packet !== undefined; packet = firstPacket(bytes)) {
        bytes = bytes.subarray(packet.end);
        if (!socket.destroyed) this.#answer(socket, packet);
      }
    });
  }

  #answer(socket: Socket, { type, body }: Packet): void {
    if (type === CONNECT) socket.write(CONNACK);
    if (type === SUBSCRIBE) socket.write(Buffer.of(0x90, 3, body[0] ?? 0, body[1] ?? 0, 1));
    if (type === PINGREQ) socket.write(PINGRESP);
    if (type !== PUBLISH) return;
    const idAt = 2 + body.readUInt16BE(0);
    const text = body.toString('utf8', idAt + 2);
    this.published.set(text, (this.published.get(text) ?? 0) + 1);
    if (this.#cuts(text)) socket.destroy();
    else socket.write(Buffer.of(0x40, 2, body[idAt] ?? 0, body[idAt + 1] ?? 0));
  }
}

interface Packet {
  readonly type: number;
  readonly body: Buffer;
  /** Where the next one begins. */
  readonly end: number;
}

/** Undefined while it is not there to its end. */
function firstPacket(bytes: Buffer): Packet | undefined {
  let length = 0;
  for (let at = 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    length += (byte & 0x7f) << (7 * (at - 1));
    if (byte >= 0x80) continue;
    const end = at + 1 + length;
    return end > bytes.length ? undefined : { type: (bytes[0] ?? 0) >> 4, body: bytes.subarray(at + 1, end), end };
  }
  return undefined;
}
