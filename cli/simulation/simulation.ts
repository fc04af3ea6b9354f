import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { Answers } from '../../worker/runtime/answers.ts';
import { loadModels, type Models } from '../../worker/runtime/inference/onnx.ts';
import { counted } from '../counts.ts';
import type { OpenCheckpoint } from './checkpoint.ts';
import type { Checkpoints } from './checkpoints.ts';
import { EventLines, type EventLinesOptions, type EventPosition, type LinePlace } from './event-lines.ts';
import { Pace } from './pace.ts';
import { ProgramRun } from './program-run.ts';
import { RunResults } from './run-results.ts';
import type { SimulationTotals } from './summary.ts';
import { Division, type ThreadSettings } from './threads/division.ts';
import { StreamTotals, TallyDifference } from './threads/stream-totals.ts';
import { type SavedTotals, streamNotes } from './totals.ts';
import type { SimulationView } from './view.ts';

/** What is simulated and how; nothing of how it is shown. */
export interface SimulationOptions {
  readonly plan: Plan;
  readonly eventsPath: string;
  /** Reads the whole event file before the first event. */
  readonly preload: boolean;
  /** Waits between events as long as the file says. */
  readonly timed: boolean;
  /** Incomplete events are invalid. */
  readonly strict: boolean;
  /** Ends the input behind the last event, so that what is still open completes. */
  readonly flush: boolean;
  readonly checkpoints?: Checkpoints | undefined;
  /** What may be used besides this thread. @default nothing */
  readonly threads?: ThreadSettings | undefined;
}

/** How a simulation went, besides what was shown. */
export interface SimulationOutcome {
  readonly unreadable: number;
}

