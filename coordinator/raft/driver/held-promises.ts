import type { Message, NodeId } from '../core/messages.ts';

interface Held {
  readonly afterSeq: number;
  message: Message;
}

/**
 * Votes and acknowledgements that wait for writes. A write may hang for hours, during which a leader goes on to send heartbeats: of the
 * answers to it one waits, the newest, and in the place of the first, since all of a term promise no more than the term itself.
 */
export class HeldPromises {
  readonly #send: (message: Message) => void;
  /** In the order of `afterSeq`. */
  readonly #held: Held[] = [];
  /** The answers to heartbeats among them. */
  readonly #answers = new Map<NodeId, Held>();

  constructor(send: (message: Message) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#held.length;
  }

  hold(messages: readonly Message[], afterSeq: number): void {
    for (const message of messages) {
      const waiting = message.type === 'heartbeatResponse' ? this.#answers.get(message.to) : undefined;
      if (waiting?.message.term === message.term) waiting.message = message;
      else this.#push({ afterSeq, message });
    }
  }

  #push(held: Held): void {
    this.#held.push(held);
    if (held.message.type === 'heartbeatResponse') this.#answers.set(held.message.to, held);
  }

  /** Sends what waited for nothing behind write `durableSeq`. */
  release(durableSeq: number): void {
    const end = this.#held.findIndex(({ afterSeq }) => afterSeq > durableSeq);
    for (const held of this.#held.splice(0, end < 0 ? this.#held.length : end)) {
      const { to } = held.message;
      if (this.#answers.get(to) === held) this.#answers.delete(to);
      this.#send(held.message);
    }
  }
}
