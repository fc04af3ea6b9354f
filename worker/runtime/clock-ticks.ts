import type { HostedPipeline } from './pipelines/hosted-pipeline.ts';
import type { RuntimeStorage } from './pipelines/runtime-storage.ts';

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
    const { pipelines } = this.#options;
    const all = pipelines().filter((pipeline) => pipeline.takesTicks);
    for (const pipeline of all) if (pipeline.isPlaced) this.#giveOwn(pipeline);
    const due = all.filter((pipeline) => !pipeline.isPlaced);
    // The time of a pipeline that is ahead of the server is its own: in the log too, so that a replay has it.
    const together = due.filter(({ clock }) => !clock.isAhead);
    if (together.length > 0) this.#give(together, time);
    for (const pipeline of due) if (!together.includes(pipeline)) this.#give([pipeline], pipeline.clock.now());
  }

  /** One that runs for a cluster has its own numbers, and the cluster's time. */
  #giveOwn(pipeline: HostedPipeline): void {
    const time = pipeline.tickTime();
    if (time !== undefined) pipeline.tick(pipeline.nextSequence(), time);
  }

  #give(due: readonly HostedPipeline[], time: number): void {
    const { nextSequence, storage } = this.#options;
    const sequence = nextSequence();
    const pipelineIds = due.filter((pipeline) => pipeline.isLogged).map(({ id }) => id);
    const isLogged = storage !== null && pipelineIds.length > 0;
    // A tick that cannot be written counts all the same: a replay has the next one.
    const logged = isLogged ? storage.append({ kind: 'tick', sequence, time, pipelineIds }).catch(() => undefined) : undefined;
    for (const pipeline of due) pipeline.tick(sequence, time, pipeline.isLogged ? logged : undefined);
  }
}
