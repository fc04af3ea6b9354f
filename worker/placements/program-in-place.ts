import type { Static } from 'typebox';
import type { placementRequestSchema } from '../../shared/protocol/placements.ts';
import type { PipelineDefinition } from '../runtime/pipelines/runtime-storage.ts';

type PlacementRequest = Static<typeof placementRequestSchema>;

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
  /** Whose program is about to take the place of the one that runs, and the version that the pipeline has then. */
  #next: { readonly request: PlacementRequest; readonly version: number } | undefined;

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

  /** The request with whose program a life begins: the one of before, where what was worked is of that. */
  begins(request: PlacementRequest): PlacementRequest {
    this.runs(request);
    const { former_source: former } = request;
    if (former === undefined) return request;
    this.#running = { ...request, source: former };
    this.#settled = { ...this.#running, revision: 'former' };
    return this.#running;
  }

  /** The program of a request is about to take the place of the one that runs, in the pipeline of this definition. */
  changes(request: PlacementRequest, { version }: PipelineDefinition): void {
    this.#next = { request, version: version + 1 };
  }

  /** It has taken that place, or had it. */
  runs(request: PlacementRequest): void {
    this.#running = request;
    this.#settled = request;
    this.#refusal = undefined;
    this.#next = undefined;
  }

  /** Whether with a checkpoint of the pipeline, as it was defined then, the program is another one. */
  isOfChange({ version }: PipelineDefinition): boolean {
    return this.#next?.version === version;
  }

  /** Whether a checkpoint of the pipeline, as it was defined then, is of a program of before the one of a request. */
  isFormer(definition: PipelineDefinition, { source, former_source: former }: PlacementRequest): boolean {
    const saved = this.isOfChange(definition) ? this.#next?.request : this.#running;
    return former !== undefined && saved?.source !== source;
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
