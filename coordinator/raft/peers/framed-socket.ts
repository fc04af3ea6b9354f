import type { Socket } from 'node:net';
import { DamagedRecord } from '../storage/record.ts';
import { FrameReader, frameOf } from '../transport/frames.ts';

/** What may wait in a socket; beyond it packets are dropped, since Raft sends again what is still of use. */
const writableBytesMax = 4_194_304;

/** A socket that carries packets. What comes after `end` or an error is dropped. */
export class FramedSocket {
  readonly socket: Socket;
  /** Takes each packet; set anew as the conversation goes on. */
  take: (packet: Uint8Array) => void = () => undefined;
  /** Told once, when the connection is over, with what was wrong if something was. */
  ended: (reason: string | undefined) => void = () => undefined;
  #reader: FrameReader;
  #reason: string | undefined;
  #isOver = false;
  #isCorked = false;

  /** `bytesMax`: of a packet, for now. */
  constructor(socket: Socket, bytesMax: number) {
    this.socket = socket;
    this.#reader = new FrameReader(bytesMax);
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#read(piece));
    socket.on('error', (error) => {
      this.#reason ??= error.message;
    });
    socket.on('close', () => {
      this.#isOver = true;
      this.ended(this.#reason);
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Packets may be this long from now on. */
  allow(bytesMax: number): void {
    this.#reader.bytesMax = bytesMax;
  }

  /** False when it is dropped. What is sent because of one event leaves together, before what waits behind it begins. */
  send(packet: Uint8Array): boolean {
    const { socket } = this;
    if (this.#isOver || socket.writableLength > writableBytesMax) return false;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      queueMicrotask(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    socket.write(frameOf(packet));
    return true;
  }

  /** Ends it at once. */
  destroy(reason?: string): void {
    this.#reason ??= reason;
    this.#isOver = true;
    this.socket.destroy();
  }

  /** Ends it when what was sent has left. */
  end(): void {
    this.#isOver = true;
    this.socket.end();
    this.socket.destroySoon();
  }

  #read(piece: Uint8Array): void {
    if (this.#isOver) return;
    try {
      for (const packet of this.#reader.push(piece)) if (!this.#isOver) this.take(packet);
    } catch (cause) {
      if (!(cause instanceof DamagedRecord)) throw cause;
      this.destroy(cause.message);
    }
  }
}
