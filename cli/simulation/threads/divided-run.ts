import type { LinePlace } from '../../event-files/event-lines.ts';
import type { RunCounts } from '../program-run.ts';
import type { RunResults } from '../run-results.ts';
import type { EngineTotals } from './engine-totals.ts';
import { LINES_BEFORE, type Piece, type PieceRecord } from './piece-record.ts';
import type { MovableRun, PieceRunner } from './piece-runner.ts';
import type { PieceThread, StartThread } from './piece-thread.ts';
import type { ThreadChoice } from './thread-choice.ts';
import { ThreadNews } from './thread-news.ts';

/** Pieces that a thread has at once: one it works on, one it need not wait for. */
const GIVEN_MAX = 2;
/** Pieces that are under way or done and not yet shown, for each thread. */
const AHEAD_PER_THREAD = 4;
/** Of the pieces, so many may have to be run again before one thread goes on alone. */
const AGAIN_SHARE_MAX = 0.2;
const AGAIN_MIN = 3;

export interface DividedRunParts {
  /** The run that came to where the division begins. */
  readonly own: MovableRun;
  /** Records with that run. */
  readonly runner: PieceRunner;
  readonly results: RunResults;
  readonly totals: EngineTotals;
  /** Where the division begins, and the byte where the file ends. */
  readonly start: LinePlace;
  readonly size: number;
  readonly pieceBytes: number;
  /** Threads besides this one. */
  readonly threads: number;
  readonly startThread: StartThread;
  /** Begins when all threads have; otherwise this one goes on meanwhile. */
  readonly awaitsThreads: boolean;
  readonly choice: ThreadChoice;
  /** Lets others of this thread have a turn; `read` bytes of the file are through. Rejects to end the run. */
  readonly breathe: (read: number) => Promise<void>;
}

/** Before a piece: its number, and what the pieces before it end with. */
interface Frontier {
  readonly number: number;
  readonly lines: number;
  readonly time: number;
}

/** A record and who made it. */
interface Had {
  readonly record: PieceRecord | undefined;
  readonly helper?: Helper;
}

interface Helper {
  readonly thread: PieceThread;
  readonly given: Set<number>;
  /** Takes pieces. */
  isReady: boolean;
  isLost: boolean;
  hasHelped: boolean;
}

/**
 * The rest of an event file in pieces, which threads record ahead while this one does its share, and which are shown in order:
 * what is shown, and every count, is that of one thread. A piece whose record does not fit what came before it (or cannot be
 * had) is run again here, at its turn.
 */
export class DividedRun {
  readonly #parts: DividedRunParts;
  readonly #pieces: number;
  readonly #records = new Map<number, Had>();
  #helpers: readonly Helper[] = [];
  #frontier: Frontier;
  /** The first piece that nobody has. */
  #next = 0;
  #counts: Readonly<RunCounts>;
  #again = 0;
  #isAlone = false;
  #hasBegun = false;
  readonly #news = new ThreadNews();

  constructor(parts: DividedRunParts) {
    const { start, size, pieceBytes, own } = parts;
    this.#parts = parts;
    this.#pieces = Math.max(1, Math.ceil((size - start.bytes) / pieceBytes));
    this.#frontier = { number: 0, lines: start.lines, time: start.time };
    this.#counts = own.run.counts;
  }

  /** To the end of the file. Gives the number of threads whose results were used, this one included. */
  async run(): Promise<number> {
    const { own, threads, totals } = this.#parts;
    totals.add(own.tallies.next(own.run.counters()));
    try {
      this.#helpers = Array.from({ length: threads }, (_, number) => this.#start(number + 1));
      while (this.#parts.awaitsThreads && this.#helpers.some(({ isReady, isLost }) => !isReady && !isLost)) await this.#awaitNews();
      while (this.#frontier.number < this.#pieces) await this.#step();
    } finally {
      own.run.counts = { ...this.#counts };
      await Promise.all(this.#helpers.map(({ thread }) => thread.close()));
    }
    return 1 + this.#helpers.filter(({ hasHelped }) => hasHelped).length;
  }

  #start(number: number): Helper {
    const given = new Set<number>();
    const thread = this.#parts.startThread(
      {
        ready: () => {
          helper.isReady = true;
          this.#news.tell();
        },
        record: (record) => this.#take(helper, record),
        lost: () => this.#lose(helper),
      },
      number,
    );
    const helper: Helper = { thread, given, isReady: false, isLost: false, hasHelped: false };
    return helper;
  }

  #take(helper: Helper, record: PieceRecord): void {
    helper.given.delete(record.number);
    this.#records.set(record.number, { record, helper });
    this.#news.tell();
  }

  #lose(helper: Helper): void {
    helper.isReady = false;
    helper.isLost = true;
    for (const number of helper.given) this.#records.set(number, { record: undefined });
    helper.given.clear();
    this.#news.tell();
  }

