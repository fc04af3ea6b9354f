import type { HostedPipeline } from './pipelines/hosted-pipeline.ts';
import type { RuntimeStorage } from './pipelines/runtime-storage.ts';
import { giveTick } from './pipelines/ticks.ts';

/** How often programs are told the time; what is due is through a tenth of a second later. */
const TICK_MS = 100;

export interface ClockTicksOptions {
  readonly pipelines: () => readonly HostedPipeline[];
  readonly nextSequence: () => number;
  readonly arrivalTime: () => number;
  readonly storage: RuntimeStorage | null;
}

/** Tells running programs what time it is, as an input like any other, so that a replay has the same. */
export class ClockTicks {
  readonly #options: ClockTicksOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ClockTicksOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(this.#options.arrivalTime()), TICK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(time: number): void {
    const { pipelines, nextSequence, storage } = this.#options;
    const together: HostedPipeline[] = [];
    for (const pipeline of pipelines()) {
      if (!pipeline.takesTicks) continue;
      // The time of a pipeline that is ahead of the server is its own: in the log too, so that a replay has it.
      const own = pipeline.isPlaced ? pipeline.tickTime() : pipeline.clock.isAhead ? pipeline.clock.now() : time;
      if (own === undefined || pipeline.rests(own)) continue;
      if (own === time && !pipeline.isPlaced) together.push(pipeline);
      // One that runs for a cluster has its own numbers.
      else giveTick([pipeline], { sequence: pipeline.nextSequence(), time: own, storage });
    }
    if (together.length > 0) giveTick(together, { sequence: nextSequence(), time, storage });
  }
}