/** One run of a program over an event file. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #view: SimulationView;
  readonly #signal: AbortSignal | undefined;
  readonly #lines: EventLines;
  readonly #run: ProgramRun;
  readonly #results: RunResults;
  readonly #pace: Pace | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #division: Division | undefined;
  readonly #tallies = new TallyDifference();
  readonly #streams: StreamTotals;
  readonly #answers: Answers;
  readonly #started = performance.now();
  #elapsedBefore = 0;
  #workersUsed = 1;

  /** Runs to the end of the file. An aborted signal ends it with the signal's reason. @throws CepError */
  static async run(options: SimulationOptions, view: SimulationView, signal?: AbortSignal): Promise<SimulationOutcome> {
    const models = await loadModels(options.plan);
    const simulation = new Simulation(options, view, signal, models);
    try {
      return await simulation.#runAll();
    } finally {
      simulation.#lines.close();
      await models?.close();
      view.flush();
    }
  }

  private constructor(options: SimulationOptions, view: SimulationView, signal: AbortSignal | undefined, models: Models | undefined) {
    const { plan, eventsPath, strict, timed } = options;
    this.#options = options;
    this.#view = view;
    this.#signal = signal;
    this.#checkpoints = options.checkpoints;
    this.#streams = new StreamTotals(plan.streams.map(({ name }) => name));
    const saved = this.#checkpoints?.load();
    this.#answers = new Answers({
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => this.#run.engine.answer(answer),
    });
    const host = { ...this.#answers.host, ...(view.tracer && { trace: view.tracer }) };
    const isWatched = view.event !== undefined || view.tracer !== undefined || timed;
    this.#run = new ProgramRun({ plan, strict, isWatched, host }, new RunResults(plan, eventsPath, view));
    this.#division = isWatched ? undefined : this.#planDivision();
    view.begin?.();
    const { lines, resumed } = this.#open(saved);
    this.#lines = lines;
    this.#results = new RunResults(plan, eventsPath, view, resumed?.totals);
    this.#run.sink = this.#results;
    this.#pace = timed ? new Pace(signal) : undefined;
    if (resumed) this.#resume(resumed);
  }

  /** Threads cannot show what a view keeps to itself, nor say where a checkpoint would stand. */
  #planDivision(): Division | undefined {
    const { plan, eventsPath, strict, threads: settings } = this.#options;
    const isPossible = settings !== undefined && this.#checkpoints === undefined && this.#view.lines !== undefined;
    return isPossible ? Division.of({ plan, eventsPath, strict, settings }) : undefined;
  }

  /** The event file, from behind the checkpoint if there is one of these events. */
  #open(saved: OpenCheckpoint | undefined): { readonly lines: EventLines; readonly resumed?: OpenCheckpoint } {
    const { plan, eventsPath: path } = this.#options;
    const canMove = this.#division !== undefined;
    const options: EventLinesOptions = {
      schemas: new EventSchemas(plan.events),
      preload: this.#options.preload && !canMove,
      canResume: this.#checkpoints !== undefined,
      canMove,
      short: this.#run.shortWay,
    };
    const lines = saved && EventLines.resume(path, saved.events, options);
    if (lines) return { lines, resumed: saved };
    if (saved) this.#view.note(`the checkpoint is of other events than those of '${path}': beginning anew`);
    return { lines: EventLines.open(path, options) };
  }

  async #runAll(): Promise<SimulationOutcome> {
    for (;;) {
      const isDivided = this.#division?.isDue(this.#lines.progress.read) ?? false;
      const { place } = this.#lines;
      if (isDivided && place) {
        await this.#divide(place);
        break;
      }
      const piece = this.#lines.next({ stopAtEvent: isDivided || (this.#checkpoints?.needsPosition ?? false) });
      if (!piece) break;
      this.#run.countEntered(this.#lines.entered);
      await this.#takeAll(piece.results);
      await this.#answers.settled();
      if (piece.position && this.#checkpoints?.isDue) await this.#saveCheckpoint(this.#checkpoints, piece.position);
      await this.#pause(this.#lines.progress.read);
    }
    await this.#finish();
    return { unreadable: this.#results.problems.unreadable };
  }

  async #divide(start: LinePlace): Promise<void> {
    const { plan, eventsPath } = this.#options;
    const own = { plan, eventsPath, run: this.#run, lines: this.#lines, tallies: this.#tallies };
    const parts = { own, results: this.#results, totals: this.#streams, start, breathe: (read: number) => this.#pause(read) };
    this.#workersUsed = (await this.#division?.run(parts)) ?? 1;
    this.#run.sink = this.#results;
  }

  async #takeAll(results: readonly ReadResult[]): Promise<void> {
    for (const result of results) {
      if (this.#pace && result.kind === 'event') await this.#waitFor(result, this.#pace);
      this.#run.take(result);
    }
  }

  async #waitFor({ event }: ReadEvent, pace: Pace): Promise<void> {
    if (!pace.mustWait(event.fallbackTime)) return;
    this.#view.flush();
    await pace.wait(event.fallbackTime);
  }

  /** Lets the process breathe: signals, a reader that went away, the progress bar. */
  async #pause(read: number): Promise<void> {
    this.#view.progress(read, this.#lines.progress.size);
    await this.#view.ready();
    await nextTurn();
    this.#signal?.throwIfAborted();
  }

  async #finish(): Promise<void> {
    if (this.#options.flush) {
      this.#view.end?.();
      this.#run.engine.end();
      await this.#answers.settled();
    }
    this.#streams.add(this.#tallies.next(this.#run.engine.counters()));
    const { problems, deliveries } = this.#results;
    this.#view.summary(this.#totals(), [...problems.summary(), ...deliveries.summary(), ...streamNotes(this.#streams)]);
    await this.#view.written();
    this.#checkpoints?.finish(this.#savedTotals());
  }

  #totals(): SimulationTotals {
    const { problems } = this.#results;
    return {
      durationMs: this.#elapsedMs(),
      eventsProcessed: this.#run.counts.processed,
      eventsInvalid: problems.invalid,
      eventsIncomplete: problems.incomplete,
      workersUsed: this.#workersUsed,
      alerts: this.#run.counts.outputs,
    };
  }

  #elapsedMs(): number {
    return this.#elapsedBefore + performance.now() - this.#started;
  }

  /** What was shown must have left the process before: behind the checkpoint nobody shows it again. */
  async #saveCheckpoint(checkpoints: Checkpoints, events: EventPosition): Promise<void> {
    await this.#view.written();
    checkpoints.save(events, this.#savedTotals(), this.#run.engine.snapshot());
  }

  #savedTotals(): SavedTotals {
    return {
      elapsedMs: this.#elapsedMs(),
      events: this.#run.counts.events,
      eventsProcessed: this.#run.counts.processed,
      outputs: this.#run.counts.outputs,
      problems: this.#results.problems.save(),
      undelivered: this.#results.deliveries.save(),
    };
  }

  #resume({ totals, engine }: OpenCheckpoint): void {
    this.#elapsedBefore = totals.elapsedMs;
    this.#run.counts = { events: totals.events, processed: totals.eventsProcessed, outputs: totals.outputs };
    this.#run.engine.restore(engine);
    this.#view.note(`resumed behind ${counted(totals.events, 'event')} and ${counted(totals.outputs, 'output')}`);
  }
}
