import { DamagedRecord } from '../storage/record.ts';
import { allocate } from '../storage/slab.ts';

/** Of one packet. What is longer is no packet of ours. */
export const frameBytesMax = 4_194_304;

/** How a connection over TLS begins. No packet is so long. */
const tlsGreeting = 0x16_03;

/** A packet behind its length, 32 bits, big endian. */
export function frameOf(packet: Uint8Array): Uint8Array {
  const frame = allocate(4 + packet.length);
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, packet.length);
  frame.set(packet, 4);
  return frame;
}

/** Cuts what a connection brings into packets. Holds less than one packet and one piece. */
export class FrameReader {
  /** Of a packet. */
  bytesMax: number;
  #held: Uint8Array = new Uint8Array(0);

  constructor(bytesMax: number = frameBytesMax) {
    this.bytesMax = bytesMax;
  }

  /** The packets that this piece completes. Throws `DamagedRecord` when a length cannot be right. */
  push(piece: Uint8Array): Uint8Array[] {
    const bytes = this.#held.length === 0 ? piece : joined(this.#held, piece);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const packets: Uint8Array[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const length = view.getUint32(at);
      if (length >>> 16 === tlsGreeting) throw new DamagedRecord('it speaks TLS, and this member does not (--raft-tls-ca)');
      if (length > this.bytesMax) throw new DamagedRecord(`a packet of ${length} bytes comes, and none has more than ${this.bytesMax}`);
      if (bytes.length - at - 4 < length) break;
      packets.push(bytes.slice(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.#held = bytes.slice(at);
    return packets;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
