import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../worker/engine/compile/compiled-backend.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../worker/engine/engine.ts';
import { fuse } from '../../worker/engine/fusion/fuse.ts';
import { Answers } from '../../worker/runtime/answers.ts';
import { loadModels, type Models } from '../../worker/runtime/inference/onnx.ts';
import { counted } from '../counts.ts';
import type { OpenCheckpoint } from './checkpoint.ts';
import type { Checkpoints } from './checkpoints.ts';
import { Deliveries } from './deliveries.ts';
import { EventLines, type EventLinesOptions, type EventPosition } from './event-lines.ts';
import { EventProblems } from './event-problems.ts';
import type { ShortWay } from './event-reading.ts';
import { Pace } from './pace.ts';
import type { SimulationTotals } from './summary.ts';
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
  readonly #schemas: EventSchemas;
  readonly #lines: EventLines;
  readonly #engine: Engine;
  readonly #problems: EventProblems;
  readonly #deliveries: Deliveries;
  readonly #pace: Pace | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #answers: Answers;
  readonly #started = performance.now();
  #elapsedBefore = 0;
  /** Of the events, those that went the short way. */
  #entered = 0;
  #events = 0;
  #processed = 0;
  #outputs = 0;

  /** Runs to the end of the file. An aborted signal ends it with the signal's reason. @throws CepError */
  static async run(options: SimulationOptions, view: SimulationView, signal?: AbortSignal): Promise<SimulationOutcome> {
    const models = await loadModels(options.plan);
    const simulation = new Simulation(options, view, signal, models);
    try {
      return await simulation.#run();
    } finally {
      simulation.#lines.close();
      await models?.close();
      view.flush();
    }
  }

  private constructor(options: SimulationOptions, view: SimulationView, signal: AbortSignal | undefined, models: Models | undefined) {
    this.#options = options;
    this.#view = view;
    this.#signal = signal;
    this.#schemas = new EventSchemas(options.plan.events);
    this.#checkpoints = options.checkpoints;
    this.#answers = new Answers({
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => this.#engine.answer(answer),
    });
    this.#engine = createEngine(options.plan, this.#host(), { strictEvents: options.strict, backend: compiledBackend, fuse });
    const { lines, saved } = this.#open();
    this.#lines = lines;
    this.#problems = new EventProblems(options.eventsPath, (text) => view.note(text), saved?.totals.problems);
    this.#deliveries = new Deliveries(options.plan, view, saved?.totals.undelivered);
    this.#pace = options.timed ? new Pace(signal) : undefined;
    if (saved) this.#resume(saved);
  }

  /** The event file, from behind the checkpoint if there is one of this program and these events. */
  #open(): { readonly lines: EventLines; readonly saved?: OpenCheckpoint } {
    const { eventsPath: path, preload } = this.#options;
    const canResume = this.#checkpoints !== undefined;
    const linesOptions: EventLinesOptions = { schemas: this.#schemas, preload, canResume, short: this.#shortWay() };
    const saved = this.#checkpoints?.load();
    const resumed = saved && EventLines.resume(path, saved.events, linesOptions);
    if (resumed) return { lines: resumed, saved };
    if (saved) this.#view.note(`the checkpoint is of other events than those of '${path}': beginning anew`);
    return { lines: EventLines.open(path, linesOptions) };
  }

  /** Where nobody needs to see each event, those that are as foretold need not be made. */
  #shortWay(): ShortWay | undefined {
    const { entries } = this.#engine;
    const isWatched = this.#view.event !== undefined || this.#view.tracer !== undefined || this.#options.timed;
    return isWatched || entries.entries.length === 0 ? undefined : { entries, take: (result) => this.#take(result) };
  }

  #host(): EngineHost {
    const view = this.#view;
    const host: EngineHost = {
      ...this.#answers.host,
      output: (event: OutputEvent) => {
        this.#outputs++;
        view.output(event);
      },
      deliver: (delivery) => this.#deliveries.take(delivery),
      deadLetter: (letter) => this.#deliveries.takeDeadLetter(letter),
      log: (entry) => view.log(entry),
    };
    return view.tracer ? { ...host, trace: view.tracer } : host;
  }

  async #run(): Promise<SimulationOutcome> {
    for (;;) {
      const piece = this.#lines.next({ stopAtEvent: this.#checkpoints?.needsPosition ?? false });
      if (!piece) break;
      this.#countEntered();
      await this.#takeAll(piece.results);
      await this.#answers.settled();
      if (piece.position && this.#checkpoints?.isDue) await this.#saveCheckpoint(this.#checkpoints, piece.position);
      await this.#pause();
    }
    await this.#finish();
    return { unreadable: this.#problems.unreadable };
  }

  /** Events that went the short way are valid and complete. */
  #countEntered(): void {
    const more = this.#lines.entered - this.#entered;
    this.#entered += more;
    this.#events += more;
    this.#processed += more;
  }

  async #takeAll(results: readonly ReadResult[]): Promise<void> {
    for (const result of results) {
      if (this.#pace && result.kind === 'event') await this.#waitFor(result, this.#pace);
      this.#take(result);
    }
  }

  async #waitFor({ event }: ReadEvent, pace: Pace): Promise<void> {
    if (!pace.mustWait(event.fallbackTime)) return;
    this.#view.flush();
    await pace.wait(event.fallbackTime);
  }

  #take(result: ReadResult): void {
    if (result.kind === 'event') this.#push(result);
    else if (result.kind === 'invalid') this.#problems.addInvalid(result);
    else this.#problems.addUnreadable(result.diagnostic);
  }

  #push({ event, line }: ReadEvent): void {
    this.#events++;
    this.#view.event?.(event, this.#events, this.#timeOf(event));
    const admission = this.#engine.push(event);
    if (admission.status === 'invalid') {
      this.#problems.addInvalid({ line, type: event.type, field: admission.field, message: admission.message });
      return;
    }
    this.#processed++;
    if (admission.incomplete.length > 0) this.#problems.addIncomplete(event.type, admission.incomplete, line);
  }

  #timeOf({ type, fields, timestamp, fallbackTime }: InputEvent): number {
    return timestamp ?? this.#schemas.ownTime(type, fields) ?? fallbackTime;
  }

  /** Lets the process breathe: signals, a reader that went away, the progress bar. */
  async #pause(): Promise<void> {
    const { read, size } = this.#lines.progress;
    this.#view.progress(read, size);
    await this.#view.ready();
    await nextTurn();
    this.#signal?.throwIfAborted();
  }

  async #finish(): Promise<void> {
    if (this.#options.flush) {
      this.#view.end?.();
      this.#engine.end();
      await this.#answers.settled();
    }
    this.#view.summary(this.#totals(), [
      ...this.#problems.summary(),
      ...this.#deliveries.summary(),
      ...streamNotes(this.#engine.counters()),
    ]);
    await this.#view.written();
    this.#checkpoints?.finish(this.#savedTotals());
  }

  #totals(): SimulationTotals {
    return {
      durationMs: this.#elapsedMs(),
      eventsProcessed: this.#processed,
      eventsInvalid: this.#problems.invalid,
      eventsIncomplete: this.#problems.incomplete,
      workersUsed: 1,
      alerts: this.#outputs,
    };
  }

  #elapsedMs(): number {
    return this.#elapsedBefore + performance.now() - this.#started;
  }

  /** What was shown must have left the process before: behind the checkpoint nobody shows it again. */
  async #saveCheckpoint(checkpoints: Checkpoints, events: EventPosition): Promise<void> {
    await this.#view.written();
    checkpoints.save(events, this.#savedTotals(), this.#engine.snapshot());
  }

  #savedTotals(): SavedTotals {
    return {
      elapsedMs: this.#elapsedMs(),
      events: this.#events,
      eventsProcessed: this.#processed,
      outputs: this.#outputs,
      problems: this.#problems.save(),
      undelivered: this.#deliveries.save(),
    };
  }

  #resume({ totals, engine }: OpenCheckpoint): void {
    this.#elapsedBefore = totals.elapsedMs;
    this.#events = totals.events;
    this.#processed = totals.eventsProcessed;
    this.#outputs = totals.outputs;
    this.#engine.restore(engine);
    this.#view.note(`resumed behind ${counted(totals.events, 'event')} and ${counted(totals.outputs, 'output')}`);
  }
}
