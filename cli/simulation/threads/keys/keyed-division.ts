import { statSync } from 'node:fs';
import { CepError } from '../../../../shared/errors/error.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { isReadTwice } from '../../../event-files/event-source.ts';
import type { DivisionOptions, ThreadSettings } from '../division.ts';
import { IdleCores } from '../idle-cores.ts';
import { whyNotByLines } from '../line-division.ts';
import { type Keys, keyDivision } from './key-division.ts';
import { KeyedRun, type KeyedRunParts } from './keyed-run.ts';
import { Lane, type LaneSetup } from './lane.ts';
import { LaneChoice } from './lane-choice.ts';
import { laneThreads } from './lane-thread.ts';
import { tryLane } from './lane-trial.ts';

/** A file that is smaller is through before a thread has started. */
const BYTES_MIN = 8 * 1024 * 1024;
/** A thread is started for a core that was idle for this share of the time. */
const IDLE_SHARE_MIN = 0.6;
/** Bytes of the file for a record: long beside what a record costs, short beside what is kept of records. */
const RECORD_BYTES = 1024 * 1024;

export interface KeyedDivisionOptions extends DivisionOptions {
  readonly flush: boolean;
}

/** How the keys of an event file are divided among threads, once that is worth it. */
export class KeyedDivision {
  readonly #options: KeyedDivisionOptions;
  readonly #keys: Keys;
  readonly #size: number;
  readonly #choice: LaneChoice;
  readonly #idle = new IdleCores();
  #isTried = false;
  /** The one there is included. */
  #count: number;

  private constructor(options: KeyedDivisionOptions, keys: Keys, size: number) {
    this.#options = options;
    this.#keys = keys;
    this.#size = size;
    const { workers, pieceBytes, laneChoice } = options.settings;
    this.#count = workers;
    this.#choice = laneChoice ?? new LaneChoice(size, { isForced: pieceBytes !== undefined });
  }

  /** Undefined when one thread is used in any case, nobody asked for more, or lines can be divided in any way. */
  static of(options: KeyedDivisionOptions): KeyedDivision | undefined {
    const { plan, eventsPath, settings } = options;
    const isAsked = settings.isAsked === true || settings.pieceBytes !== undefined || settings.laneChoice !== undefined;
    if (settings.workers < 2 || !isAsked || !settings.programPaths.every(isReadTwice)) return undefined;
    const stat = statSync(eventsPath, { throwIfNoEntry: false });
    const sizeMin = settings.pieceBytes === undefined ? BYTES_MIN : 0;
    if (stat?.isFile() !== true || stat.size < sizeMin) return undefined;
    const { keys } = whyNotByKey(plan, settings);
    return keys && new KeyedDivision(options, keys, stat.size);
  }

  /** One thread has come to this byte, with so many alerts: whether others are to help, from the beginning on. */
  isDue(read: number, alerts: number): boolean {
    if (this.#isTried) return false;
    const now = performance.now();
    const { workers, pieceBytes } = this.#options.settings;
    this.#choice.noteAlone(read, now);
    const idle = this.#idle.count(now);
    if (pieceBytes === undefined) this.#count = Math.min(workers, 1 + Math.floor(idle + 1 - IDLE_SHARE_MIN));
    if (this.#count < 2 || !this.#choice.isWorthTrying(read, now)) return false;
    this.#isTried = true;
    return this.#isWorthStarting(read, this.#options.settings.style.isQuiet ? 0 : alerts);
  }

  #isWorthStarting(read: number, shown: number): boolean {
    try {
      return this.#choice.isWorthStarting(read, shown, tryLane(this.#options.plan, this.#setup(0), read));
    } catch (error) {
      if (error instanceof CepError) return false;
      throw error;
    }
  }

  /** `from`: what came of so many results of reading the file has been shown. */
  begin(parts: Pick<KeyedRunParts, 'results' | 'breathe'>, from: number): KeyedRun {
    const { plan, settings } = this.#options;
    const { programPaths, program, startLane = laneThreads({ programPaths, program: program() }) } = settings;
    const setup = this.#setup(from);
    return new KeyedRun({ ...parts, plan, setup, startLane, choice: this.#choice }, Lane.open({ ...setup, plan, number: 0 }));
  }

  #setup(from: number): LaneSetup {
    const { eventsPath, strict, flush, settings } = this.#options;
    const { style, pieceBytes: recordBytes = RECORD_BYTES } = settings;
    return { eventsPath, strict, flush, style, keys: this.#keys, count: this.#count, size: this.#size, recordBytes, from };
  }
}

/** Why several threads cannot take the events of a program, neither by lines nor by keys; else by which keys. */
export function whyNotByKey(plan: Plan, { partitionBy }: Pick<ThreadSettings, 'partitionBy'>): ReturnType<typeof keyDivision> {
  return whyNotByLines(plan) === null ? { why: 'its lines can be divided' } : keyDivision(plan, partitionBy);
}
