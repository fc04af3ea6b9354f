import type { Static } from 'typebox';
import { CepError } from '../../shared/errors/error.ts';
import { withConnectors } from '../../shared/language/connectors/with-connectors.ts';
import {
  externalSource,
  type heldPlacementSchema,
  placedPipelineId,
  type placementRequestSchema,
  type WorkerPlacementStatus,
} from '../../shared/protocol/placements.ts';
import type { PipelineReplica } from '../connectors/sources/replica.ts';
import { FIRST_STATE_FORMAT, LATEST_STATE_FORMAT } from '../engine/state/format.ts';
import { NoCoordinator } from '../membership/coordinator-client.ts';
import { Lease } from '../membership/lease.ts';
import type { Coordinators } from '../membership/membership.ts';
import type { Leaving } from '../runtime/pipelines/pipeline-life.ts';
import type { PipelineCheckpoint, SourceMark } from '../runtime/pipelines/runtime-storage.ts';
import { ContentIds } from '../runtime/placed/content-ids.ts';
import { CreationHold } from '../runtime/placed/creation-hold.ts';
import { CREATION_STATE_FORMAT } from '../runtime/placed/placed-state.ts';
import type { PlacedPipeline, PlacementHost, WarmProgram } from '../runtime/placed/placement-host.ts';
import { Receipts } from '../runtime/placed/receipts.ts';
import { ReplayHold } from '../runtime/placed/replay-hold.ts';
import type { RuntimeReport } from '../runtime/service.ts';
import { AwaitedSaves } from './awaited-saves.ts';
import { BatchIntake } from './batch-intake.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import type { Preparations } from './preparations.ts';
import { ProgramInPlace } from './program-in-place.ts';
import type { PeerAnswer } from './route-link.ts';
import { RouteOutbox, type SavedOutbox } from './route-outbox.ts';
import { TickLimit } from './tick-limit.ts';

export type PlacementRequest = Static<typeof placementRequestSchema>;
export type HeldPlacement = Static<typeof heldPlacementSchema>;

/** Ticks stay so far behind the clock: of events that were received by a coordinator before a tick it is known here by then. */
const TICK_LAG_MS = 2_000;
/** How long a program has no ticks at most, for events to come again that its checkpoint lacks, or all where it has none yet. */
const TICKLESS_MS = 30_000;
/** The same, where a coordinator does not say which ones there are. */
const TICKLESS_UNKNOWN_MS = 3_000;
const RESTORE_PAUSE_MS = 500;
/** Before it is seen again whether all was worked that the program of before has to. */
const BEHIND_PAUSE_MS = 100;
/** What refuses a program may need somebody to mend something: it is tried again then, twice as late each time. */
const REFUSED_PAUSE_MS = 5_000;
const REFUSED_PAUSE_MS_MAX = 300_000;
/** How often it is looked whether receivers have what was made, while that is waited for. */
const RECEIVED_LOOK_MS = 50;

/** What a placement needs of its worker. */
export interface PlacementWorld {
  readonly host: PlacementHost;
  readonly preparations: Pick<Preparations, 'take'>;
  readonly coordinators: Coordinators;
  /** Ms since some moment; nobody sets it. */
  readonly now: () => number;
  /** Epoch ms, by the clocks of the cluster. */
  readonly clusterTime: () => number;
  /** Resolves after the time, or at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Asks another worker. */
  readonly post: (url: string, body: string) => Promise<PeerAnswer>;
  readonly report: (report: RuntimeReport) => void;
  /** A placement is not what it was: the coordinators should know. */
  readonly changed: () => void;
  /** A placement has stopped because its lease may have ended. */
  readonly fenced: (placementId: string) => void;
}

interface CloseOptions {
  /** The latest that may be written, which a worker may have come for since the last heartbeat. @default the one that was heard last */
  readonly stateFormat?: number | undefined;
  /**
   * It leaves, and nobody goes on with it: so long its sinks are waited for, and its receivers to have what it made in checkpoints of their
   * own. What is left becomes dead letters. @default it goes on elsewhere, with what is left
   */
  readonly flushMs?: number | undefined;
}

interface PlacementOptions {
  /** See `writeStatesIn`. */
  readonly stateFormat: number | undefined;
  /** When another one of the same id, which is not to be here any more, has ended. @default there is none */
  readonly before: Promise<unknown> | undefined;
}

