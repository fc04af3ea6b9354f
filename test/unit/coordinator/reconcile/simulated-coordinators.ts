import type { Done } from '../../../../coordinator/cluster/group-member.ts';
import { Deliveries } from '../../../../coordinator/ingress/deliveries.ts';
import { ClusterClock } from '../../../../coordinator/liveness/cluster-clock.ts';
import { Heartbeats } from '../../../../coordinator/liveness/heartbeats.ts';
import { RaftRefusal } from '../../../../coordinator/raft/group.ts';
import { Reconciler } from '../../../../coordinator/reconcile/reconciler.ts';
import { apply } from '../../../../coordinator/state/apply.ts';
import { type ClusterState, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../../coordinator/state/format.ts';
import type { WorkerClient } from '../../../../coordinator/workers-client/worker-client.ts';
import { CepError } from '../../../../shared/errors/error.ts';
import { Telemetry } from '../../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../../shared/telemetry/metric-registry.ts';
import type { SimulatedNetwork } from './simulated-network.ts';

type Client = Pick<WorkerClient, 'put' | 'prepare' | 'delete' | 'close' | 'reopen' | 'deliver' | 'checkpoint'>;

interface Pending {
  readonly command: Command;
  readonly resolve: (done: Done) => void;
  readonly reject: (error: Error) => void;
}

const telemetry = new Telemetry(silentLogger, new MetricRegistry());
const TIMEOUT_MS = 15_000;

/** One member: what it does while it leads, and while it does not know yet that it leads no more. */
class Member {
  readonly reconciler: Reconciler;
  readonly heartbeats: Heartbeats;
  readonly pending: Pending[] = [];
  /** Undefined while it leads, or has nothing to show. */
  stale: ClusterState | undefined = emptyState;
  isLeading = false;
  /** In which it led last. */
  term = 0;
  look: () => void = () => undefined;
  demoted: () => void = () => undefined;

  constructor(of: SimulatedCoordinators, network: SimulatedNetwork, client: Client) {
    const member = this;
    const group = {
      get state(): ClusterState {
        return member.stale ?? of.state;
      },
      propose: (command: Command) => of.propose(this, command),
      confirmed: async () => {
        if (this.stale !== undefined) throw new RaftRefusal('timeout');
        return { state: of.state, index: of.state.index };
      },
      status: () => ({ role: this.isLeading ? 'leader' : 'follower' }) as never,
      onStatus: (listener: (status: never) => void) => {
        this.demoted = () => listener(undefined as never);
        return () => undefined;
      },
      // No pipeline is removed in a simulation.
      onChange: () => () => undefined,
    };
    const now = (): number => network.nowMs;
    const wait = (ms: number): Promise<void> => new Promise((resolve) => network.after(ms, resolve));
    this.reconciler = new Reconciler({
      ...{ group, client, wait, now, telemetry, strategy: 'least-loaded', heartbeatTimeoutMs: TIMEOUT_MS, onDone: () => undefined },
    });
    const controller = {
      get isLeading(): boolean {
        return member.isLeading;
      },
      isClosing: (placementId: string) => this.reconciler.isClosing(placementId),
      leases: this.reconciler.leases,
      observations: this.reconciler.observations,
      changed: () => undefined,
      onLook: (listener: () => void) => {
        this.look = listener;
      },
    };
    const clusterClock = new ClusterClock({ now, clock: now });
    this.heartbeats = new Heartbeats({ group, controller, now, clock: now, clusterClock, clusterTime: now });
    new Deliveries({
      group,
      client,
      controller,
      telemetry,
      now,
      after: (ms, then) => (ms === 0 ? network.send(then) : network.after(ms, then)),
    });
  }
}

/** A group of members of which one leads; the others may think that they do. What is agreed on goes through the commands that ship. */
export class SimulatedCoordinators {
  state: ClusterState = { ...emptyState, format: LATEST_FORMAT };
  readonly blobs = new Map<string, Buffer>();
  readonly #members: readonly Member[];
  readonly #network: SimulatedNetwork;
  readonly #agreed: (before: ClusterState, after: ClusterState) => void;
  #leader: Member;
  #term = 1;

  constructor(network: SimulatedNetwork, client: Client, agreed: (before: ClusterState, after: ClusterState) => void) {
    this.#network = network;
    this.#agreed = agreed;
    this.#members = [1, 2, 3].map(() => new Member(this, network, client));
    this.#leader = this.#members[0] as Member;
    this.#begin(this.#leader, 1);
  }

  get leader(): Member {
    return this.#leader;
  }

  member(at: number): Member {
    return this.#members[at % this.#members.length] as Member;
  }

  /** Everybody who thinks that it leads looks at how things are. */
  look(): void {
    for (const { isLeading, reconciler, look } of this.#members) {
      if (!isLeading) continue;
      reconciler.look();
      look();
    }
  }

  /** Agreed on at once: what tests and people ask for. Undefined when the state refuses it. */
  agree(command: Command): Done['value'] | undefined {
    const { state, result } = apply(
      this.state,
      { command, request: undefined, atMs: this.#network.nowMs },
      { index: this.state.index + 1, term: this.#term },
    );
    const before = this.state;
    this.state = state;
    this.#agreed(before, state);
    return result.kind === 'done' ? result.value : undefined;
  }

  propose(member: Member, command: Command): Promise<Done> {
    if (!member.isLeading) return Promise.reject(new RaftRefusal('noLeader'));
    return new Promise((resolve, reject) => {
      member.pending.push({ command, resolve, reject });
      this.#order(member);
    });
  }

  /** Something that a leader was asked for is agreed on some time; whoever waits may have given up by then. */
  #order(member: Member): void {
    const commit = (): void => this.#commit(member);
    this.#network.send(commit, () => {
      member.pending[0]?.reject(new RaftRefusal('timeout'));
      this.#order(member);
    });
  }

  /** The oldest that the leader was asked for is agreed on. */
  #commit(member: Member): void {
    if (member !== this.#leader || member.stale !== undefined) return;
    const next = member.pending.shift();
    if (next === undefined) return;
    const value = this.agree(next.command);
    if (value === undefined) next.reject(new CepError('transition_refused', `the state refuses ${next.command.type}`));
    else next.resolve({ value, isRepeat: false, index: this.state.index });
  }

  /** Another member leads; of what the one before was asked for and did not finish, so much is in its log. */
  lead(at: number, kept: number): void {
    const before = this.#leader;
    const next = this.member(at);
    if (next === before || next.isLeading) return;
    before.stale ??= this.state;
    const [survivors, dropped] = [before.pending.slice(0, kept), before.pending.slice(kept)];
    before.pending.length = 0;
    this.#term++;
    for (const { command } of survivors) this.agree(command);
    this.#leader = next;
    const term = this.#term;
    this.#network.send(() => {
      // It may lead again by the time that it hears of this.
      if (before.term < term) {
        before.isLeading = false;
        before.reconciler.end();
        before.demoted();
      }
      for (const { reject } of survivors) reject(new RaftRefusal('timeout'));
      for (const { reject } of dropped) reject(new RaftRefusal('superseded'));
      if (before.term < term) for (const { reject } of before.pending.splice(0)) reject(new RaftRefusal('superseded'));
    });
    this.#network.send(() => this.#begin(next, term));
  }

  #begin(member: Member, term: number): void {
    if (term !== this.#term) return;
    member.stale = undefined;
    member.isLeading = true;
    member.term = term;
    member.reconciler.begin(term);
  }
}