  async #step(): Promise<void> {
    this.#give();
    const { number } = this.#frontier;
    const had = this.#records.get(number);
    if (had !== undefined) await this.#settle(had);
    else if (this.#next === number) await this.#runNext();
    else if (this.#next < this.#end) await this.#recordNext();
    else await this.#awaitNews();
  }

  /** Behind the last piece that may be begun. */
  get #end(): number {
    return Math.min(this.#pieces, this.#frontier.number + AHEAD_PER_THREAD * (this.#helpers.length + 1));
  }

  /** Gives each thread that has not enough to do the next piece. */
  #give(): void {
    // The piece that is the next to be shown is run where it is shown.
    while (!this.#isAlone && this.#next > this.#frontier.number && this.#next < this.#end) {
      const [helper] = this.#helpers.filter(({ isReady, given }) => isReady && given.size < GIVEN_MAX).sort(byWork);
      if (helper === undefined) return;
      const piece = this.#piece(this.#next++);
      helper.given.add(piece.number);
      helper.thread.give(piece);
    }
  }

  #piece(number: number): Piece {
    return { number, from: this.#byteOf(number), to: this.#byteOf(number + 1), time: this.#frontier.time };
  }

  /** Where a piece begins. The last one ends where the file ends, however long that is by then. */
  #byteOf(number: number): number {
    const { start, pieceBytes } = this.#parts;
    return number >= this.#pieces ? Infinity : start.bytes + number * pieceBytes;
  }

  async #settle({ record, helper }: Had): Promise<void> {
    const { number, lines, time } = this.#frontier;
    this.#records.delete(number);
    if (record === undefined || record.isTooLarge || record.startTime !== time) {
      this.#again++;
      if (this.#again > AGAIN_MIN && this.#again > AGAIN_SHARE_MAX * (number + 1)) this.#isAlone = true;
      await this.#runHere(number, number + 1);
      return;
    }
    const { results, totals } = this.#parts;
    if (helper) helper.hasHelped = true;
    results.takeRecord(record, lines - LINES_BEFORE);
    totals.add(record.tally);
    this.#add(record.counts);
    await this.#moveTo({ number: number + 1, lines: lines + record.lines, time: record.endTime });
  }

  #add({ events, processed, outputs }: Readonly<RunCounts>): void {
    const counts = this.#counts;
    this.#counts = { events: counts.events + events, processed: counts.processed + processed, outputs: counts.outputs + outputs };
  }

  /** The next piece here; where nobody helps any more, all that are left. */
  #runNext(): Promise<void> {
    const isAlone = this.#isAlone || this.#helpers.every(({ isLost }) => isLost);
    const from = this.#next;
    this.#next = isAlone ? this.#pieces : from + 1;
    return this.#runHere(from, this.#next);
  }

  /** Pieces that are the next to be shown: shown as they are run. */
  async #runHere(from: number, to: number): Promise<void> {
    const { own, results, totals } = this.#parts;
    const begun = performance.now();
    const { run, lines, tallies } = own;
    tallies.next(run.counters());
    run.sink = results;
    run.counts = { events: 0, processed: 0, outputs: 0 };
    const { lines: before, time } = this.#frontier;
    lines.moveTo({ bytes: this.#byteOf(from), lines: before, time }, this.#byteOf(to));
    try {
      for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
        run.takeAll(piece.results, lines.entered);
        this.#give();
        await this.#parts.breathe(lines.progress.read);
      }
    } finally {
      this.#add(run.counts);
    }
    totals.add(tallies.next(run.counters()));
    this.#noteOwn(from, to, begun);
    await this.#moveTo({ number: to, lines: lines.position?.lines ?? before, time: lines.position?.time ?? time });
  }

  async #recordNext(): Promise<void> {
    const { own, runner, breathe } = this.#parts;
    const number = this.#next++;
    own.tallies.next(own.run.counters());
    const begun = performance.now();
    const steps = runner.record(this.#piece(number));
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        this.#records.set(number, { record: step.value });
        this.#noteOwn(number, number + 1, begun);
        return;
      }
      this.#give();
      await breathe(this.#byteOf(this.#frontier.number));
    }
  }

  #noteOwn(from: number, to: number, begun: number): void {
    const end = Math.min(this.#byteOf(to), this.#parts.size);
    this.#parts.choice.noteOwnPiece(end - this.#byteOf(from), performance.now() - begun);
  }

  async #moveTo(frontier: Frontier): Promise<void> {
    this.#frontier = frontier;
    const read = Math.min(this.#byteOf(frontier.number), this.#parts.size);
    this.#judge(read);
    await this.#parts.breathe(read);
  }

  /** Goes on alone when nothing is gained. */
  #judge(read: number): void {
    const { choice } = this.#parts;
    const now = performance.now();
    if (!this.#hasBegun && this.#helpers.every(({ hasHelped, isLost }) => hasHelped || isLost)) {
      this.#hasBegun = true;
      choice.begin(read, now);
    }
    if (this.#hasBegun && !choice.isWorthGoingOn(read, now)) this.#isAlone = true;
  }

  /** Waits until a thread has something to tell. */
  async #awaitNews(): Promise<void> {
    await this.#news.wait();
    await this.#parts.breathe(this.#byteOf(this.#frontier.number));
  }
}

function byWork(one: Helper, other: Helper): number {
  return one.given.size - other.given.size;
}
