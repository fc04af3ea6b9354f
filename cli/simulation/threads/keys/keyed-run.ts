import type { Plan } from '../../../../shared/language/plan/plan.ts';
import type { RunCounts } from '../../program-run.ts';
import type { RunResults } from '../../run-results.ts';
import { EngineTotals } from '../engine-totals.ts';
import { ThreadNews } from '../thread-news.ts';
import { Lane, type LaneSetup } from './lane.ts';
import type { LaneChoice } from './lane-choice.ts';
import { mergedRecord } from './lane-merge.ts';
import type { LaneRecord } from './lane-record.ts';
import type { LaneThread, StartLane } from './lane-thread.ts';

/** Records that a lane may make before those of the others are there. */
const AHEAD = 4;

export interface KeyedRunParts {
  readonly plan: Plan;
  readonly setup: LaneSetup;
  readonly startLane: StartLane;
  readonly results: RunResults;
  readonly choice: LaneChoice;
  /** Lets others of this thread have a turn; `read` bytes of the file are through. Rejects to end the run. */
  readonly breathe: (read: number) => Promise<void>;
}

/** As a run and its engine count. */
interface KeyedCounts {
  readonly totals: EngineTotals;
  readonly counts: RunCounts;
}

/** A lane on another thread. */
interface Helper {
  readonly thread: LaneThread;
  readonly records: LaneRecord[];
  isLost: boolean;
}

/**
 * An event file from its beginning, its keys divided among lanes, of which this thread has the first: what is shown, and every count, is that of
 * one run. Where lanes cannot say what one run would have done, one lane begins again and goes on alone.
 */
export class KeyedRun {
  readonly #parts: KeyedRunParts;
  /** What came of so many results of reading has been shown. */
  #shown: number;
  #own: Lane;
  #records: LaneRecord[] = [];
  #helpers: readonly Helper[] = [];
  #frontier = 0;
  #isOver = false;
  #hasFailed = false;
  /** It has come to where it was begun for. */
  #isThrough = false;
  #totals: EngineTotals;
  #counts: RunCounts = { events: 0, processed: 0, outputs: 0 };
  #outputs: number[] = [];
  #readTo = 0;
  /** What lanes counted that could not go on, until one has come as far. */
  #before: KeyedCounts | undefined;
  readonly #news = new ThreadNews();

  /** `own`: the first lane, which has read nothing. */
  constructor(parts: KeyedRunParts, own: Lane) {
    this.#parts = parts;
    this.#own = own;
    this.#shown = parts.setup.from;
    this.#totals = newTotals(parts.plan);
  }

  /** What has been shown, counted; undefined: whoever began knows better. */
  get counted(): KeyedCounts | undefined {
    if (!this.#isThrough) return this.#before;
    const outputs = this.#outputs.reduce((sum, ofLane) => sum + ofLane, 0);
    return { totals: this.#totals, counts: { ...this.#counts, outputs } };
  }

  /** To the end of the file. Gives the number of threads whose results were used. */
  async toEnd(): Promise<number> {
    const { setup } = this.#parts;
    const isDivided = await this.#inLanes(setup.count);
    if (isDivided) return setup.count;
    const alone = Lane.open({ ...setup, plan: this.#parts.plan, count: 1, number: 0, from: this.#shown });
    this.#own.close();
    this.#own = alone;
    await this.#inLanes(1);
    return 1;
  }

  close(): void {
    this.#own.close();
  }

  /** False when lanes cannot go on. */
  async #inLanes(count: number): Promise<boolean> {
    this.#reset();
    try {
      this.#helpers = Array.from({ length: count - 1 }, (_, number) => this.#start(number + 1));
      while (!this.#isOver) {
        if (this.#hasFailed || this.#helpers.some(({ isLost }) => isLost)) return false;
        if (this.#canSettle) {
          if (!this.#settle()) return false;
          await this.#parts.breathe(this.#records[0]?.read ?? this.#readTo);
        } else await this.#goOn();
      }
      return true;
    } finally {
      await Promise.all(this.#helpers.map(({ thread }) => thread.close()));
    }
  }

  #reset(): void {
    this.#before = this.counted;
    this.#isThrough = this.#hasFailed = false;
    this.#totals = newTotals(this.#parts.plan);
    this.#records = [];
    this.#frontier = 0;
    this.#isOver = false;
    this.#outputs = [];
    this.#readTo = 0;
  }

  #start(number: number): Helper {
    const records: LaneRecord[] = [];
    const thread = this.#parts.startLane(this.#parts.setup, number, {
      record: (record) => {
        records.push(record);
        this.#news.tell();
      },
      lost: () => {
        helper.isLost = true;
        this.#news.tell();
      },
    });
    const helper: Helper = { thread, records, isLost: false };
    thread.allow(AHEAD);
    return helper;
  }

  get #canSettle(): boolean {
    return this.#records.length > 0 && this.#helpers.every(({ records }) => records.length > 0);
  }

  /** Shows the next record of all lanes. False when they cannot be put together. */
  #settle(): boolean {
    const records = [this.#records.shift() as LaneRecord, ...this.#helpers.map(({ records }) => records.shift() as LaneRecord)];
    const [own] = records as [LaneRecord];
    const areSound = records.every(({ isSound, isLast, seen }) => isSound && isLast === own.isLast && seen === own.seen);
    const isWorthIt = this.#helpers.length === 0 || this.#parts.choice.isWorthGoingOn(own.read, performance.now());
    if (!areSound || !isWorthIt) return false;
    this.#parts.results.takeRecord(mergedRecord(records), 0);
    for (const { tally } of records) this.#totals.add(tally);
    this.#counts = own.counts;
    this.#outputs = records.map(({ counts }) => counts.outputs);
    this.#shown = Math.max(this.#shown, own.seen);
    this.#isThrough = own.seen >= this.#shown;
    this.#readTo = own.read;
    this.#isOver = own.isLast;
    this.#frontier++;
    for (const { thread } of this.#helpers) thread.allow(this.#frontier + AHEAD);
    return true;
  }

  /** The next record of the lane here, unless it is far ahead: then the others come first. */
  async #goOn(): Promise<void> {
    const record = this.#records.length < AHEAD ? this.#nextOwn() : undefined;
    if (record !== undefined) this.#records.push(record);
    else if (!this.#hasFailed) await this.#news.wait();
    await this.#parts.breathe(this.#readTo);
  }

  /** What fails ahead of the others fails again, at its turn, where one lane goes on alone. */
  #nextOwn(): LaneRecord | undefined {
    try {
      return this.#own.next();
    } catch (error) {
      if (this.#helpers.length === 0) throw error;
      this.#hasFailed = true;
      return undefined;
    }
  }
}

function newTotals({ streams }: Plan): EngineTotals {
  return new EngineTotals(streams.map(({ name }) => name));
}
