import { CepError } from '../../shared/errors/error.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { WorkerLeases } from '../liveness/worker-leases.ts';
import { RaftRefusal } from '../raft/group.ts';
import type { Placement, Worker } from '../state/cluster-state.ts';
import { isOwed } from '../state/queries.ts';
import { ipAddressIn } from '../workers-client/ip-address-in.ts';
import { type HeldPlacement, type WorkerClient, WorkerRefusal } from '../workers-client/worker-client.ts';
import type { Action } from './action.ts';
import type { Backoff, BackoffTimes } from './backoff.ts';
import { placementRequest } from './desired-placement.ts';
import type { Observations } from './observations.ts';
import type { Preparations } from './preparations.ts';
import { agreedStateFormat, isToldOfCreation, isToldOfFormer, knowsLeaving, mayKnowLeaving } from './state-format.ts';

export interface ExecutorOptions {
  readonly group: Pick<GroupMember, 'state' | 'propose'>;
  readonly client: Pick<WorkerClient, 'put' | 'prepare' | 'delete' | 'close' | 'reopen' | 'checkpoint'>;
  readonly observations: Observations;
  readonly leases: WorkerLeases;
  readonly backoff: Backoff;
  readonly preparations: Preparations;
  readonly telemetry: Telemetry;
  readonly wait: (ms: number) => Promise<unknown>;
}

interface Asked {
  readonly worker: Worker;
  readonly placementId: string;
  readonly what: 'put' | 'close';
  readonly epoch: number;
  /** Which the worker has when it has done it. @default any */
  readonly revision?: string;
}

/** A worker that does not answer is asked again soon: it starts, or is about to be found lost. */
const callTimes: BackoffTimes = { firstMs: 250, mostMs: 5_000 };
/** Until its first heartbeat says what a worker has, and while it has yet to do what it was asked for, it is asked again at this pace. */
const unheardTimes: BackoffTimes = { firstMs: 1_000, mostMs: 1_000 };
/** What cannot start where it is may need somebody to mend something. */
const retryTimes: BackoffTimes = { firstMs: 5_000, mostMs: 300_000 };
/** What leaves waits for its events to be handed over. */
const leaveTimes: BackoffTimes = { firstMs: 250, mostMs: 2_000 };
/** What its sinks and receivers have not taken by then becomes dead letters. */
const LEAVE_FLUSH_MS = 60_000;
/** The same where the whole group goes: somebody waits for that. */
const GROUP_FLUSH_MS = 5_000;
/** Whoever drains a worker waits for 20 s, and the next target may take it. */
const migrateTimes: BackoffTimes = { firstMs: 2_000, mostMs: 5_000 };
const UNKNOWN_OUTCOME_RETRY_MS = 100;

