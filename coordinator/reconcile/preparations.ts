import type { ClusterState, Migration } from '../state/cluster-state.ts';
import type { Prepared } from './view.ts';

/** What this leader knows of targets that were to be made ready. The next one has it done anew: it costs no pause. */
export class Preparations {
  readonly #known = new Map<string, Prepared>();

  /** @param problem Why the program cannot run there; whatever else went wrong is no reason to stay. */
  ended(migrationId: string, problem?: string): void {
    this.#known.set(migrationId, problem === undefined ? {} : { problem });
  }

  of({ id }: Migration): Prepared | undefined {
    return this.#known.get(id);
  }

  /** Those of migrations that have moved or ended. */
  forget({ migrations }: Pick<ClusterState, 'migrations'>): void {
    for (const id of this.#known.keys()) if (migrations.get(id)?.status !== 'started') this.#known.delete(id);
  }

  clear(): void {
    this.#known.clear();
  }
}
