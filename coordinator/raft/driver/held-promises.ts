import type { Message, NodeId } from '../core/messages.ts';

interface Held {
  readonly afterSeq: number;
  message: Message;
}

/**
 * Votes and acknowledgements that wait for writes. A write may hang for hours, during which a leader goes on to send heartbeats: of the
 * answers to it one waits, the newest, and in the place of the first, since all of a term promise no more than the term itself. So do
 * refusals, with which a node that has lost entries answers each heartbeat: of those that say the same one waits, the first.
 */
export class HeldPromises {
  readonly #send: (message: Message) => void;
  /** In the order of `afterSeq`. */
  readonly #held: Held[] = [];
  /** The answers to heartbeats among them. */
  readonly #answers = new Map<NodeId, Held>();
  /** By what they say. */
  readonly #refusals = new Set<string>();

  constructor(send: (message: Message) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#held.length;
  }

  hold(messages: readonly Message[], afterSeq: number): void {
    for (const message of messages) {
      const refusal = refusalIn(message);
      if (refusal !== undefined && this.#refusals.has(refusal)) continue;
      const waiting = message.type === 'heartbeatResponse' ? this.#answers.get(message.to) : undefined;
      if (waiting?.message.term === message.term) waiting.message = message;
      else this.#push({ afterSeq, message });
    }
  }

  #push(held: Held): void {
    this.#held.push(held);
    if (held.message.type === 'heartbeatResponse') this.#answers.set(held.message.to, held);
    const refusal = refusalIn(held.message);
    if (refusal !== undefined) this.#refusals.add(refusal);
  }

  /** Sends what waited for nothing behind write `durableSeq`. */
  release(durableSeq: number): void {
    const end = this.#held.findIndex(({ afterSeq }) => afterSeq > durableSeq);
    for (const held of this.#held.splice(0, end < 0 ? this.#held.length : end)) {
      const { to } = held.message;
      if (this.#answers.get(to) === held) this.#answers.delete(to);
      const refusal = refusalIn(held.message);
      if (refusal !== undefined) this.#refusals.delete(refusal);
      this.#send(held.message);
    }
  }
}

/** All that a refusal of entries says; undefined of other messages. */
function refusalIn(message: Message): string | undefined {
  if (message.type !== 'appendResponse' || message.accepted) return undefined;
  const { to, term, index, hintIndex, hintTerm, isRecovering } = message;
  return `${to} ${term} ${index} ${hintIndex} ${hintTerm} ${isRecovering}`;
}
