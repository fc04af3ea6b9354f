import { invariant } from '../../../shared/errors/error.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { EventLines } from '../../event-files/event-lines.ts';
import { ProgramRun } from '../program-run.ts';
import { TallyDifference } from './engine-totals.ts';
import { LINES_BEFORE, type Piece, type PieceRecord, type ViewStyle } from './piece-record.ts';
import { PieceRecorder } from './piece-recorder.ts';
import { timeBefore } from './time-before.ts';

/** A run of a program and the event file that it reads, which can be moved. */
export interface MovableRun {
  readonly plan: Plan;
  readonly eventsPath: string;
  readonly run: ProgramRun;
  readonly lines: EventLines;
  /** What the counters of the run went up by since they were asked for last. */
  readonly tallies: TallyDifference;
}

export interface PieceRunnerOptions {
  readonly plan: Plan;
  readonly eventsPath: string;
  readonly strict: boolean;
  readonly style: ViewStyle;
}

/** Runs pieces of an event file, each on its own, and records what comes of them. */
export class PieceRunner {
  readonly #movable: MovableRun;
  readonly #recorder: PieceRecorder;
  readonly #schemas: EventSchemas;

  constructor(movable: MovableRun, style: ViewStyle) {
    this.#movable = movable;
    this.#recorder = new PieceRecorder(movable.plan, style);
    this.#schemas = new EventSchemas(movable.plan.events);
  }

  /** A runner with a run of its own. To be closed. @throws CepError when the program cannot begin or the file cannot be opened */
  static open({ plan, eventsPath, strict, style }: PieceRunnerOptions): PieceRunner {
    const run = new ProgramRun({ plan, strict, isWatched: false }, new PieceRecorder(plan, style));
    const schemas = new EventSchemas(plan.events);
    const lines = EventLines.open(eventsPath, { schemas, preload: false, canResume: false, canMove: true, short: run.fastPath });
    return new PieceRunner({ plan, eventsPath, run, lines, tallies: new TallyDifference() }, style);
  }

  /** The same, in one go. */
  recordAtOnce(piece: Piece): PieceRecord {
    const steps = this.record(piece);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Yields now and then, so that who shares the thread can do something else. @throws CepError when the file cannot be read */
  *record({ number, from, to, time }: Piece): Generator<void, PieceRecord, void> {
    const { eventsPath: path, run, lines, tallies } = this.#movable;
    const startTime = timeBefore({ path, format: lines.format, schemas: this.#schemas }, from) ?? time;
    run.sink = this.#recorder;
    run.counts = { events: 0, processed: 0, outputs: 0 };
    lines.moveTo({ bytes: from, lines: LINES_BEFORE, time: startTime }, to);
    for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
      run.takeAll(piece.results, lines.entered);
      yield;
    }
    const end = lines.position;
    invariant(end !== undefined, 'a file that is read in pieces is not known by its format');
    const tally = tallies.next(run.counters());
    return { number, lines: end.lines - LINES_BEFORE, startTime, endTime: end.time, counts: run.counts, tally, ...this.#recorder.take() };
  }

  close(): void {
    this.#movable.lines.close();
  }
}
