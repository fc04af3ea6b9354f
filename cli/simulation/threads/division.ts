import { statSync } from 'node:fs';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { isReadTwice } from '../../event-files/event-source.ts';
import { DividedRun, type DividedRunParts } from './divided-run.ts';
import { IdleCores } from './idle-cores.ts';
import type { LaneChoice } from './keys/lane-choice.ts';
import type { StartLane } from './keys/lane-thread.ts';
import { whyNotByLines } from './line-division.ts';
import type { ViewStyle } from './piece-record.ts';
import { PieceRunner } from './piece-runner.ts';
import { pieceThreads, type StartThread } from './piece-thread.ts';
import { ThreadChoice } from './thread-choice.ts';

/** What a simulation may use besides its own thread. */
export interface ThreadSettings {
  /** Threads, that of the simulation included. */
  readonly workers: number;
  /** The user named that number, or a field to divide by. */
  readonly isAsked?: boolean;
  /** The field by which to divide. @default whichever does */
  readonly partitionBy?: string | undefined;
  /** How the view writes. */
  readonly style: ViewStyle;
  /** The program's files, for the threads to read again, and the digest of what it said with everything it imports. */
  readonly programPaths: readonly string[];
  readonly program: () => string;
  /** Divides into pieces of so many bytes from the first line on, whatever is gained. */
  readonly pieceBytes?: number | undefined;
  /** @default one that measures; with `pieceBytes` one that uses all threads */
  readonly choice?: ThreadChoice;
  /** @default threads of this process */
  readonly startThread?: StartThread;
  /** The same of lanes. @default threads of this process */
  readonly startLane?: StartLane;
  /** The same of lanes. @default one that measures; with `pieceBytes` one that uses all threads from the first line on */
  readonly laneChoice?: LaneChoice;
}

/** A file that is smaller is through before a thread has started. */
const BYTES_MIN = 8 * 1024 * 1024;
/** A thread needs a third of that to start. */
const LEFT_MS_MIN = 800;
/** A thread is started for a core that was idle for this share of the time. */
const IDLE_SHARE_MIN = 0.6;

export interface DivisionOptions {
  readonly plan: Plan;
  readonly eventsPath: string;
  readonly strict: boolean;
  readonly settings: ThreadSettings;
}

/** How the rest of an event file is divided among threads, once that is worth it. */
export class Division {
  readonly #options: DivisionOptions;
  readonly #size: number;
  readonly #choice: ThreadChoice;
  readonly #idle = new IdleCores();
  /** Besides the one there is. */
  #threads: number;

  private constructor(options: DivisionOptions, size: number) {
    this.#options = options;
    this.#size = size;
    const { choice, pieceBytes } = options.settings;
    this.#threads = options.settings.workers - 1;
    this.#choice = choice ?? new ThreadChoice(pieceBytes === undefined ? LEFT_MS_MIN : 0);
  }

  /** Undefined when one thread is used in any case. */
  static of(options: DivisionOptions): Division | undefined {
    const { plan, eventsPath, settings } = options;
    if (settings.workers < 2 || whyNotByLines(plan) !== null || !settings.programPaths.every(isReadTwice)) return undefined;
    const stat = statSync(eventsPath, { throwIfNoEntry: false });
    const sizeMin = settings.pieceBytes === undefined ? BYTES_MIN : 0;
    return stat?.isFile() && stat.size >= sizeMin ? new Division(options, stat.size) : undefined;
  }

  /** One thread has come to this byte: whether others are to help from here. */
  isDue(read: number): boolean {
    const now = performance.now();
    const { workers, pieceBytes } = this.#options.settings;
    this.#choice.noteAlone(read, now);
    const idle = this.#idle.count(now);
    if (pieceBytes === undefined) this.#threads = Math.min(workers - 1, Math.floor(idle + 1 - IDLE_SHARE_MIN));
    return this.#threads > 0 && this.#choice.isWorthStarting(this.#size - read, now);
  }

  /** Runs to the end of the file. Gives the number of threads whose results were used. */
  run(parts: Pick<DividedRunParts, 'own' | 'results' | 'totals' | 'start' | 'breathe'>): Promise<number> {
    const { eventsPath, strict, settings } = this.#options;
    const { style, programPaths, program, pieceBytes = this.#choice.pieceBytes } = settings;
    const startThread = settings.startThread ?? pieceThreads({ programPaths, program: program(), eventsPath, strict, style });
    const pieces = Math.ceil((this.#size - parts.start.bytes) / pieceBytes);
    return new DividedRun({
      ...parts,
      runner: new PieceRunner(parts.own, style),
      size: this.#size,
      pieceBytes,
      threads: Math.max(0, Math.min(this.#threads, pieces - 1)),
      startThread,
      awaitsThreads: settings.pieceBytes !== undefined,
      choice: this.#choice,
    }).run();
  }
}
