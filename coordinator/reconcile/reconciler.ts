import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { WorkerProcess } from '../liveness/process-map.ts';
import { WorkerLeases } from '../liveness/worker-leases.ts';
import type { PlacementStrategy } from '../placement/choose-worker.ts';
import { bounds } from '../state/bounds.ts';
import type { Placement, Worker } from '../state/cluster-state.ts';
import { workersOf } from '../state/queries.ts';
import { type Action, placementKey } from './action.ts';
import { Backoff } from './backoff.ts';
import { DesiredRevisions } from './desired-revisions.ts';
import { Executor, type ExecutorOptions } from './executor.ts';
import { imbalance, type Move } from './imbalance.ts';
import { LeavingSince } from './leaving-since.ts';
import { Observations } from './observations.ts';
import { plan } from './plan.ts';
import { Preparations } from './preparations.ts';
import { agreedStateFormat } from './state-format.ts';
import { Targets } from './targets.ts';
import { UnderWay } from './under-way.ts';
import type { View } from './view.ts';

export interface ReconcilerOptions extends Pick<ExecutorOptions, 'client' | 'wait'> {
  readonly group: Pick<GroupMember, 'state' | 'propose'>;
  readonly strategy: PlacementStrategy;
  readonly heartbeatTimeoutMs: number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly telemetry: Telemetry;
  /** Called when an action has ended: there may be more to do. */
  readonly onDone: () => void;
}

const UNDER_WAY_MAX = 64;
/** Of these, placements that leave: each may wait for its sinks and receivers for long, and nothing else is to wait for them. */
const LEAVING_MAX = 16;
/**
 * Machines that come and go under ever new names are not to fill the list: while it has more, a worker that is silent for an hour is removed. A
 * process that was removed stays out until it is restarted, so a network that is cut for a day costs a smaller fleet nothing.
 */
const CROWD = bounds.workersMax / 2;
const FORGOTTEN_MS = 3_600_000;

/** What a leader knows, and what it starts each time that it looks. It has no clock of its own: whoever leads says when it looks. */
export class Reconciler {
  readonly observations = new Observations();
  readonly leases: WorkerLeases;
  readonly #options: ReconcilerOptions;
  readonly #backoff: Backoff;
  readonly #executor: Executor;
  readonly #underWay = new UnderWay();
  readonly #revisions = new DesiredRevisions();
  readonly #preparations = new Preparations();
  readonly #leavingSince: LeavingSince;
  /** In which the member leads; undefined while it does not. */
  #term: number | undefined;
  #turn = 0;
  #wasMassLoss = false;

  constructor(options: ReconcilerOptions) {
    const { group, client, telemetry, heartbeatTimeoutMs, now, wait } = options;
    this.#options = options;
    this.leases = new WorkerLeases({ timeoutMs: heartbeatTimeoutMs, now });
    this.#backoff = new Backoff(now);
    this.#leavingSince = new LeavingSince(now);
    const { observations, leases } = this;
    this.#executor = new Executor({
      group,
      client,
      observations,
      leases,
      backoff: this.#backoff,
      preparations: this.#preparations,
      telemetry,
      wait,
    });
  }

  /** The member leads, and has everything that was agreed on before. */
  begin(term: number): void {
    this.#term = term;
    this.leases.begin(this.#workers().filter(({ status }) => status === 'unhealthy'));
    this.observations.clear();
    this.#backoff.clear();
    this.#preparations.clear();
    this.#leavingSince.clear();
  }

  end(): void {
    this.#term = undefined;
  }

  /** Starts what is to be done now. */
  look(): void {
    if (this.#term === undefined) return;
    this.leases.meet(this.#options.group.state.workers.values());
    this.#noteMassLoss();
    this.#underWay.giveUp((process) => this.leases.isOver(process));
    this.#preparations.forget(this.#options.group.state);
    this.#leavingSince.forget(this.#options.group.state);
    for (const action of plan(this.#view())) this.#start(action, this.#term);
  }

  /** The worker that a placement would be given now; undefined when no other has room. */
  targetFor(placement: Placement): string | undefined {
    return new Targets(this.#view()).choose(placement, placement.workerId);
  }

  /** Its worker was asked to stop it, and has not answered. */
  isClosing(placementId: string): boolean {
    return this.#underWay.isUnderWay(placementKey(placementId), 'close');
  }

  /** Moves after which the load is even. */
  imbalance(): readonly Move[] {
    return imbalance(this.#view());
  }

  #start(action: Action, term: number): void {
    if (this.#underWay.size >= UNDER_WAY_MAX || this.#underWay.has(action.key)) return;
    if (action.kind === 'leave' && this.#underWay.count('leave') >= LEAVING_MAX) return;
    const ended = this.#underWay.begin(action);
    if (action.kind === 'propose' && action.command.type === 'AssignPlacement') this.#turn++;
    const done = (): void => {
      ended();
      this.#options.onDone();
    };
    void this.#executor.carryOut(action, () => this.#term === term).then(done, done);
  }

  #view(): View {
    const { group, strategy } = this.#options;
    const { state } = group;
    const workers = this.#workers();
    return {
      state,
      strategy,
      turn: this.#turn,
      held: (worker) => this.observations.of(worker)?.held,
      isOver: (process) => this.leases.isOver(process),
      isForgotten: (worker) => workersOf(state).length > CROWD && this.leases.silentMs(worker) > FORGOTTEN_MS,
      mayBeReplaced: (worker) => this.leases.mayBeReplaced(worker, workers),
      isDue: (what) => this.#backoff.isDue(what),
      prepared: (migration) => this.#preparations.of(migration),
      isClosed: (migration) => this.#preparations.isClosed(migration),
      isFormatKnown: () => agreedStateFormat(state, this.observations) !== undefined,
      leavingMs: (placement) => this.#leavingSince.ms(placement),
      revisionOf: (placement) => this.#revisions.of(state, placement),
    };
  }

  #noteMassLoss(): void {
    const workers = this.#workers();
    const isMassLoss = workers.length > 1 && this.leases.isMassLoss(workers);
    if (isMassLoss && !this.#wasMassLoss) {
      this.#options.telemetry.report('WorkersLostTogether', { workers: workers.filter((one) => this.leases.isOver(one)).length });
    }
    this.#wasMassLoss = isMassLoss;
    // At most times there is nobody to forget.
    if (this.leases.remembered > this.#options.group.state.workers.size) this.leases.forgetOthers(this.#processes());
  }

  #workers(): readonly Worker[] {
    return [...this.#options.group.state.workers.values()].filter(({ status }) => status !== 'removed' && status !== 'drained');
  }

  /** Those that may still run something. */
  #processes(): WorkerProcess[] {
    const { workers, placements } = this.#options.group.state;
    const former = Array.from(placements.values(), ({ formerHolder }) => formerHolder).filter((one) => one !== undefined);
    return [...workers.values(), ...former.map(({ workerId: id, incarnation }) => ({ id, incarnation }))];
  }
}
