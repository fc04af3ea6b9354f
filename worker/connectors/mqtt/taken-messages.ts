import { crc32 } from 'node:zlib';
import type { IPublishPacket } from 'mqtt';

/** As many numbers as a session has for messages that wait for an acknowledgement: so many a position has. */
const SAVED_MAX = 65_535;
/**
 * So many are known while this process runs: some brokers give more messages than there are numbers without hearing of them (Mosquitto
 * before 2.0.13, of what has queued up). With fewer each of those would push out the one that comes next.
 */
const REMEMBERED = 4 * SAVED_MAX;

/**
 * Messages that were taken, by their number in the session and their content, until the broker has heard of it. What it has not heard of it
 * sends again when a connection is made again, with the same number, and says that it is a repetition: those that are known here need not be
 * taken again.
 */
export class TakenMessages {
  #marks: string[];
  /** The same, and how often each is there. */
  readonly #counts = new Map<string, number>();
  /** Before the first of these. */
  #confirmed = 0;

  constructor(marks: readonly string[]) {
    this.#marks = [];
    this.#remember(marks);
  }

  /** How many there have been. */
  get count(): number {
    return this.#confirmed + this.#marks.length;
  }

  /** What is to be remembered once these are taken: goes into a position. */
  with(packets: readonly IPublishPacket[]): readonly string[] {
    return [...this.#marks.slice(-SAVED_MAX), ...marksOf(packets)].slice(-SAVED_MAX);
  }

  add(packets: readonly IPublishPacket[]): void {
    this.#remember(marksOf(packets));
    this.confirm(this.count - REMEMBERED);
  }

  #remember(marks: readonly string[]): void {
    for (const mark of marks) {
      this.#marks.push(mark);
      this.#counts.set(mark, (this.#counts.get(mark) ?? 0) + 1);
    }
  }

  /** The broker has heard that so many of all were taken. */
  confirm(count: number): void {
    if (count <= this.#confirmed) return;
    const forgotten = this.#marks.slice(0, count - this.#confirmed);
    this.#marks = this.#marks.slice(forgotten.length);
    for (const mark of forgotten) {
      const left = (this.#counts.get(mark) ?? 0) - 1;
      if (left > 0) this.#counts.set(mark, left);
      else this.#counts.delete(mark);
    }
    this.#confirmed = count;
  }

  isRepetition(packet: IPublishPacket): boolean {
    return packet.dup && packet.qos > 0 && this.#counts.has(markOf(packet));
  }
}

function marksOf(packets: readonly IPublishPacket[]): string[] {
  return packets.flatMap((packet) => (packet.qos > 0 ? [markOf(packet)] : []));
}

/** Of a message of one session. */
export function markOf({ messageId = 0, topic, payload }: IPublishPacket): string {
  return `${messageId.toString(36)}.${crc32(payload, crc32(topic)).toString(36)}`;
}
