import type { GeneratedEvent, Generator } from './generator.ts';
import { Random } from './random.ts';

const TICK_MS = 10;
/** What one tick may take: other work has its turn in between. */
const TICK_WORK_MS = 20;
/** Looked at so often whether the time is up. */
const EVENTS_BETWEEN_LOOKS = 64;

export interface LiveFeedOptions {
  readonly generator: Generator;
  /** Events per second. */
  readonly rate: number;
  /** After so many it ends. @default never */
  readonly countMax?: number;
  readonly seed?: number;
  readonly take: (event: GeneratedEvent) => void;
  /** Nothing is made while whoever takes the results does not keep up. */
  readonly isFull?: () => boolean;
  /** It came to its end, or failed with what `take` threw. */
  readonly onEnd?: (failure?: unknown) => void;
}

/** Makes events at a rate. What a busy machine cannot keep up with within a second is not made up for later. */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #next: () => GeneratedEvent;
  #timer: NodeJS.Timeout | undefined;
  #lastAt = 0;
  #due = 0;
  #generated = 0;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#next = options.generator.open(new Random(options.seed ?? 1));
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  get generated(): number {
    return this.#generated;
  }

  start(): void {
    if (this.isRunning) return;
    this.#lastAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    const { rate, isFull } = this.#options;
    this.#due = Math.min(this.#due + ((now - this.#lastAt) * rate) / 1000, rate);
    this.#lastAt = now;
    if (isFull?.() === true) return;
    try {
      this.#make(now + TICK_WORK_MS);
    } catch (error) {
      this.#end(error);
      return;
    }
    if (this.#generated >= (this.#options.countMax ?? Infinity)) this.#end();
  }

  #make(until: number): void {
    const { take, countMax = Infinity } = this.#options;
    for (let made = 1; this.#due >= 1 && this.#generated < countMax; made++) {
      this.#due--;
      this.#generated++;
      take(this.#next());
      if (made % EVENTS_BETWEEN_LOOKS === 0 && performance.now() > until) return;
    }
  }

  #end(failure?: unknown): void {
    this.stop();
    this.#options.onEnd?.(failure);
  }
}