/** Carries out actions, each without holding anything: what it learns it writes down, for the next plan. */
export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** Resolves when it is done or has failed. @param isLeading Whether this member still leads in the term in which it was planned. */
  async carryOut(action: Action, isLeading: () => boolean): Promise<void> {
    switch (action.kind) {
      case 'propose':
        return await this.#propose(action, isLeading);
      case 'put':
        return await this.#put(action);
      case 'prepare':
        return await this.#prepare(action);
      case 'delete':
        return await this.#delete(action);
      case 'close':
        return await this.#close(action);
      case 'reopen':
        return await this.#reopen(action);
      case 'leave':
        return await this.#leave(action, isLeading);
      default:
        return await this.#stop(action, isLeading);
    }
  }

  /**
   * A command of which nobody knows whether it was done may be done yet, at any time, and would overtake what is decided meanwhile. It is
   * proposed again until there is an answer: in the log of one leader the earlier one then stands before it.
   */
  async #propose({ command }: Action & { readonly kind: 'propose' }, isLeading: () => boolean): Promise<void> {
    const { group, backoff, wait } = this.#options;
    while (isLeading()) {
      try {
        await group.propose(command, undefined);
        if (command.type === 'ReportPlacement') this.#noteReport(command.payload);
        if (command.type === 'EndMigration') this.#noteMigration(command.payload);
        return;
      } catch (error) {
        // The state has changed since: the next plan knows of it.
        if (error instanceof CepError) return void backoff.failed(`propose ${command.type}`, callTimes);
        if (!(error instanceof RaftRefusal)) throw error;
        if (!error.mayHaveHappened) return;
        await wait(UNKNOWN_OUTCOME_RETRY_MS);
      }
    }
  }

  #noteReport({ id, status }: { readonly id: string; readonly status: string }): void {
    const { backoff } = this.#options;
    if (status === 'failed') {
      backoff.failed(`retry ${id}`, retryTimes);
      return;
    }
    backoff.succeeded(`retry ${id}`);
    // It has done what it was asked for: the next change does not wait.
    backoff.succeeded(`put ${id}`);
  }

  #noteMigration({ migrationId, status }: { readonly migrationId: string; readonly status: string }): void {
    const { group, backoff } = this.#options;
    const placement = group.state.migrations.get(migrationId)?.placementId;
    if (placement === undefined) return;
    if (status === 'failed') backoff.failed(`migrate ${placement}`, migrateTimes);
    else backoff.succeeded(`migrate ${placement}`);
  }

  async #put({ worker, placement }: Action & { readonly kind: 'put' }): Promise<void> {
    const { group, client, observations } = this.#options;
    const hasCreation = isToldOfCreation(group.state, observations, worker);
    const request = placementRequest(group.state, placement, { hasCreation, hasFormer: isToldOfFormer(observations, worker) });
    if (request === undefined) return;
    const asked = { worker, placementId: placement.id, what: 'put', epoch: placement.epoch, revision: request.revision } as const;
    await this.#ask(asked, (at) => client.put(at, request));
  }

  /** Whatever comes of it, unless the program cannot run there: then it goes on where it runs. */
  async #prepare({ worker, placement, migrationId }: Action & { readonly kind: 'prepare' }): Promise<void> {
    const { group, client, observations, preparations } = this.#options;
    const told = { hasCreation: false, hasFormer: isToldOfFormer(observations, worker) };
    const request = placementRequest(group.state, placement, told);
    try {
      if (request !== undefined) {
        const { former_source: source = request.source } = request;
        await client.prepare({ address: worker.address, placementId: placement.id }, { ...request, source });
      }
      preparations.ended(migrationId);
    } catch (error) {
      const isRefused = error instanceof WorkerRefusal && (error.code === 'validation_error' || error.code === 'parse_error');
      preparations.ended(migrationId, isRefused ? error.message : undefined);
      this.#report(worker, placement.id, 'prepare', error);
    }
  }

  /** In which a last checkpoint may be written; undefined for a worker that does not say that it knows formats. */
  #lastFormat(worker: Worker): number | undefined {
    const { group, observations } = this.#options;
    const isTold = observations.of(worker)?.heartbeat.state_format !== undefined;
    return isTold ? agreedStateFormat(group.state, observations) : undefined;
  }

  async #close({ worker, placement, migrationId }: Action & { readonly kind: 'close' }): Promise<void> {
    const { client, preparations } = this.#options;
    const { id: placementId, epoch } = placement;
    await this.#ask({ worker, placementId, what: 'close', epoch }, async (at) => {
      const held = await client.close(at, epoch, { stateFormat: this.#lastFormat(worker) });
      if (held.epoch === epoch && held.status === 'closed') preparations.closed(migrationId);
      return held;
    });
  }

  async #reopen({ worker, placement }: Action & { readonly kind: 'reopen' }): Promise<void> {
    const { id: placementId, epoch } = placement;
    await this.#ask({ worker, placementId, what: 'put', epoch }, (at) => this.#options.client.reopen(at, epoch));
  }

  async #ask(
    { worker, placementId, what, epoch, revision }: Asked,
    ask: (at: { address: string; placementId: string }) => Promise<HeldPlacement>,
  ): Promise<void> {
    const { observations, backoff } = this.#options;
    const key = `${what} ${placementId}`;
    try {
      const held = await ask({ address: worker.address, placementId });
      const isDone = revision === undefined || held.revision === revision;
      const isKept = observations.told(worker, placementId, held);
      if ((isKept && isDone) || what === 'close') backoff.succeeded(key);
      else backoff.failed(key, unheardTimes);
    } catch (error) {
      backoff.failed(key, callTimes);
      this.#report(worker, placementId, what, error);
      // It has an older or a newer one: its next heartbeat says which.
      const isLasting = error instanceof WorkerRefusal && error.status < 500 && error.code !== 'stale_epoch';
      if (what === 'put' && isLasting) observations.told(worker, placementId, { epoch, status: 'failed', error: error.message });
    }
  }

  /**
   * Its events are handed over first, and a checkpoint has them: nobody goes on with it. What the group has agreed on without its end is
   * done anew by whoever leads next.
   */
  async #leave({ worker, placement }: Action & { readonly kind: 'leave' }, isLeading: () => boolean): Promise<void> {
    const { group, client, observations, backoff } = this.#options;
    const { id: placementId, epoch, leavingVersion } = placement;
    try {
      const at = { address: worker.address, placementId };
      if (isOwed(group.state, placementId)) observations.told(worker, placementId, await client.checkpoint(at, epoch));
      const isDone = !isOwed(group.state, placementId) && (await this.#hasLeft(worker, placement));
      if (!isDone) return void backoff.failed(`leave ${placementId}`, leaveTimes);
      backoff.succeeded(`leave ${placementId}`);
    } catch (error) {
      backoff.failed(`leave ${placementId}`, leaveTimes);
      this.#report(worker, placementId, 'leave', error);
      return;
    }
    if (leavingVersion === undefined || this.#isTakenDown(placement)) return;
    const command = { type: 'RemovePlacement', payload: { id: placementId, epoch } } as const;
    await this.#propose({ key: '', kind: 'propose', command }, isLeading);
  }

  /** Its whole group goes, perhaps only since this was planned. */
  #isTakenDown({ groupId }: Placement): boolean {
    return this.#options.group.state.groups.get(groupId)?.isDraining !== false;
  }

  /** Whether nothing is to be done for it any more. Where the whole group goes its worker forgets it at once. */
  async #hasLeft(worker: Worker, placement: Placement): Promise<boolean> {
    const { group, client, observations } = this.#options;
    const { id: placementId, epoch } = placement;
    const at = { address: worker.address, placementId };
    const isAble = knowsLeaving(observations, worker);
    if (this.#isTakenDown(placement)) {
      await client.delete(at, epoch, isAble ? GROUP_FLUSH_MS : undefined);
      observations.gone(worker, placementId);
      return true;
    }
    // Whoever goes on with it after all has to read its last checkpoint.
    if (agreedStateFormat(group.state, observations) === undefined) return false;
    const held = await client.close(at, epoch, { stateFormat: this.#lastFormat(worker), ...(isAble && { flushMs: LEAVE_FLUSH_MS }) });
    observations.told(worker, placementId, held);
    return held.epoch === epoch && held.status === 'closed';
  }

  async #delete({ key, worker, placementId, epoch, isForGood }: Action & { readonly kind: 'delete' }): Promise<void> {
    const { client, observations, backoff } = this.#options;
    try {
      await client.delete(
        { address: worker.address, placementId },
        epoch,
        isForGood && mayKnowLeaving(observations, worker) ? 0 : undefined,
      );
      observations.gone(worker, placementId);
      backoff.succeeded(key);
    } catch (error) {
      backoff.failed(key, callTimes);
      backoff.failed(`put ${placementId}`, callTimes);
      this.#report(worker, placementId, 'delete', error);
    }
  }

  /**
   * An answer of the process itself shows that it does not run the placement any more. So does one of another process that has its place. But
   * a name may lead to another machine by now, while the process goes on at the one before: then its lease is waited for.
   */
  async #stop({ holder, placement }: Action & { readonly kind: 'stop' }, isLeading: () => boolean): Promise<void> {
    const { client, backoff, observations } = this.#options;
    const { id: placementId, epoch } = placement;
    try {
      const who = await client.delete({ address: holder.address, placementId }, epoch);
      if (who !== undefined && who !== holder.incarnation && ipAddressIn(holder.address) === undefined) {
        backoff.failed(`stop ${placementId}`, callTimes);
        return;
      }
      observations.gone({ id: holder.workerId, incarnation: holder.incarnation }, placementId);
      await this.#propose(
        { key: '', kind: 'propose', command: { type: 'ReleasePlacement', payload: { id: placementId, epoch } } },
        isLeading,
      );
    } catch {
      backoff.failed(`stop ${placementId}`, callTimes);
    }
  }

  #report({ id }: Worker, placement: string, action: string, error: unknown): void {
    this.#options.telemetry.report('WorkerNotDone', { worker: id, placement, action, error: (error as Error).message });
  }
}
