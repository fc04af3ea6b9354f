import { limits } from '../../../shared/limits.ts';

const WINDOW_MS = 600_000;
/** A pipeline of which an event was given up shows that for so long. */
const SHOWN_MS = 60_000;

/** How often events of a pipeline had to be given up lately. Times are milliseconds of a clock that only moves on. */
export class Strikes {
  #times: number[] = [];
  #reason = '';
  /** It has happened before, so the pipeline runs where it can hold up no other. */
  isSuspect = false;

  add(now: number, reason: string): void {
    this.#times = [...this.#recent(now), now];
    this.#reason = reason;
    this.isSuspect = true;
  }

  /** The pipeline gets another chance. */
  forgive(): void {
    this.#times = [];
  }

  /** Why the pipeline is given up; undefined while it is not. */
  verdict(now: number): string | undefined {
    const count = this.#recent(now).length;
    return count < limits.pipelineStrikesMax
      ? undefined
      : `${count} events were given up within ten minutes, the last because ${this.#reason}`;
  }

  /** What a view of the pipeline says of it; undefined when it is long ago. */
  shown(now: number): string | undefined {
    return this.#times.some((at) => at > now - SHOWN_MS) ? `an event was given up: ${this.#reason}` : undefined;
  }

  #recent(now: number): number[] {
    return this.#times.filter((at) => at > now - WINDOW_MS);
  }
}
