import { crc32 } from 'node:zlib';
import type { IPublishPacket } from 'mqtt';

/** As many numbers as a session has for messages that wait for an acknowledgement. */
const REMEMBERED = 65_535;

/**
 * Messages that were taken, by their number in the session and their content, until the broker has heard of it. What it has not heard of it
 * sends again when a connection is made again, with the same number, and says that it is a repetition: those that are known here need not be
 * taken again.
 */
export class TakenMessages {
  #marks: string[];
  /** Before the first of these. */
  #confirmed = 0;

  constructor(marks: readonly string[]) {
    this.#marks = [...marks];
  }

  /** How many there have been. */
  get count(): number {
    return this.#confirmed + this.#marks.length;
  }

  /** What is to be remembered once these are taken: goes into a position. */
  with(packets: readonly IPublishPacket[]): readonly string[] {
    return [...this.#marks, ...marksOf(packets)].slice(-REMEMBERED);
  }

  add(packets: readonly IPublishPacket[]): void {
    this.#marks.push(...marksOf(packets));
    this.confirm(this.count - REMEMBERED);
  }

  /** The broker has heard that so many of all were taken. */
  confirm(count: number): void {
    if (count <= this.#confirmed) return;
    this.#marks = this.#marks.slice(count - this.#confirmed);
    this.#confirmed = count;
  }

  isRepetition(packet: IPublishPacket): boolean {
    return packet.dup && packet.qos > 0 && this.#marks.includes(markOf(packet));
  }
}

function marksOf(packets: readonly IPublishPacket[]): string[] {
  return packets.flatMap((packet) => (packet.qos > 0 ? [markOf(packet)] : []));
}

/** Of a message of one session. */
export function markOf({ messageId = 0, topic, payload }: IPublishPacket): string {
  return `${messageId.toString(36)}.${crc32(payload, crc32(topic)).toString(36)}`;
}
