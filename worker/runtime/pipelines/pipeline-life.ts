import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { PipelineSinks } from '../../connectors/delivery/pipeline-sinks.ts';
import type { PipelineLookups } from '../../connectors/lookups/pipeline-lookups.ts';
import type { PipelineSources } from '../../connectors/sources/pipeline-sources.ts';
import type { RestoreReport } from '../../engine/engine.ts';
import type { PipelineStatus } from '../service.ts';
import type { CountersReply, ProgramSummary } from '../threads/messages.ts';
import { EngineOpening, isThreadLost } from './engine-opening.ts';
import type { Entry, Intake, IntakeOwner } from './intake.ts';
import type { OutputRing } from './output-ring.ts';
import type { PipelineContext } from './pipeline-context.ts';
import type { PipelineEvents } from './pipeline-events.ts';
import type { PipelineRecord } from './pipeline-record.ts';
import type { PipelineSaver } from './pipeline-saver.ts';
import type { PipelineTally } from './pipeline-tally.ts';
import type { PipelineDefinition } from './runtime-storage.ts';
import { Strikes } from './strikes.ts';
import { requireTransition } from './transitions.ts';

/** How long a pipeline that stops waits for its sinks; what is left then stays pending. */
const SINKS_FLUSH_MS = 5_000;
/** How long who deletes a pipeline waits for its dead letters to be written; they are written all the same. */
const LETTERS_MS_MAX = 1_000;

type Culprit = Parameters<IntakeOwner['lost']>[0];

/** How a pipeline is closed that nobody goes on with. */
export interface Leaving {
  /** How long its sinks are waited for, and then for what is on its way to them. */
  readonly flushMs: number;
  /** Aborted when it is to go on after all: then neither is waited for. */
  readonly stays: AbortSignal;
}

export interface LifeParts {
  readonly record: PipelineRecord;
  readonly intake: Intake;
  readonly events: PipelineEvents;
  readonly sinks: PipelineSinks;
  readonly sources: PipelineSources;
  readonly lookups: PipelineLookups;
  readonly saver: PipelineSaver;
  readonly tally: PipelineTally;
  readonly ring: OutputRing;
  /** Opens the connectors of the program. @throws CepError `connector_error`; then nothing has changed */
  readonly connect: (summary: ProgramSummary) => void;
}

export interface Start {
  readonly isNew?: boolean;
  readonly before?: () => void;
  /** Asked behind `before`. */
  readonly change?: () => Partial<PipelineDefinition>;
}

/** The life of one pipeline: it starts, stops and ends, and comes back when its thread is lost. */
export class PipelineLife {
  readonly #context: PipelineContext;
  readonly #parts: LifeParts;
  readonly #opening: EngineOpening;
  readonly #strikes = new Strikes();
  #status: PipelineStatus;
  #error: string | null;
  #failingConnectors: readonly string[] = [];
  #startedAt = 0;
  /** Operations of which only one may be under way. */
  #operation: Promise<unknown> = Promise.resolve();
  #isDraining = false;
  /** A thread that was lost, until it is the turn of its recovery. */
  #loss: { readonly culprit: Culprit; readonly reason: string } | undefined;
  /** Of a thread that was lost while who drains waited. */
  #recovery: Promise<void> | undefined;

  constructor(context: PipelineContext, parts: LifeParts) {
    this.#context = context;
    this.#parts = parts;
    this.#opening = new EngineOpening(context, parts);
    this.#error = parts.record.definition.error;
    this.#status = this.#error === null ? 'stopped' : 'failed';
  }

  get status(): PipelineStatus {
    return this.#status;
  }

  /** Why it is `failed` or `degraded`. */
  get error(): string | null {
    return this.#error;
  }

  /** The connectors for which it is `degraded`; none where that is for another reason. */
  get failingConnectors(): readonly string[] {
    return this.isRunning ? this.#failingConnectors : [];
  }

  get isRunning(): boolean {
    return this.#status === 'running' || this.#status === 'degraded';
  }

  /** It takes in what comes, or finishes what has come. */
  get isOpen(): boolean {
    return this.isRunning || this.#isDraining;
  }

