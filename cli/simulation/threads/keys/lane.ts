import { CepError } from '../../../../shared/errors/error.ts';
import { EventSchemas } from '../../../../shared/events/schema.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { EventShare } from '../../../../worker/engine/sharing/event-share.ts';
import { EventLines } from '../../../event-files/event-lines.ts';
import { ProgramRun } from '../../program-run.ts';
import { type EngineTally, TallyDifference } from '../engine-totals.ts';
import type { ViewStyle } from '../piece-record.ts';
import type { Keys } from './key-division.ts';
import type { LaneRecord } from './lane-record.ts';
import { LaneRecorder } from './lane-recorder.ts';
import { withSharedLimits } from './shared-limits.ts';

/** What all lanes of a run have in common. */
export interface LaneSetup {
  readonly eventsPath: string;
  readonly strict: boolean;
  readonly style: ViewStyle;
  readonly keys: Keys;
  /** Lanes. */
  readonly count: number;
  /** Bytes of the file, those that have come since left out. */
  readonly size: number;
  /** Bytes of it for a record. */
  readonly recordBytes: number;
  /** Completes at the end what is open. */
  readonly flush: boolean;
  /** What came of so many results of reading the file has been shown. */
  readonly from: number;
}

export interface LaneOptions extends LaneSetup {
  readonly plan: Plan;
  /** From 0 on; -1 = the lane of nobody's events. */
  readonly number: number;
}

/** Text of one record of several lanes, bytes. */
const RECORD_BYTES_MAX = 64 * 1024 * 1024;

/**
 * One of several runs of a program through a whole event file, each of which works on the events of its keys and lets time move to all others.
 * What comes of them together is what comes of one run, put in order by the moments at which it came.
 */
export class Lane {
  readonly run: ProgramRun;
  readonly share: EventShare;
  readonly #options: LaneOptions;
  readonly #lines: EventLines;
  readonly #recorder: LaneRecorder;
  readonly #tallies = new TallyDifference();
  #records = 0;
  #isEnding = false;
  #hasDropped = false;

  private constructor(options: LaneOptions) {
    const { eventsPath, strict, style, keys, count, number, size, from } = options;
    const plan = withSharedLimits(options.plan, count);
    this.#options = options;
    this.share = new EventShare({ number, count, keys });
    const now = { seen: 0, step: this.share.step };
    this.#recorder = new LaneRecorder({
      plan,
      style,
      from,
      tellsProblems: number === 0,
      now: () => {
        now.seen = this.#isEnding ? Infinity : this.run.seen;
        now.step = this.share.step;
        return now;
      },
    });
    this.run = new ProgramRun({ plan, strict, isWatched: false, share: this.share }, this.#recorder);
    if (count > 1 && !this.share.isOrdered) throw new CepError('validation_error', 'the lanes of the program cannot be put in order');
    const schemas = new EventSchemas(plan.events);
    this.#lines = EventLines.open(eventsPath, { schemas, preload: false, canResume: false, canMove: true, short: this.run.fastPath });
    this.#lines.moveTo({ bytes: 0, lines: 0, time: 0 }, size);
  }

  /** To be closed. @throws CepError when the program cannot begin, cannot run in lanes, or the file cannot be opened */
  static open(options: LaneOptions): Lane {
    return new Lane(options);
  }

  /** The next record; undefined behind the last. @throws CepError when the file cannot be read */
  next(): LaneRecord | undefined {
    if (this.#isEnding) return undefined;
    const { recordBytes } = this.#options;
    const until = (this.#records + 1) * recordBytes;
    while (this.#lines.progress.read < until && !this.#isEnding) {
      const piece = this.#lines.next({ stopAtEvent: false, most: recordBytes });
      if (piece === undefined) this.#end();
      else this.run.takeAll(piece.results, this.#lines.entered);
    }
    return this.#record();
  }

  close(): void {
    this.#lines.close();
  }

  #end(): void {
    this.#isEnding = true;
    if (this.#options.flush) this.run.engine.end();
  }

  #record(): LaneRecord {
    const { number, count } = this.#options;
    const tally = this.#tallies.next(this.run.counters());
    const isTooLarge = this.#recorder.size > RECORD_BYTES_MAX;
    this.#hasDropped ||= tally.streams.some(({ runsDropped }) => runsDropped.some(([reason]) => reason === 'max_runs'));
    const isSound = !isTooLarge && !this.#hasDropped && !this.#recorder.isUnplaced && this.share.isOrdered;
    return {
      number: this.#records++,
      isLast: this.#isEnding,
      read: this.#lines.progress.read,
      seen: this.run.seen,
      counts: { ...this.run.counts },
      tally: number === 0 ? tally : ofOwnEvents(tally),
      isSound: count === 1 || isSound,
      ...this.#recorder.take(),
    };
  }
}

/** What every lane counts, as it sees all events, is left out. */
function ofOwnEvents(tally: EngineTally): EngineTally {
  return { ...tally, untimed: 0, unread: 0, unreadTypes: [], time: null };
}
