import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { keyOf, WorkerLeases } from '../liveness/worker-leases.ts';
import type { PlacementStrategy } from '../placement/choose-worker.ts';
import type { ClusterState, Placement, Worker } from '../state/cluster-state.ts';
import type { WorkerClient } from '../workers-client/worker-client.ts';
import type { Action } from './action.ts';
import { Backoff } from './backoff.ts';
import { desiredRevision } from './desired-placement.ts';
import { Executor } from './executor.ts';
import { imbalance, type Move } from './imbalance.ts';
import { Observations } from './observations.ts';
import { plan } from './plan.ts';
import { Targets } from './targets.ts';
import type { View } from './view.ts';

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
/** Leases end without anybody saying so. */
const LOOK_MS = 200;
const UNDER_WAY_MAX = 64;

/** What a leader does so that the cluster becomes as it is wanted. A member that follows does nothing of it. */
export class Controller {
  readonly observations = new Observations();
  readonly leases: WorkerLeases;
  readonly #options: ControllerOptions;
  readonly #backoff: Backoff;
  readonly #executor: Executor;
  readonly #underWay = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #ticking: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  /** In which this member leads and knows all that was agreed on before; undefined while it does not. */
  #term: number | undefined;
  #beginning: number | undefined;
  #turn = 0;
  #isClosed = false;
  #wasMassLoss = false;

  constructor(options: ControllerOptions) {
    const { group, client, telemetry, heartbeatTimeoutMs, now } = options;
    this.#options = options;
    this.leases = new WorkerLeases({ timeoutMs: heartbeatTimeoutMs, now });
    this.#backoff = new Backoff(now);
    const { observations, leases } = this;
    this.#executor = new Executor({ group, client, observations, leases, backoff: this.#backoff, telemetry });
    group.onStatus(() => this.#follow());
    group.onChange(() => this.changed());
    this.#follow();
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
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.#look();
    }, GATHER_MS);
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
    return new Targets(this.#view()).choose(placement, placement.workerId);
  }

  /** Moves after which the load is even. */
  imbalance(): readonly Move[] {
    return imbalance(this.#view());
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
    this.leases.begin();
    this.observations.clear();
    this.#backoff.clear();
    this.#ticking = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  #end(): void {
    this.#term = undefined;
    this.#beginning = undefined;
    clearInterval(this.#ticking);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #look(): void {
    if (this.#term === undefined) return;
    this.#noteMassLoss();
    for (const action of plan(this.#view())) this.#start(action, this.#term);
    for (const listener of this.#listeners) listener();
  }

  #start(action: Action, term: number): void {
    if (this.#underWay.size >= UNDER_WAY_MAX || this.#underWay.has(action.key)) return;
    this.#underWay.add(action.key);
    if (action.kind === 'propose' && action.command.type === 'AssignPlacement') this.#turn++;
    const done = (): void => {
      this.#underWay.delete(action.key);
      this.changed();
    };
    void this.#executor.carryOut(action, () => this.#term === term).then(done, done);
  }

  #view(): View {
    const { group, strategy } = this.#options;
    const { state } = group;
    const workers = [...state.workers.values()].filter(({ status }) => status !== 'removed' && status !== 'drained');
    return {
      state,
      strategy,
      turn: this.#turn,
      held: (worker) => this.observations.of(worker)?.held,
      isOver: (process) => this.leases.isOver(process),
      mayBeReplaced: (worker) => this.leases.mayBeReplaced(worker, workers),
      isDue: (what) => this.#backoff.isDue(what),
      revisionOf: (placement) => desiredRevision(state, placement),
    };
  }

  #noteMassLoss(): void {
    const workers = this.#workers();
    const isMassLoss = workers.length > 1 && this.leases.isMassLoss(workers);
    if (isMassLoss && !this.#wasMassLoss) {
      this.#options.telemetry.report('WorkersLostTogether', { workers: workers.filter((one) => this.leases.isOver(one)).length });
    }
    this.#wasMassLoss = isMassLoss;
    this.leases.forget(new Set(this.#processes().map(keyOf)));
  }

  #workers(): readonly Worker[] {
    return [...this.#options.group.state.workers.values()].filter(({ status }) => status !== 'removed' && status !== 'drained');
  }

  /** Those that may still run something. */
  #processes(): { readonly id: string; readonly incarnation: string }[] {
    const { workers, placements } = this.#options.group.state;
    const former = Array.from(placements.values(), ({ formerHolder }) => formerHolder).filter((one) => one !== undefined);
    return [...workers.values(), ...former.map(({ workerId: id, incarnation }) => ({ id, incarnation }))];
  }
}
