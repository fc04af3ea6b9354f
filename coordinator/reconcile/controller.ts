import { setTimeout as sleep } from 'node:timers/promises';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { WorkerLeases } from '../liveness/worker-leases.ts';
import type { PlacementStrategy } from '../placement/choose-worker.ts';
import type { ClusterState, Placement } from '../state/cluster-state.ts';
import type { WorkerClient } from '../workers-client/worker-client.ts';
import type { Move } from './imbalance.ts';
import type { Observations } from './observations.ts';
import { Reconciler } from './reconciler.ts';

export interface ControllerOptions {
  readonly group: GroupMember;
  readonly client: WorkerClient;
  readonly strategy: PlacementStrategy;
  readonly heartbeatTimeoutMs: number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly telemetry: Telemetry;
}

/** Changes that come together are looked at together. */
const GATHER_MS = 5;
/** Of a leader's time, what looks may take that changes ask for: with a thousand workers one takes longer than it waits for. */
const LOOK_SHARE = 0.2;
/** Leases end without anybody saying so. */
const LOOK_MS = 200;

/** What happens all the time, and asks nothing of anybody that is not asked already. */
const unplanned: ReadonlySet<string> = new Set(['IngressAppended', 'CheckpointCommitted']);

/** When a leader looks at how things are, and for how long it is one. A member that follows does nothing of it. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #reconciler: Reconciler;
  readonly #listeners = new Set<() => void>();
  #ticking: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  /** In which this member leads and knows all that was agreed on before; undefined while it does not. */
  #term: number | undefined;
  #beginning: number | undefined;
  /** How long the last look took. */
  #lookTookMs = 0;
  #isClosed = false;

  constructor(options: ControllerOptions) {
    const { group } = options;
    this.#options = options;
    this.#reconciler = new Reconciler({ ...options, wait: (ms) => sleep(ms), onDone: () => this.changed() });
    group.onStatus(() => this.#follow());
    group.onChange((_state, events) => {
      if (events.length === 0 || events.some(({ type }) => !unplanned.has(type))) this.changed();
    });
    this.#follow();
  }

  get leases(): WorkerLeases {
    return this.#reconciler.leases;
  }

  get observations(): Observations {
    return this.#reconciler.observations;
  }

  get isLeading(): boolean {
    return this.#term !== undefined;
  }

  /** Called after each look of a leader at how things are. */
  onLook(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Something is known that was not. */
  changed(): void {
    if (this.#term === undefined || this.#gathering !== undefined) return;
    const gatherMs = Math.min(LOOK_MS, Math.max(GATHER_MS, this.#lookTookMs / LOOK_SHARE));
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.#look();
    }, gatherMs);
  }

  /** Resolves with true when the state is as wanted, with false when that takes too long. */
  until(isReached: (state: ClusterState) => boolean, withinMs: number): Promise<boolean> {
    const { group } = this.#options;
    if (isReached(group.state)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (isDone: boolean): void => {
        clearTimeout(timer);
        stop();
        resolve(isDone);
      };
      const timer = setTimeout(() => end(false), withinMs);
      const stop = group.onChange((state) => {
        if (isReached(state)) end(true);
      });
    });
  }

  /** The same of what is known without being agreed on: looked at with every look. */
  untilLook(isReached: () => boolean, withinMs: number): Promise<boolean> {
    if (isReached()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (isDone: boolean): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve(isDone);
      };
      const timer = setTimeout(() => end(false), withinMs);
      const look = (): void => {
        if (isReached()) end(true);
      };
      this.#listeners.add(look);
    });
  }

  /** The worker that a placement would be given now; undefined when no other has room. */
  targetFor(placement: Placement): string | undefined {
    return this.#reconciler.targetFor(placement);
  }

  /** A worker was asked to stop a placement, and has not answered. */
  isClosing(placementId: string): boolean {
    return this.#reconciler.isClosing(placementId);
  }

  /** Moves after which the load is even. */
  imbalance(): readonly Move[] {
    return this.#reconciler.imbalance();
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #follow(): void {
    const { role, term } = this.#options.group.status();
    if (this.#isClosed || role !== 'leader') this.#end();
    else if (this.#term !== term && this.#beginning !== term) void this.#begin(term);
  }

  async #begin(term: number): Promise<void> {
    this.#end();
    this.#beginning = term;
    try {
      await this.#options.group.confirmed();
    } catch {
      // It leads no more, or cannot say so yet: the next word of the group, or the next look, begins anew.
      if (this.#beginning === term) this.#beginning = undefined;
      if (!this.#isClosed) setTimeout(() => this.#follow(), LOOK_MS).unref();
      return;
    }
    if (this.#beginning !== term || this.#isClosed) return;
    this.#beginning = undefined;
    this.#term = term;
    this.#reconciler.begin(term);
    this.#ticking = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  #end(): void {
    this.#term = undefined;
    this.#beginning = undefined;
    this.#reconciler.end();
    clearInterval(this.#ticking);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #look(): void {
    if (this.#term === undefined) return;
    const began = this.#options.now();
    this.#reconciler.look();
    for (const listener of this.#listeners) listener();
    this.#lookTookMs = this.#options.now() - began;
  }
}