/** One life of the pipeline here: from a checkpoint, or from nothing, until it is closed for good, fenced or given up. */
interface Life {
  readonly store: CheckpointStore;
  readonly outbox: RouteOutbox;
  readonly creation: CreationHold;
  readonly intake: BatchIntake;
  readonly pipeline: PlacedPipeline;
}

/**
 * A pipeline that the cluster has placed here, under an epoch. It runs while a lease says so, and says nothing to the outside without one;
 * everything that must outlive it is in checkpoints at the coordinators, which refuse them under an epoch that is over.
 */
export class Placement {
  readonly id: string;
  readonly #world: PlacementWorld;
  readonly #lease = new Lease();
  #request: PlacementRequest;
  #status: WorkerPlacementStatus = 'starting';
  #error: string | undefined;
  #life: Life | undefined;
  readonly #program: ProgramInPlace;
  /** The last batch that was injected before its life began. */
  #repeatedUpTo = 0;
  /** Of the try to replace the program that is to come. */
  #nextTry: symbol | undefined;
  /** Nothing is said to the outside, lease or not. */
  #isSilent = true;
  /** It takes nothing in any more, and its last checkpoint does not count yet: until then it is as it was before. */
  #isClosing = false;
  /** What was left when it was closed is said where it is found. */
  #isBuried = false;
  /** While it is being closed because it leaves: aborted when it is to go on after all. */
  #stays: AbortController | undefined;
  /** Ends what is under way of the life that is not to be any more. */
  #end = new AbortController();
  #opened: () => void = () => undefined;
  #tickFrom = Number.POSITIVE_INFINITY;
  readonly #saves: AwaitedSaves;
  /** The format in which the last checkpoint is about to be made again. */
  #rewriting: number | undefined;
  /** In which states are saved from now on; undefined while no coordinator has said it. */
  #stateFormat: number | undefined;
  /** Changes of which only one may be under way. */
  #change: Promise<unknown>;

  constructor(id: string, request: PlacementRequest, world: PlacementWorld, { stateFormat, before }: PlacementOptions) {
    this.id = id;
    this.#stateFormat = stateFormat;
    this.#change = before ?? Promise.resolve();
    this.#request = request;
    this.#program = new ProgramInPlace(request);
    this.#world = world;
    const { now, wait } = world;
    this.#saves = new AwaitedSaves({ now, wait, save: async () => (await this.#life?.pipeline.saveNow()) ?? false });
    this.#begin();
  }

  get epoch(): number {
    return this.#request.epoch;
  }

  get request(): PlacementRequest {
    return this.#request;
  }

  get pipeline(): PlacedPipeline | undefined {
    return this.#life?.pipeline;
  }

