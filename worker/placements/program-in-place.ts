import type { PlacementRequest } from './placement.ts';

interface Refusal {
  readonly reason: string;
  /** So often in a row. */
  readonly count: number;
}

/** Which of the programs that a placement was asked for runs: from the moment at which one has taken the place of the one before, and not from when it was asked for. */
export class ProgramInPlace {
  /** The request of the program that runs. */
  #running: PlacementRequest;
  /** The last request that was dealt with: its program runs, or was refused. */
  #settled: PlacementRequest;
  #refusal: Refusal | undefined;
  /** Requests that wait for their turn, the one that is under way included. */
  #waiting = 0;

  constructor(request: PlacementRequest) {
    this.#running = request;
    this.#settled = request;
  }

  /** Of what was last asked for and has been dealt with. */
  get revision(): string {
    return this.#settled.revision;
  }

  /** Why the program that is asked for does not run, while the one before it does. */
  get problem(): string | undefined {
    return this.#refusal && `its new program cannot run, and the one before runs on: ${this.#refusal.reason}`;
  }

  /** In a row; 0 when the program that was asked for last runs, or waits for its turn. */
  get refusals(): number {
    return this.#refusal?.count ?? 0;
  }

  /** A life begins with the program of a request, or this one has taken the place of the one before. */
  runs(request: PlacementRequest): void {
    this.#running = request;
    this.#settled = request;
    this.#refusal = undefined;
  }

  refused(request: PlacementRequest, reason: string): void {
    const isSame = this.#refusal !== undefined && isOfSameProgram(request, this.#settled);
    this.#refusal = { reason, count: isSame ? this.refusals + 1 : 1 };
    this.#settled = request;
  }

  /** Whether the program of a request has to take the place of the one that runs; if not, the request is dealt with. */
  isToChange(request: PlacementRequest): boolean {
    // Somebody asks for it again.
    const isTriedAgain = this.#refusal !== undefined && request.epoch > this.#settled.epoch;
    if (this.#waiting > 0 || isTriedAgain || !isOfSameProgram(request, this.#settled)) return true;
    this.#settled = request;
    return false;
  }

  isRunning(request: PlacementRequest): boolean {
    return isOfSameProgram(request, this.#running);
  }

  /** `change` deals with what is asked for by the time of its turn. */
  async inTurn(change: () => Promise<void>): Promise<void> {
    this.#waiting++;
    try {
      await change();
    } finally {
      this.#waiting--;
    }
  }
}

function isOfSameProgram(one: PlacementRequest, other: PlacementRequest): boolean {
  return one.source === other.source && one.replicas === other.replicas && one.partition_key === other.partition_key;
}
