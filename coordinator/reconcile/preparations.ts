import type { ClusterState, Migration } from '../state/cluster-state.ts';
import type { Prepared } from './view.ts';

/** What this leader knows of targets that were to be made ready, and of sources that were to be closed. The next one has both done anew. */
export class Preparations {
  readonly #known = new Map<string, Prepared>();
  readonly #closed = new Set<string>();

  /** @param problem Why the program cannot run there; whatever else went wrong is no reason to stay. */
  ended(migrationId: string, problem?: string): void {
    this.#known.set(migrationId, problem === undefined ? {} : { problem });
  }

  of({ id }: Migration): Prepared | undefined {
    return this.#known.get(id);
  }

  /** The source has answered that it is closed. */
  closed(migrationId: string): void {
    this.#closed.add(migrationId);
  }

  isClosed({ id }: Migration): boolean {
    return this.#closed.has(id);
  }

  /** Those of migrations that have moved or ended. */
  forget({ migrations }: Pick<ClusterState, 'migrations'>): void {
    for (const known of [this.#known, this.#closed]) {
      for (const id of known.keys()) if (migrations.get(id)?.status !== 'started') known.delete(id);
    }
  }

  clear(): void {
    this.#known.clear();
    this.#closed.clear();
  }
}
