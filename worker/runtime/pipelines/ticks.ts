import type { RuntimeStorage } from './runtime-storage.ts';

/** At most so long no tick is given to a pipeline that rests, ms: what others see of its time is no older. */
const REST_MS_MAX = 2_000;

/** What takes ticks. */
interface TickTaker {
  readonly id: string;
  readonly isLogged: boolean;
  tick(sequence: number, time: number, logged?: Promise<void>): void;
}

/** One tick for all of these, in the log first where that is kept. */
export function giveTick(
  due: readonly TickTaker[],
  { sequence, time, storage }: { readonly sequence: number; readonly time: number; readonly storage: RuntimeStorage | null },
): void {
  const pipelineIds = due.filter((pipeline) => pipeline.isLogged).map(({ id }) => id);
  const isLogged = storage !== null && pipelineIds.length > 0;
  // A tick that cannot be written counts all the same: a replay has the next one.
  const logged = isLogged ? storage.append({ kind: 'tick', sequence, time, pipelineIds }).catch(() => undefined) : undefined;
  for (const pipeline of due) pipeline.tick(sequence, time, pipeline.isLogged ? logged : undefined);
}

/**
 * A pipeline in which nothing can come due for a while needs no ticks: thousands that wait would keep a processor busy. The last tick that
 * was left out is given ahead of the next input, which so finds the time where ticks would have brought it.
 */
export class TickRest {
  #until = Number.NEGATIVE_INFINITY;
  #leftOut: number | undefined;

  /** Behind the tick of this time, no other can do anything for so long. */
  begin(time: number, restMs: number): void {
    this.#until = time + Math.min(restMs, REST_MS_MAX);
  }

  /** Whether a tick of this time may be left out, which it then is. */
  leavesOut(time: number): boolean {
    const isLeftOut = time < this.#until;
    this.#leftOut = isLeftOut ? time : undefined;
    return isLeftOut;
  }

  /** Something else happens. The time of the tick that has to be given before, if any. */
  end(): number | undefined {
    const time = this.#leftOut;
    this.#until = Number.NEGATIVE_INFINITY;
    this.#leftOut = undefined;
    return time;
  }
}
