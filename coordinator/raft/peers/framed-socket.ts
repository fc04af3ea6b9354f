import type { Socket } from 'node:net';
import { DamagedRecord } from '../storage/record.ts';
import { FrameReader, frameOf } from '../transport/frames.ts';

/**
 * What may wait in a socket; beyond it packets are dropped, since Raft sends again what is still of use. The window of a follower, which
 * counts the data of entries alone, fits in with all that is around them: it would lose its own end otherwise, time and again.
 */
const writableBytesMax = 8_388_608;

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
  /** Of this event. */
  #frames: Uint8Array[] = [];
  #framesBytes = 0;

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

  get hasRoom(): boolean {
    return !this.#isOver && this.socket.writableLength + this.#framesBytes <= writableBytesMax;
  }

  /** False when it is dropped. What is sent because of one event leaves together, before what waits behind it begins. */
  send(packet: Uint8Array): boolean {
    if (!this.hasRoom) return false;
    const frame = frameOf(packet);
    this.#framesBytes += frame.length;
    if (this.#frames.push(frame) === 1) queueMicrotask(() => this.#flush());
    return true;
  }

  /** By one call to the system. A corked socket has more work with the one frame that there mostly is. */
  #flush(): void {
    const { socket } = this;
    const frames = this.#frames;
    this.#frames = [];
    this.#framesBytes = 0;
    if (socket.destroyed) return;
    if (frames.length > 1) socket.cork();
    for (const frame of frames) socket.write(frame);
    if (frames.length > 1) socket.uncork();
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
    this.#flush();
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
