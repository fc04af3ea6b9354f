import type { Heartbeat, Message, NodeId } from '../core/messages.ts';

const heldMs = 2;

/**
 * A leader says with a heartbeat what is committed, after each commit. Under load the next entries, which say it too, follow at once: such
 * a heartbeat waits a little, and entries for the same node take its place. One that asks for an answer, for reads, leaves at once.
 */
export class HeldHeartbeats {
  readonly #send: (message: Heartbeat) => void;
  readonly #held = new Map<NodeId, Heartbeat>();
  /** The newest round of reads that each node was asked to confirm. */
  readonly #rounds = new Map<NodeId, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (message: Heartbeat) => void) {
    this.#send = send;
  }

  /** True when it is kept, to be sent later or to be replaced. */
  holds(message: Message): boolean {
    const { to } = message;
    if (message.type === 'appendRequest') this.#held.delete(to);
    if (message.type !== 'heartbeat') return false;
    if (this.#rounds.get(to) !== message.round) {
      this.#rounds.set(to, message.round);
      this.#held.delete(to);
      return false;
    }
    this.#held.set(to, message);
    this.#timer ??= setTimeout(() => this.#release(), heldMs);
    return true;
  }

  #release(): void {
    this.#timer = undefined;
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const message of held) this.#send(message);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#held.clear();
  }
}
