import type { WatermarkHold } from '../time/watermark-hold.ts';

/** A queue in which rows wait for answers. */
export interface WaitingQueue {
  readonly hold: WatermarkHold;
  /** Arrival number of the oldest event of which something waits. */
  readonly oldest: number;
  /** Whether what leaves the hold comes to this queue. */
  isBehind(hold: WatermarkHold): boolean;
  /** What comes behind it is of another input. */
  fence(): void;
}

/**
 * The queues of a program that are not empty. A fence stands in them where an input of the host ends and the next one begins. It goes through
 * queues as rows do, from one to those behind it, so that each finds between which rows time was moved by which input.
 */
export class WaitingQueues {
  readonly #queues = new Set<WaitingQueue>();

  add(queue: WaitingQueue): void {
    this.#queues.add(queue);
  }

  delete(queue: WaitingQueue): void {
    this.#queues.delete(queue);
  }

  get isSome(): boolean {
    return this.#queues.size > 0;
  }

  /** Of all of them. */
  get oldest(): number {
    let oldest = Infinity;
    for (const queue of this.#queues) oldest = Math.min(oldest, queue.oldest);
    return oldest;
  }

  /** What comes from here on is of another input. */
  divide(): void {
    if (this.isSome) fenceFirst([...this.#queues]);
  }

  /** A fence has left the queue. */
  passOn(from: WaitingQueue): void {
    fenceFirst([...this.#queues].filter((queue) => queue !== from && queue.isBehind(from.hold)));
  }
}

/** A queue behind another one gets the fence from that. */
function fenceFirst(queues: readonly WaitingQueue[]): void {
  const first = queues.filter((queue) => !queues.some((other) => other !== queue && queue.isBehind(other.hold)));
  for (const queue of first) queue.fence();
}
