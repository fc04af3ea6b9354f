import { type Candidate, chooseWorker } from '../placement/choose-worker.ts';
import type { Placement, Worker } from '../state/cluster-state.ts';
import type { View } from './view.ts';

/** Chooses workers for placements, one after another: each counts for the next. */
export class Targets {
  readonly #view: View;
  /** Those that take placements, in the order in which they have registered; undefined until somebody asks. */
  #ready: readonly Worker[] | undefined;
  readonly #loads = new Map<string, number>();
  /** Workers by the pipeline of which they have a replica. */
  readonly #siblings = new Map<string, Set<string>>();
  #turn: number;

  constructor(view: View) {
    this.#view = view;
    this.#turn = view.turn;
  }

  /** At most times nothing is to be placed, and then nobody counts. */
  #counted(): readonly Worker[] {
    const view = this.#view;
    const { workers, placements } = view.state;
    for (const placement of placements.values()) if (placement.workerId !== undefined) this.#count(placement, placement.workerId);
    for (const { status, placementId, targetWorker } of view.state.migrations.values()) {
      const placement = placements.get(placementId);
      if (status === 'started' && placement) this.#count(placement, targetWorker);
    }
    return [...workers.values()]
      .filter((worker) => worker.status === 'ready' && !view.isOver(worker))
      .sort((a, b) => a.registeredIndex - b.registeredIndex);
  }

  /** The worker that is to have a placement; undefined when none can. */
  choose(placement: Placement, except?: string): string | undefined {
    const { groups } = this.#view.state;
    const pipeline = groups.get(placement.groupId)?.pipelines.find(({ name }) => name === placement.pipeline);
    this.#ready ??= this.#counted();
    const siblings = this.#siblings.get(pipelineKey(placement));
    const candidates = this.#ready
      .filter(({ id }) => id !== except)
      .map(({ id, pipelinesMax }): Candidate => {
        return { id, load: this.#loads.get(id) ?? 0, capacity: pipelinesMax, hasSibling: siblings?.has(id) === true };
      });
    const { strategy } = this.#view;
    const chosen = chooseWorker({ strategy, candidates, affinity: pipeline?.workerAffinity, turn: this.#turn });
    if (chosen === undefined) return undefined;
    this.#turn++;
    this.#count(placement, chosen);
    return chosen;
  }

  #count(placement: Placement, workerId: string): void {
    this.#loads.set(workerId, (this.#loads.get(workerId) ?? 0) + 1);
    const key = pipelineKey(placement);
    const siblings = this.#siblings.get(key) ?? new Set();
    siblings.add(workerId);
    this.#siblings.set(key, siblings);
  }
}

function pipelineKey({ groupId, pipeline }: Placement): string {
  return `${groupId}:${pipeline}`;
}