  /** Since it was started last; 0 while it does not run. */
  get uptimeSeconds(): number {
    return this.isRunning ? Math.floor((performance.now() - this.#startedAt) / 1000) : 0;
  }

  /** @throws CepError `pipeline_not_running` */
  requireRunning(): void {
    if (this.isRunning || this.#status === 'starting') return;
    throw new CepError('pipeline_not_running', `the pipeline is ${this.#status}${this.#error === null ? '' : `: ${this.#error}`}`, {
      hint: this.#status === 'failed' ? 'start it, or reload it with another program' : 'start it first',
    });
  }

  /** Running, or degraded and why. */
  showHealth(): void {
    if (!this.isRunning) return;
    const circuits = this.#parts.sinks.openCircuits;
    const [unread] = this.#parts.sources.problems;
    const connectors =
      circuits.length > 0
        ? `the circuit breaker is open: ${circuits.join(', ')}`
        : unread && `cannot read from ${unread.id}: ${unread.problem}`;
    this.#failingConnectors = circuits.length > 0 ? circuits : unread ? [unread.connector] : [];
    const now = performance.now();
    const reason = connectors ?? this.#strikes.shown(now) ?? this.#parts.tally.drops.shown(now);
    if (reason === undefined) this.#become('running');
    else this.#become('degraded', reason);
  }

  #become(status: PipelineStatus, error: string | null = null): void {
    requireTransition(this.#status, status);
    if (status === this.#status && error === this.#error) return;
    if (status === 'running' && this.#status === 'starting') this.#startedAt = performance.now();
    this.#status = status;
    this.#error = error;
  }

  /** One after the other. */
  exclusive<T>(action: () => Promise<T>): Promise<T> {
    const run = this.#operation.then(action, action);
    this.#operation = run.catch(() => undefined);
    return run;
  }

  /**
   * Puts it on a thread with its last state. `isNew`: nobody knows of it yet, and it reads nothing before it is kept.
   * `before`, as that of `stop` and `delete`: asked when it is its turn, and nothing is done when it throws.
   * `change`: of its definition, which is kept before the engine is made.
   * @returns What became of its last state; null where it has none, or ran already.
   * @throws CepError when the program does not start, or is not kept; one that is not new runs all the same then
   */
  start({ isNew = false, before, change }: Start = {}): Promise<RestoreReport | null> {
    const { record, connect, events, intake, sources } = this.#parts;
    return this.exclusive(async () => {
      before?.();
      if (this.isRunning) return null;
      this.#become('starting');
      this.#strikes.forgive();
      this.#parts.tally.drops.forgive();
      let restored: RestoreReport | null;
      try {
        const changed = change?.() ?? {};
        const { summary } = { ...record.definition, ...changed };
        connect(summary);
        if (change) await record.change(changed);
        restored = await this.#opening.open(this.#strikes.isSuspect);
        // What an earlier version has kept may lack what sources of this one read by, as the declarations.
        if (JSON.stringify(record.definition.summary) !== JSON.stringify(summary)) connect(record.definition.summary);
        if (record.isDeleted) throw new CepError('pipeline_not_running', 'it was given up while it started');
      } catch (error) {
        intake.close();
        this.#become('failed', messageOf(error));
        events.refuseAll(new CepError('pipeline_not_running', `the pipeline did not start: ${messageOf(error)}`));
        throw error;
      }
      this.#become('running');
      const kept = record.change({ isStopped: false, error: null, counters: undefined });
      if (isNew) await kept;
      void sources.start();
      await kept;
      return restored;
    });
  }

  /** Finishes what was accepted, saves its state. */
  stop(before?: () => void): Promise<void> {
    return this.exclusive(async () => {
      before?.();
      if (this.#status === 'stopped') return;
      // Ticks of a pipeline that has none any more are not to be kept for it: its state has the time.
      if (this.#status !== 'failed') await this.#drain(() => this.#saveLast());
      this.#become('stopped');
      await this.#parts.record.change({ isStopped: true, error: null, counters: this.#parts.tally.counters });
    });
  }

  /** From here on nobody can ask the engine what it has counted. */
  async #saveLast(): Promise<boolean> {
    const { intake, saver, tally } = this.#parts;
    const take = (counters: CountersReply): void => {
      tally.counters = counters;
    };
    await intake.call<CountersReply>((slot) => ({ kind: 'counters', slot })).then(take, () => undefined); // Without a thread what was last heard has to do.
    return await saver.saveWhole();
  }

  /** False when its state could not be saved. */
  async #drain(save: () => Promise<boolean>): Promise<boolean> {
    const { intake, sinks } = this.#parts;
    this.#become('draining');
    this.#isDraining = true;
    await this.#workThrough();
    await sinks.idle(SINKS_FLUSH_MS);
    const isSaved = await this.#saveDrained(save);
    this.#isDraining = false;
    intake.close();
    await this.#parts.lookups.close();
    return isSaved;
  }

  /** A thread that is lost since it was worked through is replaced first, so that it has a state to save, and that none is opened for a pipeline that has ended. */
  async #saveDrained(save: () => Promise<boolean>): Promise<boolean> {
    await this.#drained();
    const isSaved = await save();
    await this.#recovery;
    return isSaved;
  }

  /** As it has to be before another state takes the place of its own; it runs on. @throws CepError `pipeline_not_running` when it failed over that */
  async finish(): Promise<void> {
    const { intake } = this.#parts;
    this.#isDraining = true;
    try {
      // Requests come on, and what they bring is for the other state: nobody waits until there are none.
      await this.#workThrough(() => intake.acceptedUpTo);
    } finally {
      this.#isDraining = false;
    }
    this.requireRunning();
  }

  /**
   * Reads no more, and works through what was accepted. Sources wait until what they gave is through, whatever the sinks do. `upTo`: the
   * sequence with which it ends, once they have stopped. @default with the last
   */
  async #workThrough(upTo?: () => number): Promise<void> {
    const { events, sources } = this.#parts;
    events.finishing(true);
    const stopped = sources.stop();
    // Its recovery stands in line behind this, which waits for what the lost thread had.
    if (this.#loss !== undefined) this.#recovery = this.#recover();
    await this.#drained(upTo?.());
    // Where it failed meanwhile, what they gave waits for the next start, and they for that.
    if (this.#status !== 'failed') await stopped;
    await this.#drained(upTo?.());
    events.finishing(false);
  }

  /** Resolves when what was accepted is through, also after its thread was lost. */
  async #drained(upTo = Number.POSITIVE_INFINITY): Promise<void> {
    const { record, intake } = this.#parts;
    do {
      await intake.drained(upTo);
      await this.#recovery;
    } while (intake.hasWorkUpTo(upTo) && this.#status !== 'failed' && !record.isDeleted);
  }

  /** Ends with the process: as `stop`, but it will be running again after the next start. False when something is not delivered and not kept. */
  shutdown(): Promise<boolean> {
    const { record, ring, sinks, sources } = this.#parts;
    return this.exclusive(async () => {
      let isSaved = true;
      if (this.isRunning) {
        isSaved = await this.#drain(() => this.#parts.saver.saveAll());
        this.#become('stopped');
      } else await sources.stop();
      ring.end('shutdown');
      await sinks.close();
      return record.storage === null ? sinks.pending === 0 : isSaved;
    });
  }

  /** What its sinks have not taken is given up and kept as dead letters; none of them is waited for. */
  delete(before?: () => void): Promise<void> {
    const { record, intake, events, ring, sinks, sources } = this.#parts;
    const calm = sinks.hurry();
    const done = this.exclusive(async () => {
      before?.();
      await record.delete();
      void sources.stop();
      intake.close();
      void this.#parts.lookups.close();
      events.refuseAll(new CepError('pipeline_not_found', `there is no pipeline '${record.definition.id}'`), { isGone: true });
      ring.end('deleted');
      await Promise.race([sinks.giveUp(), sleep(LETTERS_MS_MAX, undefined, { ref: false })]);
    });
    return done.catch((error: unknown) => {
      calm();
      throw error;
    });
  }

  /** It has no right to run any more: nothing that it has not said is said, and nothing of it is kept. Waits for nobody. */
  abandon(error: CepError): void {
    const { record, intake, events, ring, sinks, sources } = this.#parts;
    record.giveUp();
    void sources.stop();
    void sinks.close();
    void this.#parts.lookups.close();
    intake.close();
    // What sources gave, the next life reads again from its checkpoint.
    events.refuseAll(error, { isGone: true });
    ring.end('deleted');
  }

  /** What its sinks have not taken is given up and kept as dead letters, beside those that there are. Nothing more is said. */
  async bury(): Promise<void> {
    await Promise.race([this.#parts.sinks.bury(), sleep(LETTERS_MS_MAX, undefined, { ref: false })]);
  }

  /**
   * Stops without having said all: what is pending stays so, in the state that is saved. False when it is not saved. `silence`: from here on
   * nothing is said.
   */
  async close(silence: () => void | Promise<void>, leaving?: Leaving): Promise<boolean> {
    const { record, intake, sinks, saver } = this.#parts;
    return this.exclusive(async () => {
      if (!this.isRunning) return this.#status === 'stopped';
      this.#become('draining');
      this.#isDraining = true;
      await this.#workThrough();
      if (!record.isDeleted) await sinks.idle(leaving?.flushMs ?? SINKS_FLUSH_MS, leaving?.stays);
      if (!leaving?.stays.aborted) {
        await silence();
        await (leaving ? within(leaving.flushMs, leaving.stays, sinks.settled()) : sinks.settled());
      }
      const isSaved = !record.isDeleted && (await this.#saveDrained(() => saver.saveWhole()));
      this.#isDraining = false;
      intake.close();
      // It may have failed over what it had to finish.
      if (this.#status === 'failed') return false;
      this.#become('stopped');
      return isSaved;
    });
  }

  /** Its thread is gone. `culprit`: what it hung at, if it was at fault. */
  lost(culprit: Culprit, reason: string): void {
    this.#loss = { culprit, reason };
    // Who drains waits for what the lost thread had, so this must not wait for him.
    if (this.#isDraining) this.#recovery = this.#recover();
    else void this.exclusive(() => this.#recover());
  }

  /** Does nothing where who drains has done it before its turn. */
  async #recover(): Promise<void> {
    const loss = this.#loss;
    this.#loss = undefined;
    if (loss !== undefined) await this.#recoverFrom(loss.culprit, loss.reason);
  }

  async #recoverFrom(culprit: Culprit, reason: string): Promise<void> {
    // Asked when it is its turn: a deletion that was under way may have failed.
    if (this.#parts.record.isDeleted) return;
    const cause = reason.split('\n', 1)[0] ?? '';
    if (culprit !== undefined) await this.#strike(culprit, cause);
    const verdict = this.#strikes.verdict(performance.now());
    if (verdict !== undefined) {
      await this.#fail(verdict);
      return;
    }
    try {
      await this.#opening.open(this.#strikes.isSuspect);
      this.showHealth();
    } catch (error) {
      if (isThreadLost(error)) await this.#recoverFrom({ entry: undefined, index: -1 }, reason);
      else await this.#fail(messageOf(error));
    }
  }

  async #strike({ entry, index }: NonNullable<Culprit>, reason: string): Promise<void> {
    this.#strikes.add(performance.now(), reason);
    this.#report('Event given up', { index, reason });
    if (entry) await this.#logSkip(entry, index);
  }

  /** After a crash the event is not to be tried again. */
  async #logSkip({ sequence }: Entry, index: number): Promise<void> {
    const { record } = this.#parts;
    try {
      await record.storage?.append({ kind: 'skip', pipelineId: record.definition.id, sequence, index });
    } catch (error) {
      this.#report('Event given up was not recorded', { reason: messageOf(error) });
    }
  }

  async #fail(error: string): Promise<void> {
    const { record, intake, events, saver, sources, tally } = this.#parts;
    const { id: pipelineId, name } = record.definition;
    void sources.stop();
    intake.close();
    void this.#parts.lookups.close();
    this.#become('failed', error);
    this.#report('Pipeline failed', { name, error });
    const refused = events.refuseAll(new CepError('pipeline_not_running', `the pipeline failed: ${error}`));
    for (const { sequence } of refused)
      void record.storage?.append({ kind: 'skip', pipelineId, sequence, index: -1 }).catch(() => undefined);
    await record.change({ error, counters: tally.counters }).catch((cause) => saver.report(cause));
  }

  #report(message: string, fields: Readonly<Record<string, string | number>>): void {
    this.#context.report({ level: 'error', message, fields: { pipeline: this.#parts.record.definition.id, ...fields } });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves with the promise, or when the time is over, or when the signal is aborted. */
async function within(ms: number, signal: AbortSignal, promise: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const ended = sleep(ms, undefined, { signal: AbortSignal.any([signal, done.signal]), ref: false }).catch(() => undefined);
  await Promise.race([promise, ended]).finally(() => done.abort());
}
