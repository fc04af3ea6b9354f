import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { invariant } from '../../shared/errors/error.ts';
import type { ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { readTypesOf, unreadTypes } from '../../worker/engine/streams/unread-types.ts';
import { Answers } from '../../worker/runtime/answers.ts';
import { loadModels, type Models } from '../../worker/runtime/inference/onnx.ts';
import { unknownMembers } from '../../worker/runtime/programs/event-notes.ts';
import { counted } from '../counts.ts';
import { EventLines, type EventLinesOptions, type EventPosition, type FilesBefore, type LinePlace } from '../event-files/event-lines.ts';
import { type EventSourceOptions, isReadTwice, isSeekable, requireFiles, STANDARD_INPUT, sourceName } from '../event-files/event-source.ts';
import { ExplainedRun } from '../explaining/explained-run.ts';
import type { InputNotes } from '../explaining/input-notes.ts';
import { emittingStreams, type StreamMiss, streamMisses, toldStreams } from '../explaining/missing-alerts.ts';
import type { OpenCheckpoint } from './checkpoint.ts';
import type { Checkpoints } from './checkpoints.ts';
import { Pace } from './pace.ts';
import { PieceSize } from './piece-size.ts';
import { ProgramRun } from './program-run.ts';
import { RunResults } from './run-results.ts';
import type { SimulationReport } from './summary.ts';
import { Division, type ThreadSettings } from './threads/division.ts';
import { EngineTotals, TallyDifference } from './threads/engine-totals.ts';
import { KeyedDivision, whyNotByKey } from './threads/keys/keyed-division.ts';
import type { KeyedRun } from './threads/keys/keyed-run.ts';
import { whyNotByLines } from './threads/line-division.ts';
import { type RuleCount, type SavedTotals, streamNotes } from './totals.ts';
import { untimedEvents } from './untimed-events.ts';
import type { SimulationView } from './view.ts';

/** Of the events of a file without alerts, as many run again to say why: about a second. */
const EXPLAINED_EVENTS_MAX = 100_000;

/** What is simulated and how; nothing of how it is shown. */
export interface SimulationOptions {
  readonly plan: Plan;
  /** Files of events, in order: one input. */
  readonly eventsPaths: readonly string[];
  /** How they are to be read, where their names do not say it. */
  readonly source?: Omit<EventSourceOptions, 'schemas'>;
  /** Reads the whole event file before the first event. */
  readonly preload: boolean;
  /** Field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
  /** Says what came closest where no alert came. It costs a second look at the events. */
  readonly explains?: boolean;
  /** Says how many alerts each stream gave. */
  readonly tellsOfRules?: boolean;
  /** Waits between events as long as the file says. */
  readonly timed: boolean;
  /** Incomplete events are invalid. */
  readonly strict: boolean;
  /** Ends the input behind the last event, so that what is still open completes. */
  readonly flush: boolean;
  readonly checkpoints?: Checkpoints | undefined;
  /** What may be used besides this thread. @default nothing */
  readonly threads?: ThreadSettings | undefined;
  /** Aborted, it ends the run where it is: what came so far is summed up. */
  readonly interrupt?: AbortSignal | undefined;
}

/** How a simulation went, besides what was shown. */
export interface SimulationOutcome {
  readonly unreadable: number;
  readonly isInterrupted: boolean;
}

/** One run of a program over an event file. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #view: SimulationView;
  readonly #signal: AbortSignal | undefined;
  readonly #schemas: EventSchemas;
  readonly #isWatched: boolean;
  readonly #run: ProgramRun;
  readonly #size: number | undefined;
  #lines: EventLines | undefined;
  #results: RunResults;
  /** The file that is read, by its place among them. */
  #file = 0;
  /** Bytes of the files before it. */
  #bytesBefore = 0;
  /** Where in the files the state of the engine stands, where that is known: behind a line, all of whose results were taken. */
  #position: EventPosition | undefined;
  #isInterrupted = false;
  readonly #pace: Pace | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  #division: Division | undefined;
  #keyedDivision: KeyedDivision | undefined;
  /** What takes all events from the beginning, in place of what began. */
  #keyed: KeyedRun | undefined;
  readonly #tallies = new TallyDifference();
  readonly #pieceSize = new PieceSize();
  #totals: EngineTotals;
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
      simulation.#lines?.close();
      simulation.#keyed?.close();
      await models?.close();
      view.flush();
    }
  }

  private constructor(options: SimulationOptions, view: SimulationView, signal: AbortSignal | undefined, models: Models | undefined) {
    const { plan, eventsPaths, strict, timed, interrupt } = options;
    this.#options = options;
    this.#view = view;
    this.#signal = signal;
    this.#schemas = new EventSchemas(plan.events);
    this.#size = sizeOf(eventsPaths);
    this.#checkpoints = options.checkpoints;
    this.#totals = new EngineTotals(plan.streams.map(({ name }) => name));
    this.#answers = new Answers({
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => this.#run.engine.answer(answer),
    });
    const host = { ...this.#answers.host, ...(view.tracer && { trace: view.tracer }) };
    this.#isWatched = view.event !== undefined || view.tracer !== undefined || timed;
    this.#results = new RunResults(plan, '', view);
    this.#run = new ProgramRun({ plan, strict, isWatched: this.#isWatched, host }, this.#results);
    this.#pace = timed ? new Pace(AbortSignal.any([signal, interrupt].filter((one) => one !== undefined))) : undefined;
  }

  async #runAll(): Promise<SimulationOutcome> {
    const saved = this.#checkpoints?.load();
    this.#view.begin?.();
    try {
      await this.#begin(saved);
      for (;;) {
        await this.#runFile(this.#opened);
        if (this.#isInterrupted || !(await this.#openNext())) break;
      }
    } catch (error) {
      if (this.#options.interrupt?.aborted !== true) throw error;
      this.#isInterrupted = true;
    }
    await this.#finish();
    return { unreadable: this.#results.problems.unreadable, isInterrupted: this.#isInterrupted };
  }

  get #opened(): EventLines {
    invariant(this.#lines !== undefined, 'no event file is open');
    return this.#lines;
  }

  get #path(): string {
    return this.#options.eventsPaths[this.#file] ?? '';
  }

  /** Opens the first file, or the one in which the checkpoint stands, if there is one of these events. */
  async #begin(saved: OpenCheckpoint | undefined): Promise<void> {
    const { plan, eventsPaths } = this.#options;
    requireFiles(eventsPaths);
    const resumed = saved && EventLines.resume(eventsPaths, saved.events, this.#linesOptions(undefined));
    if (saved && !resumed) {
      const names = eventsPaths.map((path) => `'${path}'`).join(', ');
      this.#view.note(`the checkpoint is of other events than those of ${names}: beginning anew`);
    }
    this.#results = new RunResults(plan, sourceName(this.#path), this.#view, resumed && saved?.totals);
    this.#run.sink = this.#results;
    if (resumed && saved) {
      this.#file = saved.events.file;
      this.#bytesBefore = sizeOf(eventsPaths.slice(0, this.#file)) ?? 0;
      this.#lines = resumed;
      this.#results.problems.file = sourceName(this.#path);
      this.#resume(saved);
    } else await this.#open(undefined);
  }

  /** False behind the last file. */
  async #openNext(): Promise<boolean> {
    const { before, progress } = this.#opened;
    if (before.files >= this.#options.eventsPaths.length) return false;
    this.#opened.close();
    this.#lines = undefined;
    this.#bytesBefore += progress.size ?? 0;
    this.#file = before.files;
    await this.#open(before);
    return true;
  }

  async #open(before: FilesBefore | undefined): Promise<void> {
    this.#results.problems.file = sourceName(this.#path);
    this.#planDivision();
    this.#run.beginFile();
    this.#lines = await this.#unlessInterrupted(EventLines.of(this.#path, this.#linesOptions(before)));
  }

  /** Threads cannot show what a view keeps to itself, nor say where a checkpoint would stand. */
  #planDivision(): void {
    const { plan, strict, flush, timeField, threads: settings, source } = this.#options;
    this.#division = this.#keyedDivision = undefined;
    const isPossible =
      !this.#isWatched &&
      timeField === undefined &&
      this.#checkpoints === undefined &&
      this.#view.lines !== undefined &&
      source?.format === undefined &&
      // A line without a time has that of the line before, which may stand in the file before.
      this.#options.eventsPaths.length === 1 &&
      isSeekable(this.#path, undefined);
    if (settings === undefined || !isPossible) return;
    const options = { plan, eventsPath: this.#path, strict, settings };
    this.#division = Division.of(options);
    this.#keyedDivision = this.#division === undefined ? KeyedDivision.of({ ...options, flush }) : undefined;
  }

  #linesOptions(before: FilesBefore | undefined): EventLinesOptions {
    const { timeField, preload, source } = this.#options;
    const canMove = this.#division !== undefined;
    return {
      ...source,
      schemas: this.#schemas,
      timeField,
      preload: preload && !canMove,
      canResume: this.#checkpoints !== undefined,
      canMove,
      short: this.#run.fastPath,
      before,
    };
  }

  async #runFile(lines: EventLines): Promise<void> {
    for (;;) {
      const isDivided = this.#division?.isDue(lines.progress.read) ?? false;
      const { place } = lines;
      if (this.#keyedDivision?.isDue(lines.progress.read, this.#run.counts.outputs) === true)
        return await this.#divideKeys(this.#keyedDivision);
      if (isDivided && place) return await this.#divide(place);
      if (lines.progress.size === undefined) this.#view.flush(); // More may come late, or never.
      await this.#unlessInterrupted(lines.ready());
      const isStopping = this.#options.interrupt?.aborted === true;
      const needsPosition = this.#checkpoints !== undefined && (this.#checkpoints.needsPosition || isStopping);
      const { entered } = lines;
      const begun = performance.now();
      const piece = lines.next({ stopAtEvent: isDivided || needsPosition, most: this.#pieceSize.bytes });
      if (lines.entered > entered) this.#position = undefined;
      if (!piece) return;
      this.#run.countEntered(lines.entered);
      await this.#takeAll(piece.results);
      if (piece.position === undefined && this.#pace === undefined) this.#pieceSize.took(performance.now() - begun);
      await this.#answers.settled();
      this.#position = piece.position ?? this.#position;
      if (piece.position && this.#checkpoints?.isDue) await this.#saveCheckpoint(this.#checkpoints, piece.position);
      await this.#pause(lines.progress.read);
    }
  }

  /** Rejects as soon as the run is interrupted, however long the other takes. */
  #unlessInterrupted<T>(action: Promise<T>): Promise<T> {
    const signals = [this.#signal, this.#options.interrupt].filter((signal) => signal !== undefined);
    if (signals.length === 0 || isSeekable(this.#path, this.#options.source?.format)) return action;
    return Promise.race([action, rejectionOf(AbortSignal.any(signals))]);
  }

  async #divide(start: LinePlace): Promise<void> {
    const { plan } = this.#options;
    const own = { plan, eventsPath: this.#path, run: this.#run, lines: this.#opened, tallies: this.#tallies };
    const parts = { own, results: this.#results, totals: this.#totals, start, breathe: (read: number) => this.#pause(read) };
    this.#workersUsed = Math.max(this.#workersUsed, (await this.#division?.run(parts)) ?? 1);
    this.#run.sink = this.#results;
  }

  /** All that came so far has been shown. */
  async #divideKeys(division: KeyedDivision): Promise<void> {
    const parts = { results: this.#results, breathe: (read: number) => this.#pause(read) };
    const keyed = division.begin(parts, this.#run.seen);
    this.#keyed = keyed;
    this.#workersUsed = Math.max(this.#workersUsed, await keyed.toEnd());
  }

  async #takeAll(results: readonly ReadResult[]): Promise<void> {
    for (const result of results) {
      if (this.#pace && result.kind === 'event') await this.#waitFor(result, this.#pace);
      this.#position = undefined;
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
    this.#view.progress(this.#bytesBefore + read, this.#size);
    await this.#view.ready();
    await nextTurn();
    this.#signal?.throwIfAborted();
    // Up to the end of a line, where a checkpoint can stand.
    const goesOn = this.#checkpoints !== undefined && this.#position === undefined;
    if (!goesOn) this.#options.interrupt?.throwIfAborted();
  }

  async #finish(): Promise<void> {
    const counted = this.#keyed?.counted;
    if (counted === undefined) await this.#end();
    else {
      this.#run.counts = counted.counts;
      this.#totals = counted.totals;
    }
    this.#view.summary(await this.#report());
    await this.#view.written();
    if (!this.#isInterrupted) this.#checkpoints?.finish(this.#savedTotals());
    else if (this.#checkpoints !== undefined && this.#position !== undefined) await this.#saveCheckpoint(this.#checkpoints, this.#position);
  }

  async #end(): Promise<void> {
    if (this.#options.flush && !this.#isInterrupted) {
      this.#view.end?.();
      this.#run.engine.end();
      await this.#answers.settled();
    }
    this.#totals.add(this.#tallies.next(this.#run.counters()));
  }

  async #report(): Promise<SimulationReport> {
    const { problems, deliveries } = this.#results;
    const emitting = emittingStreams(this.#options.plan);
    return {
      durationMs: this.#elapsedMs(),
      eventsProcessed: this.#run.counts.processed,
      eventsInvalid: problems.invalid,
      eventsIncomplete: problems.incomplete,
      workersUsed: this.#workersUsed,
      linesUnreadable: problems.unreadable,
      alerts: this.#run.counts.outputs,
      isInterrupted: this.#isInterrupted,
      whyOneWorker: this.#whyOneWorker(),
      input: await this.#inputNotes(),
      canAlert: emitting.length > 0,
      misses: await this.#misses(emitting),
      rules: this.#rules(emitting),
      tellsOfRules: this.#options.tellsOfRules ?? false,
      notes: [...problems.summary(), ...deliveries.summary(), ...streamNotes(this.#totals)],
    };
  }

  #rules(emitting: readonly string[]): readonly RuleCount[] {
    const { streams } = this.#totals;
    return emitting.map((stream) => ({ stream, alerts: streams.get(stream)?.eventsOut ?? 0 }));
  }

  #whyOneWorker(): string | undefined {
    const { plan, eventsPaths, timeField, source, threads } = this.#options;
    if (threads?.isAsked !== true || threads.workers < 2 || this.#workersUsed > 1) return undefined;
    const asked = this.#isWatched ? '--timed, --verbose and --trace' : this.#checkpoints ? '--checkpoint-dir' : timeField && '--time-field';
    if (asked) return `${asked} ${asked.includes(' and ') ? 'go' : 'goes'} event by event`;
    const { why: reason } = whyNotByLines(plan) === null ? {} : whyNotByKey(plan, threads);
    if (reason !== undefined) return `${reason}; one thread takes all events in order`;
    const streamed = eventsPaths.find((path) => source?.format !== undefined || !isSeekable(path, undefined));
    if (streamed !== undefined) return `${sourceName(streamed)} can only be read from its beginning to its end`;
    if (eventsPaths.length > 1) return 'of several files each goes on at the time of the one before';
    return 'more threads would not be faster for these events';
  }

  async #inputNotes(): Promise<InputNotes> {
    const { plan, eventsPaths: paths, timeField, source } = this.#options;
    const { late, unread, unreadTypes: byType, untimed, time } = this.#totals;
    const events = this.#run.counts.processed;
    const reading = { ...source, schemas: this.#schemas, timeField };
    return {
      late,
      watermark: time,
      unread,
      unreadTypes: unreadTypes(byType, readTypesOf(plan)),
      unknownMembers: unknownMembers(this.#results.problems.unknownMembers),
      untimed: await untimedEvents({ paths, reading, events, untimed, time }),
    };
  }

  /** Where no alert came, the beginning of the events runs once more, in an engine that can say why. */
  async #misses(streams: readonly string[]): Promise<readonly StreamMiss[]> {
    const { plan, eventsPaths, strict, timeField, source, explains = false } = this.#options;
    const isAsked = explains && !this.#isInterrupted && this.#run.counts.outputs === 0 && streams.length > 0;
    if (!isAsked || !eventsPaths.every(isReadTwice)) return [];
    const { engine } = await ExplainedRun.of({ plan, eventsPaths, source, timeField, strict, eventsMax: EXPLAINED_EVENTS_MAX });
    const counts = engine.counters().streams;
    const told = toldStreams(streams, (stream) => (counts.get(stream)?.eventsIn ?? 0) > 0);
    const asTheyCame = told.map((stream) => engine.explain(stream));
    if (!this.#options.flush || asTheyCame.every(({ heldBack }) => heldBack === null)) return streamMisses(asTheyCame);
    // With the input ended what waited for time to come to it has been seen.
    engine.end();
    return streamMisses(asTheyCame.map((one) => (one.heldBack === null ? one : engine.explain(one.stream))));
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
      alerts: [...this.#run.alerts],
      problems: this.#results.problems.save(),
      undelivered: this.#results.deliveries.save(),
    };
  }

  #resume({ totals, engine }: OpenCheckpoint): void {
    this.#elapsedBefore = totals.elapsedMs;
    this.#run.counts = { events: totals.events, processed: totals.eventsProcessed, outputs: totals.outputs };
    for (const [stream, alerts] of totals.alerts ?? []) if (this.#run.alerts.has(stream)) this.#run.alerts.set(stream, alerts);
    this.#run.engine.restore(engine);
    this.#view.note(`resumed behind ${counted(totals.events, 'event')} and ${counted(totals.outputs, 'output')}`);
  }
}

/** Bytes of files; undefined when one of them is none. */
function sizeOf(paths: readonly string[]): number | undefined {
  const stats = paths.map((path) => (path === STANDARD_INPUT ? undefined : statSync(path, { throwIfNoEntry: false })));
  return stats.every((stat) => stat?.isFile()) ? stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0) : undefined;
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
