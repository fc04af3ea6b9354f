/** Something that is on its way: it happens when its turn comes, or is lost. */
interface Event {
  readonly run: () => void;
  /** Whoever waits for it hears nothing. */
  readonly lost: () => void;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Time, and everything that is under way. Nothing happens by itself: who holds it says what is next. */
export class SimulatedNetwork {
  nowMs = 1_000_000;
  readonly #events: Event[] = [];
  #timers: Timer[] = [];

  get size(): number {
    return this.#events.length;
  }

  /** @param lost What is said when it is. @default it cannot be: it only comes later */
  send(run: () => void, lost: () => void = () => this.send(run)): void {
    this.#events.push({ run, lost });
  }

  /** Something that takes two ways: there, and back with the answer. Either may be lost, and then nobody knows whether it was done. */
  ask<T>(act: () => Promise<T>, unanswered: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const lost = (): void => reject(unanswered());
      const back = (settle: () => void): void => this.send(settle, lost);
      this.send(() => {
        void act().then(
          (value) => back(() => resolve(value)),
          (error: unknown) => back(() => reject(error)),
        );
      }, lost);
    });
  }

  deliver(at: number): void {
    this.#take(at)?.run();
  }

  lose(at: number): void {
    this.#take(at)?.lost();
  }

  /** Whoever waits gives up, and it happens later all the same. */
  delay(at: number): void {
    const event = this.#take(at);
    if (event === undefined) return;
    event.lost();
    this.#events.push({ run: event.run, lost: () => undefined });
  }

  after(ms: number, run: () => void): void {
    this.#timers.push({ dueMs: this.nowMs + ms, run });
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ dueMs }) => dueMs > this.nowMs);
    for (const { run } of due) run();
  }

  #take(at: number): Event | undefined {
    return this.#events.length === 0 ? undefined : this.#events.splice(at % this.#events.length, 1)[0];
  }
}

/** Lets everything happen that waits for nobody. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
