import type { PlacementHost, WarmProgram } from '../runtime/placed/placement-host.ts';

/** A program that nobody has come for by then is left; whoever comes later waits for it as for any other. */
const KEPT_MS = 60_000;
/** Each holds an engine. */
const KEPT_MAX = 16;

interface Preparation {
  readonly source: string;
  readonly ready: Promise<WarmProgram>;
  readonly since: number;
}

/**
 * Programs that are about to run here: while a pipeline still runs at another worker, what it needs here besides its state is done, and so
 * is no part of its pause. It gives no right to anything, and whoever finds nothing prepared does it then.
 */
export class Preparations {
  readonly #host: Pick<PlacementHost, 'warm'>;
  readonly #now: () => number;
  /** By placement, the oldest first. */
  readonly #known = new Map<string, Preparation>();

  /** @param now Ms since some moment; nobody sets it. */
  constructor(host: Pick<PlacementHost, 'warm'>, now: () => number) {
    this.#host = host;
    this.#now = now;
  }

  /** Resolves when the program can be taken. @throws CepError what is wrong with it, as `PlacementHost.warm` */
  async prepare(placementId: string, source: string): Promise<void> {
    const known = this.#known.get(placementId);
    if (known?.source === source) {
      await known.ready;
      return;
    }
    this.#leave(placementId);
    const made: Preparation = { source, ready: this.#host.warm({ source }), since: this.#now() };
    this.#known.set(placementId, made);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KEPT_MAX) break;
      this.#leave(oldest);
    }
    try {
      await made.ready;
    } catch (error) {
      if (this.#known.get(placementId) === made) this.#known.delete(placementId);
      throw error;
    }
  }

  /** Its caller is to place or to leave it; undefined when this program was not prepared, or could not be. */
  async take(placementId: string, source: string): Promise<WarmProgram | undefined> {
    const known = this.#known.get(placementId);
    if (known?.source !== source) return undefined;
    this.#known.delete(placementId);
    return known.ready.catch(() => undefined);
  }

  /** To be called often: leaves what nobody has come for. */
  look(): void {
    for (const [placementId, { since }] of this.#known) if (this.#now() - since >= KEPT_MS) this.#leave(placementId);
  }

  close(): void {
    for (const placementId of [...this.#known.keys()]) this.#leave(placementId);
  }

  #leave(placementId: string): void {
    const known = this.#known.get(placementId);
    this.#known.delete(placementId);
    known?.ready.then(
      ({ engine }) => engine.leave(),
      () => undefined, // Whoever asked for it was told.
    );
  }
}