  get status(): WorkerPlacementStatus {
    if (this.#status !== 'running') return this.#status;
    const status = this.#life?.pipeline.status;
    if (status === 'degraded' || status === 'failed') return status;
    return this.#program.problem === undefined ? 'running' : 'degraded';
  }

  view(): HeldPlacement {
    const { epoch } = this.#request;
    const { revision, problem } = this.#program;
    const error = this.#error ?? (this.#status === 'running' ? (problem ?? this.#life?.pipeline.view().error) : undefined);
    const manifest = this.#life?.store.manifest ?? this.#request.checkpoint;
    return {
      placement_id: this.id,
      epoch,
      revision,
      status: this.status,
      received: { ...this.#life?.pipeline.received },
      ...(this.#life === undefined ? {} : { pipeline_id: this.#life.pipeline.id }),
      ...(error === undefined ? {} : { error }),
      ...(manifest === undefined ? {} : { checkpoint_sequence: manifest.sequence, checkpoint: manifest }),
    };
  }

  // ---------------------------------------------------------------------------------------------- what it is to be

  /**
   * Under one epoch it begins once: a commit of its first life may be under way still, and what goes on must have it. What has ended here
   * goes on under a newer one.
   * @throws CepError `stale_epoch`
   */
  put(request: PlacementRequest): void {
    this.requireNotOlder(request.epoch);
    const before = this.#request;
    const isNewer = request.epoch > before.epoch;
    const hasEnded = this.#status === 'fenced' || this.#status === 'failed';
    if (!isNewer && (hasEnded || request.revision === before.revision)) return;
    this.#request = request;
    if (isNewer) this.#stays?.abort();
    if (isNewer && (hasEnded || this.#status === 'closed' || !this.#isNewest(before, request))) {
      this.#restart();
      return;
    }
    this.#life?.outbox.setRoutes(request.routes);
    if (this.#program.isToChange(request)) this.#replaceInTurn();
  }

  /** What runs here is the newest there is of it: no other worker has gone on with it since. */
  #isNewest(before: PlacementRequest, { tenure }: PlacementRequest): boolean {
    return before.epoch >= tenure;
  }

  #replaceInTurn(): void {
    void this.#program.inTurn(() => this.#exclusive(() => this.#replace()));
  }

  /** The program of before runs on, or stays closed, while the new one cannot begin. */
  async #replace(): Promise<void> {
    const [life, request] = [this.#life, this.#request];
    if (life === undefined) return;
    const isToChange = !this.#program.isRunning(request);
    if (isToChange && !this.#hasRepeated(life)) return this.#replaceLater(life, BEHIND_PAUSE_MS);
    if (isToChange && life.pipeline.status === 'stopped') return this.#replaceLater(life, RESTORE_PAUSE_MS);
    this.#nextTry = undefined;
    try {
      if (isToChange) {
        this.#program.changes(request, life.pipeline.definition);
        await this.#world.host.replace(life.pipeline, { source: programOf(request) });
      }
      if (this.#life === life) this.#program.runs(request);
    } catch (error) {
      if (this.#life === life) this.#notReplaced(life, request, error);
    }
    this.#world.changed();
  }

  /** What was injected before its life began was worked by that program, and said, or is worked by it now: another one works none of that. */
  #hasRepeated({ pipeline }: Life): boolean {
    return (pipeline.received[externalSource] ?? 0) >= this.#repeatedUpTo;
  }

  #notReplaced(life: Life, request: PlacementRequest, error: unknown): void {
    // Above all when no coordinator takes the state with which the new one begins.
    const isForNow = error instanceof CepError && (error.code === 'storage_unavailable' || error.retryAfterSeconds !== undefined);
    if (life.pipeline.status === 'failed') this.#fail(error);
    else if (isForNow) this.#replaceLater(life, RESTORE_PAUSE_MS);
    else this.#refused(life, request, error instanceof Error ? error.message : String(error));
  }

  #refused(life: Life, request: PlacementRequest, reason: string): void {
    this.#program.refused(request, reason);
    const { group, pipeline } = request;
    const fields = { placement: this.id, group, pipeline, error: reason };
    this.#world.report({ level: 'error', message: 'Program of a placement not changed', fields });
    this.#replaceLater(life, Math.min(REFUSED_PAUSE_MS_MAX, REFUSED_PAUSE_MS * 2 ** (this.#program.refusals - 1)));
  }

  #replaceLater(life: Life, pauseMs: number): void {
    const ownTry = Symbol('try');
    this.#nextTry = ownTry;
    const again = async (): Promise<void> => {
      await this.#world.wait(pauseMs, this.#end.signal);
      await this.#exclusive(async () => {
        if (this.#life === life && this.#nextTry === ownTry) await this.#replace();
      });
    };
    again().catch(() => undefined); // Its life is over.
  }

  #replica(): PipelineReplica | undefined {
    const { epoch, replica: index, replicas: count, partition_key: partitionKey, group_id: groupId, pipeline } = this.#request;
    if (count === 1) return undefined;
    return { index, count, partitionKey, epoch, firstPipelineId: placedPipelineId(`${groupId}:${pipeline}:0`) };
  }

