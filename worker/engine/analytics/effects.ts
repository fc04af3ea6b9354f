import type { Answer } from '../engine.ts';
import { WaitingQueues } from './waiting-queues.ts';

/** What takes the answer to a question. */
export type Receiver = (answer: Omit<Answer, 'id'>) => void;

/**
 * What a running program has asked of the world and not been told yet, and what it still has to do before the present call of
 * the engine returns. Questions are numbered in the order in which they are asked.
 */
export class Effects {
  #asked = 0;
  readonly #receivers = new Map<number, Receiver>();
  #tasks: (() => void)[] = [];
  readonly waitingQueues = new WaitingQueues();

  /** The number of a new question. */
  ask(receiver: Receiver): number {
    this.#receivers.set(++this.#asked, receiver);
    return this.#asked;
  }

  /** False when nobody waits for it: unknown, or answered before. */
  answer({ id, ...rest }: Answer): boolean {
    const receiver = this.#receivers.get(id);
    if (receiver === undefined) return false;
    this.#receivers.delete(id);
    receiver(rest);
    return true;
  }

  /** Questions without an answer. */
  get outstanding(): number {
    return this.#receivers.size;
  }

  /** To be done when everything that the present call causes is through; in the order given. */
  later(task: () => void): void {
    this.#tasks.push(task);
  }

  get hasTasks(): boolean {
    return this.#tasks.length > 0;
  }

  runTasks(): void {
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) task();
  }

  /** The questions themselves are the operators' to save: after a restore they are asked again, under new numbers. */
  save(): number {
    return this.#asked;
  }

  load(asked: number): void {
    this.#asked = asked;
  }
}
