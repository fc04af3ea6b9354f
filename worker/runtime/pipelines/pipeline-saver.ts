import type { PipelineSinks, SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import type { PipelineLookups } from '../../connectors/lookups/pipeline-lookups.ts';
import type { Placing } from '../placed/placing.ts';
import type { InjectResult, RuntimeReport } from '../service.ts';
import { goesOn } from '../threads/idle-sources.ts';
import type { RecordResult } from '../threads/messages.ts';
import type { IdempotencyWindow } from './idempotency-window.ts';
import type { Entry, Intake } from './intake.ts';
import type { PipelineRecord } from './pipeline-record.ts';
import type { PipelineTally } from './pipeline-tally.ts';
import type { PipelineCheckpoint } from './runtime-storage.ts';
import type { SourceMarks } from './source-marks.ts';

/** A save is due when so much came in, or several times the size of the state, so that saving costs a bounded share of the work. */
const SAVE_BYTES_MIN = 16 * 1_048_576;
const SAVE_STATE_FACTOR = 8;
/** At most one part in so many of the time goes into saving. */
const SAVE_TIME_SHARE = 20;
/** How long a sink waits for a checkpoint at least, so that one has what comes together, ms. */
const AWAITED_MS = 100;
/** A checkpoint that waits longer for the engine says for what, ms. */
const TOLD_MS = 10_000;

export interface SaverOptions {
  readonly pipelineId: string;
  readonly intervalMs: number;
  /** Epoch ms; never goes back. */
  readonly arrivalTime: () => number;
  readonly report: (report: RuntimeReport) => void;
  /** What the checkpoints of a placed pipeline have besides. */
  readonly placed?: Pick<Placing, 'save' | 'stateFormat'> | undefined;
}

/** What an engine has saved behind an input. */
interface MadeState {
  readonly sequence: number;
  readonly state: Uint8Array;
  /** Undefined: the latest. */
  readonly stateFormat: number | undefined;
}

type Noted = Pick<Entry, 'format' | 'time' | 'source' | 'skip'>;

export interface SavedParts {
  readonly intake: Pick<Intake, 'save' | 'rebase' | 'forgetState' | 'base' | 'doneUpTo' | 'doneBytes' | 'isChanged'>;
  readonly tally: PipelineTally;
  readonly answers: { readonly save: () => ReturnType<IdempotencyWindow<InjectResult>['save']> };
  readonly sinks: Pick<PipelineSinks, 'save' | 'awaitCheckpoint' | 'checkpointed' | 'dlqEvents' | 'pending'>;
  readonly marks: SourceMarks;
  readonly record: PipelineRecord;
  /** What the engine waits for before it has a state to save. @default nothing */
  readonly lookups?: Pick<PipelineLookups, 'underWay'>;
}

/** Saves the state of a pipeline when that is due: to memory, from where a new thread takes it, and to the storage, if there is one. */
export class PipelineSaver {
  readonly #options: SaverOptions;
  readonly #parts: SavedParts;
  #storedSequence: number;
  /** When a save ended last, however that was. */
  #triedAt = performance.now();
  /** When there was last nothing that is not saved by now. */
  #wholeAt = performance.now();
  /** What the last save took of the time of the engine, and of the thread that writes, ms. */
  #costMs = 0;
  #saving: Promise<boolean> | undefined;
  /** While another engine takes the place of the one that runs. */
  #switching: Promise<unknown> | undefined;
  /** Something came through that was no tick, or had an effect. */
  #hasEffect = false;
  /** When the last tick came; undefined before the first one of this engine, which may come behind a time in which nobody listened. */
  #ticked: number | undefined;
  /** What sinks had, in the checkpoint that was made last. */
  #made: { readonly sequence: number; readonly deliveries: SavedDeliveries } | undefined;
  /** The dead letters that this one counts, or the one with which the pipeline began. */
  #dlqEventsMade: number;
  /** How much it lists as not yet delivered. */
  #pendingMade: number;
  #awaited: NodeJS.Timeout | undefined;
  /** Since when a checkpoint waits for the engine, as `performance.now`; undefined: none does. */
  #waitingSince: number | undefined;

  /** @param stored The checkpoint with which the pipeline begins */
  constructor(options: SaverOptions, parts: SavedParts, stored: Pick<PipelineCheckpoint, 'sequence' | 'deliveries'> | undefined) {
    this.#options = options;
    this.#parts = parts;
    this.#storedSequence = stored?.sequence ?? 0;
    this.#pendingMade = pendingIn(stored?.deliveries);
    this.#dlqEventsMade = parts.sinks.dlqEvents;
  }

  /** Of the newest checkpoint in the storage; 0 when there is none. */
  get storedSequence(): number {
    return this.#storedSequence;
  }

  /** In which states are saved now; undefined: the latest. */
  get stateFormat(): number | undefined {
    return this.#options.placed?.stateFormat();
  }

  /** Since everything that had come through was saved. */
  get ageSeconds(): number {
    return (performance.now() - this.#wholeAt) / 1000;
  }

  /** For how long a checkpoint has waited for the engine; 0: none does. */
  get waitingSeconds(): number {
    return this.#waitingSince === undefined ? 0 : (performance.now() - this.#waitingSince) / 1_000;
  }

  /** What came through. */
  note({ format, time, source, skip }: Noted, { events, unreadable, outputs, deliveries, deadLetters, log }: RecordResult): void {
    const isQuiet = source === null && events === 0 && unreadable === null && outputs.skipped === 0 && outputs.time.length === 0;
    if (!isQuiet || deliveries.length + deadLetters.length + log.length > 0) this.#hasEffect = true;
    if (format !== null || skip.length > 0) return;
    // What it was told of silence cannot be found from the last tick alone.
    if (this.#ticked === undefined || !goesOn(this.#ticked, time)) this.#hasEffect = true;
    this.#ticked = time;
  }

  saveWhenDue(): void {
    // What a save that is under way has counts as saved only when that has succeeded.
    if (this.#saving !== undefined) return;
    const now = performance.now();
    const interval = Math.max(this.#options.intervalMs, SAVE_TIME_SHARE * this.#costMs);
    if (!this.#parts.intake.isChanged && !this.#hasNews) this.#wholeAt = now;
    else if (now - this.#triedAt >= interval) void this.saveOrReport();
  }

  /** The checkpoint before is not what there is now, ticks aside: who starts from it would deliver again what sinks have taken since. */
  get #hasNews(): boolean {
    const { dlqEvents, pending } = this.#parts.sinks;
    return this.#hasEffect || dlqEvents !== this.#dlqEventsMade || pending < this.#pendingMade;
  }

  /** Soon, where sinks wait for a checkpoint, in the share of time that saving may take. `isOpen`: asked then. */
  saveWhenAwaited(isOpen: () => boolean): void {
    const { sinks } = this.#parts;
    if (this.#awaited !== undefined || !sinks.awaitCheckpoint) return;
    const due = this.#triedAt + Math.max(AWAITED_MS, SAVE_TIME_SHARE * this.#costMs) - performance.now();
    this.#awaited = setTimeout(
      async () => {
        if (isOpen()) await this.saveWhole();
        this.#awaited = undefined;
        if (isOpen()) this.saveWhenAwaited(isOpen);
      },
      Math.max(AWAITED_MS, due),
    ).unref();
  }

  saveWhenLong(): void {
    const { intake, tally } = this.#parts;
    if (intake.doneBytes >= Math.max(SAVE_BYTES_MIN, SAVE_STATE_FACTOR * tally.stateBytes)) void this.saveOrReport();
  }

  /** One save at a time: while one is under way it is that one. False when it failed, which is reported. */
  saveOrReport(): Promise<boolean> {
    this.#saving ??= this.#saveInTurn().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  /**
   * Puts another engine in the place of the one that runs: a save that is under way is on disk before that, and none begins meanwhile, for
   * it would write the state of the old engine over that of the new one. Only one may be under way.
   */
  async whileSwitching<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#saving;
    const changed = (async () => {
      await before;
      return change();
    })();
    this.#switching = changed;
    try {
      return await changed;
    } catch (error) {
      // It may have made a checkpoint that the storage has not.
      this.#hasEffect = true;
      throw error;
    } finally {
      this.#switching = undefined;
      this.#ticked = undefined;
    }
  }

  async #saveInTurn(): Promise<boolean> {
    await this.#switching?.catch(() => undefined);
    return this.#saveOnce();
  }

  /** Everything that came through by now, also what a save that is under way has not. */
  async saveAll(): Promise<boolean> {
    await this.#saving;
    return this.saveOrReport();
  }

  /** The same, whether or not anything came through: what sinks have taken meanwhile is in it too. */
  async saveWhole(): Promise<boolean> {
    await this.#saving;
    this.#hasEffect = true;
    return this.saveOrReport();
  }

  async #saveOnce(): Promise<boolean> {
    const began = performance.now();
    try {
      if (this.#hasNews) await this.#save();
      else await this.#saveIdle();
      this.#wholeAt = began;
      return true;
    } catch (error) {
      this.report(error);
      return false;
    } finally {
      this.#triedAt = performance.now();
    }
  }

  async #save(): Promise<void> {
    const started = performance.now();
    const { intake, tally, record } = this.#parts;
    const { stateFormat } = this;
    const checkpoint = await this.#whileTelling(
      intake.save(({ sequence, state, durationMs }) => {
        this.#costMs = durationMs;
        tally.stateBytes = state.byteLength;
        this.#hasEffect = false;
        return this.checkpointOf({ sequence, state, stateFormat });
      }, stateFormat),
    );
    try {
      const isKept = await record.keep(checkpoint);
      this.#costMs += record.busyMs;
      if (isKept) this.isStored(checkpoint.sequence);
    } catch (error) {
      // The storage lacks what came through, whatever follows: ticks alone must not pass for a state that it has.
      this.#hasEffect = true;
      throw error;
    }
    tally.checkpointSeconds = (performance.now() - started) / 1000;
  }

  /** An engine has a state to save behind what it works on, answers of look-ups included. */
  async #whileTelling<T>(saved: Promise<T>): Promise<T> {
    this.#waitingSince = performance.now();
    const telling = setTimeout(() => this.#tellWaiting(), TOLD_MS).unref();
    try {
      return await saved;
    } finally {
      clearTimeout(telling);
      this.#waitingSince = undefined;
    }
  }

  #tellWaiting(): void {
    const { pipelineId, report } = this.#options;
    const asked = (this.#parts.lookups?.underWay ?? []).filter(({ count }) => count > 0);
    const parts = asked.map(
      ({ connector, count, oldestSeconds }) => `${count} in ${connector}, the oldest for ${oldestSeconds.toFixed(1)} s`,
    );
    const what = parts.length === 0 ? 'the engine, which is at work' : `look-ups: ${parts.join('; ')}`;
    report({
      level: 'warn',
      message: 'Checkpoint waits',
      fields: { pipeline: pipelineId, seconds: Math.round(this.waitingSeconds), for: what },
    });
  }

  /** A checkpoint of this sequence was kept in another way, with the definition. */
  isSaved(sequence: number): void {
    if (this.#parts.record.storage !== null) this.isStored(sequence);
  }

  /** The storage has a checkpoint of this sequence: the state need not be kept here. */
  isStored(sequence: number): void {
    this.#storedSequence = sequence;
    this.#parts.intake.forgetState(sequence);
    if (this.#made?.sequence === sequence) this.#parts.sinks.checkpointed(this.#made.deliveries);
  }

  /**
   * Nothing but ticks without effect came through: the state is what it was once the last of them is done again, which has the time, by an
   * engine that knows of the others how long they heard nothing.
   */
  async #saveIdle(): Promise<void> {
    const { intake, record } = this.#parts;
    const sequence = Math.max(intake.base.sequence, intake.doneUpTo - 1);
    const ticked = this.#ticked ?? intake.base.ticked;
    if (!record.isDeleted) await record.storage?.saveIdle(this.#options.pipelineId, { upTo: sequence, ticked });
    intake.rebase({ sequence, state: intake.base.state, ticked });
  }

  /** @param notBefore When the state was made, where that was on another server, epoch ms. */
  checkpointOf({ sequence, state, stateFormat }: MadeState, notBefore = 0): PipelineCheckpoint {
    const { tally, answers, sinks, marks } = this.#parts;
    const savedAt = Math.max(this.#options.arrivalTime(), notBefore);
    const sources = marks.save();
    const deliveries = sinks.save();
    this.#made = { sequence, deliveries };
    this.#dlqEventsMade = sinks.dlqEvents;
    this.#pendingMade = sinks.pending;
    const rest = { counts: tally.counts(), answers: answers.save(), deliveries, sources };
    const { placed } = this.#options;
    const whole = { sequence, state, savedAt, ...rest };
    if (placed === undefined) return whole;
    const format = stateFormat as number;
    return { ...whole, placed: placed.save(sources, format), stateFormat: format };
  }

  report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.report({ level: 'error', message: 'Checkpoint failed', fields: { pipeline: this.#options.pipelineId, reason } });
  }
}

function pendingIn(deliveries: SavedDeliveries | undefined): number {
  return deliveries?.sinks.reduce((sum, [, events]) => sum + events.length, deliveries.letters.length) ?? 0;
}