  #restart(): void {
    this.#abandon('it goes on from its last checkpoint');
    this.#begin();
  }

  // ---------------------------------------------------------------------------------------------- leases

  /** A heartbeat that was sent at this moment, and said that the placement is here under this epoch, was acknowledged. */
  acknowledged(epoch: number, sentAt: number, leaseMs: number): void {
    if (epoch !== this.epoch || this.#status === 'fenced' || this.#status === 'closed') return;
    // Between two leases it had no right to run, so it does not go on as if it had.
    if (this.#status === 'running' && !this.#lease.isHeld(this.#world.now())) {
      this.fence();
      return;
    }
    this.#lease.renew(sentAt, leaseMs);
    void this.#open();
  }

  /** To be called often: stops what has no lease any more. */
  look(): void {
    if (this.#status === 'running' && !this.#lease.isHeld(this.#world.now())) this.fence();
  }

  get leaseRemainingMs(): number {
    return this.#lease.remainingMs(this.#world.now());
  }

  /** Its right to run may have ended: it stops at once, and what it has not said is not said. */
  fence(): void {
    if (this.#status === 'fenced') return;
    this.#abandon('the lease of the placement has ended');
    this.#status = 'fenced';
    this.#world.fenced(this.id);
    this.#world.changed();
  }

  /** It is not to be here any more. Resolves when nothing of it is under way: what was about to start has been given up then. */
  drop(): Promise<unknown> {
    this.#abandon('the placement is not here any more');
    this.#status = 'fenced';
    return this.#change;
  }

  #mayDeliver(): boolean {
    return !this.#isSilent && this.#life?.creation.isHeld !== true && this.#lease.isHeld(this.#world.now());
  }

  #abandon(reason: string): void {
    this.#isSilent = true;
    this.#lease.end();
    this.#end.abort();
    const life = this.#life;
    this.#life = undefined;
    if (life === undefined) return;
    life.outbox.close();
    this.#world.host.abandon(life.pipeline, new CepError('pipeline_not_running', `the pipeline has stopped: ${reason}`));
  }

  // ---------------------------------------------------------------------------------------------- a life

  #begin(): void {
    this.#status = 'starting';
    this.#error = undefined;
    this.#isBuried = false;
    this.#end = new AbortController();
    this.#isSilent = true;
    this.#tickFrom = Number.POSITIVE_INFINITY;
    const end = this.#end.signal;
    void this.#exclusive(async () => {
      try {
        await this.#start(end);
      } catch (error) {
        if (!end.aborted) this.#fail(error);
      }
      if (end.aborted) return;
      void this.#open();
      if (this.#program.isToChange(this.#request)) this.#replaceInTurn();
    });
    this.#world.changed();
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#abandon(reason);
    this.#status = 'failed';
    this.#error = reason;
    const { group, pipeline } = this.#request;
    this.#world.report({ level: 'error', message: 'Placement failed', fields: { placement: this.id, group, pipeline, error: reason } });
    this.#world.changed();
  }

  async #start(end: AbortSignal): Promise<void> {
    const source = programOf(this.#program.begins(this.#request));
    this.#repeatedUpTo = this.#request.ingress_sequence ?? 0;
    const prepared = this.#world.preparations.take(this.id, source);
    try {
      await this.#startWith({ source, prepared }, end);
    } finally {
      (await prepared)?.engine.leave();
    }
  }

  /** Never without the state that it must have: what cannot be restored does not start. */
  async #startWith(
    { source, prepared }: { readonly source: string; readonly prepared: Promise<WarmProgram | undefined> },
    end: AbortSignal,
  ): Promise<void> {
    const { coordinators, host, report } = this.#world;
    const hold = new ReplayHold();
    let isCatchingUp = false;
    /** Nothing is worked through until a checkpoint has what there is, or has failed. */
    const catchUp = async ({ pipeline: outrun }: Life): Promise<void> => {
      isCatchingUp = true;
      outrun.outputsChanged();
      await outrun.saveNow();
      isCatchingUp = false;
      if (!end.aborted) outrun.outputsChanged();
    };
    const store = new CheckpointStore(
      {
        placementId: this.id,
        coordinators,
        epoch: () => this.epoch,
        isOver: () => end.aborted,
        isFormer: (definition) => this.#program.isFormer(definition, this.#request),
        isOfChange: (definition) => this.#program.isOfChange(definition),
        pause: () => this.#world.wait(RESTORE_PAUSE_MS, end),
        onCommit: () => {
          outbox.committed(store.last?.placed?.routed);
          if (hold.committed(store.last?.sequence ?? 0) && this.#life) this.#resume(this.#life);
          else if (hold.isOutrun && !isCatchingUp && this.#life) void catchUp(this.#life);
          if (creation.committed(store.last?.placed) && this.#life) this.#resume(this.#life);
          this.#world.changed();
        },
        onStale: () => this.#world.changed(),
      },
      this.#request.checkpoint,
    );
    const beganAt = this.#world.now();
    const [checkpoint, { program, engine }] = await Promise.all([
      this.#restored(store, end),
      prepared.then(async (known) => known ?? { program: await host.check({ source }), engine: undefined }),
    ]);
    if (end.aborted) return;
    const fetchedAt = this.#world.now();
    const receipts = new Receipts(checkpoint?.placed?.receipts, checkpoint?.sources);
    const ticks = new TickLimit({ receipts, repeatedUpTo: this.#repeatedUpTo, now: this.#world.now, clusterTime: this.#world.clusterTime });
    // Whoever goes on gives what it says again the ids of the first time.
    const createdIndex = checkpoint === undefined ? this.#request.created_index : checkpoint.placed?.createdIndex;
    const ids = new ContentIds(placedPipelineId(this.id), checkpoint?.placed?.ids, createdIndex);
    const creation = new CreationHold(ids);
    const mayDeliver = (): boolean => !end.aborted && this.#mayDeliver();
    let pipeline: PlacedPipeline | undefined;
    const outbox = new RouteOutbox({
      ...{ placementId: this.id, epoch: () => this.epoch, mayDeliver: () => !hold.isHeld && mayDeliver(), report },
      ...{ post: this.#world.post, wait: this.#world.wait, now: this.#world.now },
      saved: (checkpoint?.placed?.routed ?? []) as SavedOutbox,
      onChange: () => pipeline?.outputsChanged(),
      saveUntil: (isSaved) => this.#saves.until(() => isSaved() || !this.#isAtWork, end),
    });
    outbox.setRoutes(this.#request.routes);
    pipeline = await host.place({
      id: placedPipelineId(this.id),
      name: `${this.#request.group}/${this.#request.pipeline}/${this.#request.replica}`,
      ...{ program, engine, checkpoint },
      opened: new Promise((resolve) => {
        this.#opened = resolve;
      }),
      placing: {
        storage: store,
        ids,
        mayDeliver,
        isHeld: () => hold.isHeld,
        now: this.#world.clusterTime,
        tickTime: () => this.#tickTime(ticks),
        outputs: {
          push: (output) => outbox.push(output),
          isFull: () => outbox.isFull || isCatchingUp,
          isWanted: () => outbox.isRouted,
        },
        unlike: (sequence) => hold.unlike(sequence),
        speaks: () => {
          const wasHeld = hold.isHeld;
          hold.speaks();
          if (hold.isHeld && !wasHeld) void this.#saves.until(() => !hold.isHeld, end);
        },
        taken: (mark, isTold) => this.#taken(mark, isTold, store, end),
        safe: () => this.#safe(end),
        replica: () => this.#replica(),
        stateFormat: () => this.#writtenFormat,
        save: (positions, stateFormat) => ({
          ...creation.save(this.#creationFormat(stateFormat)),
          ...{ receipts: receipts.save(positions, stateFormat), routed: outbox.save() },
        }),
      },
    });
    if (checkpoint !== undefined) this.#tellRestored(store, { fetchMs: fetchedAt - beganAt, loadMs: this.#world.now() - fetchedAt });
    const intake = new BatchIntake(pipeline, receipts, () => store.manifest?.received ?? {}, { wait: this.#world.wait, ticks });
    const life = { store, outbox, creation, intake, pipeline };
    if (end.aborted) host.abandon(pipeline, new CepError('pipeline_not_running', 'the pipeline was given up while it started'));
    else this.#life = life;
    // They may have moved meanwhile.
    if (this.#life === life) outbox.setRoutes(this.#request.routes);
  }

  get #writtenFormat(): number {
    return Math.min(this.#stateFormat ?? FIRST_STATE_FORMAT, LATEST_STATE_FORMAT);
  }

  /**
   * `format`: of a state. While nobody has said what all workers read it is the first one, and none of an earlier version need be there. What
   * was injected before this life began was said by the one before under ids that tell when the placement came, and comes again under these.
   */
  #creationFormat(format: number): number {
    const isEarlier = (this.#stateFormat ?? LATEST_STATE_FORMAT) < CREATION_STATE_FORMAT;
    return isEarlier && this.#life !== undefined && this.#hasRepeated(this.#life) ? format : LATEST_STATE_FORMAT;
  }

  #tellRestored({ manifest }: CheckpointStore, { fetchMs, loadMs }: { readonly fetchMs: number; readonly loadMs: number }): void {
    const bytes = manifest?.bytes ?? 0;
    const fields = { placement: this.id, bytes, fetch_seconds: fetchMs / 1_000, load_seconds: loadMs / 1_000 };
    this.#world.report({ level: 'info', message: 'Placement restored from its checkpoint', fields });
  }

  async #restored(store: CheckpointStore, end: AbortSignal): Promise<PipelineCheckpoint | undefined> {
    while (!end.aborted) {
      try {
        return await store.restore(end);
      } catch (error) {
        if (!(error instanceof NoCoordinator)) throw error;
        await this.#world.wait(RESTORE_PAUSE_MS, end);
      }
    }
    return undefined;
  }

  /** It is there, and has the right to run. */
  async #open(): Promise<void> {
    const life = this.#life;
    if (life === undefined || !this.#mayOpen(life)) return;
    if (life.pipeline.status === 'stopped') {
      try {
        await life.pipeline.start();
      } catch (error) {
        if (this.#life === life) this.#fail(error);
        return;
      }
      if (!this.#mayOpen(life)) return;
    }
    this.#status = 'running';
    this.#isSilent = false;
    const { ingress_sequence: last, checkpoint } = this.#request;
    const unknownMs = checkpoint === undefined ? 0 : TICKLESS_UNKNOWN_MS;
    this.#tickFrom = this.#world.now() + (last === undefined ? unknownMs : TICKLESS_MS);
    this.#opened();
    this.#resume(life);
    this.#world.changed();
  }

  #mayOpen(life: Life): boolean {
    return this.#status === 'starting' && this.#life === life && this.#lease.isHeld(this.#world.now());
  }

  #resume({ pipeline, outbox }: Life): void {
    pipeline.outputsChanged();
    outbox.resume();
  }

  /** Events that were received before the last stop come first, with the time that they had: the clock waits for them. */
  #tickTime(ticks: TickLimit): number | undefined {
    const wanted = this.#request.ingress_sequence ?? Number.POSITIVE_INFINITY;
    const isThere = (this.#life?.pipeline.received[externalSource] ?? 0) >= wanted;
    if (!isThere && this.#world.now() < this.#tickFrom) return undefined;
    return ticks.timeOf(this.#world.clusterTime() - TICK_LAG_MS);
  }

  // ---------------------------------------------------------------------------------------------- checkpoints

  /** What can be read again from the position in a checkpoint need only stand in one once; what nobody can give again is not waited for. */
  async #taken({ id, position }: SourceMark, isTold: boolean, store: CheckpointStore, end: AbortSignal): Promise<void> {
    const isKnown = position === null || store.last?.sources?.[id] !== undefined;
    if (isTold || !isKnown) await this.#safe(end);
  }

  /** Resolves when what was taken by now is in a checkpoint that counts. */
  async #safe(end: AbortSignal): Promise<void> {
    do if (end.aborted) throw new CepError('pipeline_not_running', 'the pipeline has stopped');
    while (!(await this.#saves.next(end)));
  }

  /** Checkpoints of it can be made. */
  get #isAtWork(): boolean {
    const { status } = this;
    return status === 'running' || status === 'degraded';
  }

  /**
   * The latest format of states that all workers read; undefined while no coordinator has said it. When that is an earlier one, the last
   * checkpoint is made again for them; where there is none, and who begins from nothing would make other ids, one is made.
   */
  writeStatesIn(told: number | undefined): void {
    this.#stateFormat = told;
    const format = told ?? FIRST_STATE_FORMAT;
    const [life, end] = [this.#life, this.#end.signal];
    if (life === undefined || this.#status !== 'running' || this.#isClosing || this.#rewriting === format) return;
    const isRead = (): boolean => isReadIn(life.store.last, format) && life.creation.isReadIn(told ?? LATEST_STATE_FORMAT);
    if (isRead()) return;
    this.#rewriting = format;
    const isOver = (): boolean => this.#status !== 'running' || this.#stateFormat !== told;
    void this.#saves
      .until(() => isOver() || isRead(), end)
      .then(() => {
        this.#rewriting = undefined;
      });
  }

  /** @throws CepError `stale_epoch`, `pipeline_not_running`, `storage_unavailable` */
  async checkpoint(epoch: number): Promise<HeldPlacement> {
    const life = this.#running(epoch);
    await this.#exclusive(async () => {
      if (!(await life.pipeline.saveNow())) throw notSaved();
    });
    return this.view();
  }

  /**
   * Ends with everything in a committed checkpoint, so that another worker goes on with nothing missing and nothing twice.
   * @throws CepError `stale_epoch`; `pipeline_not_running`, also when its pipeline has failed before it was done, and it with that;
   * `storage_unavailable` when it could not be committed, or cannot be read by every worker yet: then it goes on running
   */
  close(epoch: number, { stateFormat = this.#stateFormat, flushMs }: CloseOptions = {}): Promise<HeldPlacement> {
    this.#requireEpoch(epoch);
    return this.#exclusive(async () => {
      if (this.#status === 'closed') {
        if (flushMs !== undefined && !this.#isBuried) this.#goesOnToLeave();
        return this.view();
      }
      const life = this.#running(epoch);
      if (flushMs !== undefined && this.#request.replicas > 1) {
        // The other replicas have read past what is its own, and do not go back.
        await life.pipeline.caughtUp();
        if (this.#running(epoch) !== life) throw notSaved();
      }
      if (stateFormat !== undefined) this.#stateFormat = Math.min(this.#stateFormat ?? stateFormat, stateFormat);
      if (!life.creation.isReadIn(this.#stateFormat ?? LATEST_STATE_FORMAT) && !this.#hasRepeated(life)) throw notRepeated();
      this.#isClosing = true;
      const isClosed = await this.#finish(life, epoch, flushMs).finally(() => {
        this.#isClosing = false;
      });
      if (isClosed && flushMs !== undefined) await this.#bury();
      if (isClosed) return this.view();
      this.#running(epoch);
      throw notSaved();
    });
  }

  /** It was closed to go on elsewhere, with what it has not handed over: it has its time for that first. @throws CepError `pipeline_not_running` */
  #goesOnToLeave(): never {
    this.#status = 'starting';
    this.#world.changed();
    throw new CepError('pipeline_not_running', 'the placement goes on before it leaves', { retryAfterSeconds: 1 });
  }

  /** False when it is not closed. What has another epoch by now was not to be closed under that: it goes on, and so does what is not saved. */
  async #finish(life: Life, epoch: number, flushMs?: number): Promise<boolean> {
    const leaving = flushMs === undefined ? undefined : { flushMs, stays: this.#staySignal() };
    const isSaved = await life.pipeline.close(async () => {
      if (leaving) await this.#waitFor(() => life.outbox.isEmpty, leaving);
      if (leaving?.stays.aborted) return;
      this.#isSilent = true;
      await life.outbox.settled();
    }, leaving);
    this.#stays = undefined;
    if (this.#life !== life) return false;
    if (!isSaved || epoch !== this.epoch) {
      await this.#goOn(life);
      return false;
    }
    this.#status = 'closed';
    this.#lease.end();
    this.#world.changed();
    return true;
  }

  #staySignal(): AbortSignal {
    this.#stays = new AbortController();
    return this.#stays.signal;
  }

  async #waitFor(isReached: () => boolean, { flushMs, stays }: Leaving): Promise<void> {
    const end = AbortSignal.any([this.#end.signal, stays]);
    const endsAt = this.#world.now() + flushMs;
    while (!isReached() && !end.aborted && this.#world.now() < endsAt) await this.#world.wait(RECEIVED_LOOK_MS, end);
  }

  /** Nobody goes on with it, so what it has not said is put where it is found. */
  async #bury(): Promise<void> {
    const life = this.#life;
    this.#isBuried = true;
    if (life === undefined) return;
    this.#isSilent = true;
    life.outbox.giveUp();
    await life.pipeline.bury();
  }

  /** It goes for good: it has so long to do what it was given and to hand over what it makes of it, and what is left becomes dead letters. */
  async leave(withinMs: number): Promise<void> {
    if (withinMs > 0 && this.#isAtWork) {
      // One that leaves is being closed already, and gets so long of what it has for that.
      const hasLeft = this.#isClosing ? this.#change : this.#exclusive(() => this.#workThrough(withinMs));
      this.#isClosing = true;
      await Promise.race([hasLeft, this.#world.wait(withinMs, this.#end.signal)]).finally(() => {
        this.#isClosing = false;
      });
    }
    const buried = this.#bury();
    this.#abandon('the placement has gone for good');
    this.#status = 'fenced';
    await buried;
  }

  async #workThrough(flushMs: number): Promise<void> {
    const life = this.#life;
    if (life === undefined) return;
    const leaving = { flushMs, stays: this.#end.signal };
    await life.pipeline.close(async () => {
      await this.#waitFor(() => life.outbox.isReceived, leaving);
      this.#isSilent = true;
      await life.outbox.settled();
    }, leaving);
  }

  /**
   * It goes on once a heartbeat is acknowledged that says so: whoever asks may not know that the placement has moved meanwhile.
   * @throws CepError `stale_epoch`, `pipeline_not_running`
   */
  reopen(epoch: number): Promise<HeldPlacement> {
    this.#requireEpoch(epoch);
    return this.#exclusive(async () => {
      if (this.#status === 'closed' && this.#life !== undefined) {
        this.#status = 'starting';
        this.#world.changed();
      } else if (this.#status !== 'starting') this.#running(epoch);
      return this.view();
    });
  }

  /** A pipeline that has failed has refused batches that its receipts have: only another life takes them again. */
  async #goOn(life: Life): Promise<void> {
    try {
      if (life.pipeline.status === 'failed') throw new Error(life.pipeline.view().error ?? 'the pipeline has failed');
      await life.pipeline.start();
    } catch (error) {
      if (this.#life === life) this.#fail(error);
    }
    if (this.#life !== life) return;
    this.#status = 'running';
    this.#isSilent = false;
    this.#resume(life);
    this.look();
    this.#world.changed();
  }

  // ---------------------------------------------------------------------------------------------- events

  /** Where batches go. @throws CepError `stale_epoch`, `pipeline_not_running` */
  intake(epoch: number): BatchIntake {
    return this.#running(epoch).intake;
  }

  #running(epoch: number): Life {
    this.#requireEpoch(epoch);
    this.look();
    if (this.#status === 'running' && !this.#isClosing && this.#life !== undefined) return this.#life;
    const status = this.#status === 'running' ? 'about to be closed' : this.#status;
    throw new CepError('pipeline_not_running', `the placement is ${status}${this.#error === undefined ? '' : `: ${this.#error}`}`, {
      retryAfterSeconds: 1,
    });
  }

  /** @throws CepError `stale_epoch` */
  requireNotOlder(epoch: number): void {
    if (epoch < this.epoch) throw stale(this.id, epoch, this.epoch);
  }

  #requireEpoch(epoch: number): void {
    if (epoch !== this.epoch) throw stale(this.id, epoch, this.epoch);
  }

  #exclusive<T>(action: () => Promise<T>): Promise<T> {
    const run = this.#change.then(action, action);
    this.#change = run.catch(() => undefined);
    return run;
  }
}

function programOf({ source, connectors }: PlacementRequest): string {
  return withConnectors(source, connectors);
}

function stale(id: string, found: number, held: number): CepError {
  return new CepError('stale_epoch', `placement '${id}' is held here under epoch ${held}, found ${found}`);
}

/** What says nothing of its format may be of any. */
function isReadIn(checkpoint: PipelineCheckpoint | undefined, format: number): boolean {
  return checkpoint === undefined || (checkpoint.stateFormat ?? LATEST_STATE_FORMAT) <= format;
}

function notRepeated(): CepError {
  return new CepError(
    'storage_unavailable',
    'what the placement was given before its last checkpoint has not all come again: it goes on until then',
    {
      retryAfterSeconds: 1,
    },
  );
}

function notSaved(): CepError {
  return new CepError('storage_unavailable', 'the checkpoint could not be committed: the placement goes on as it was', {
    retryAfterSeconds: 1,
  });
}
