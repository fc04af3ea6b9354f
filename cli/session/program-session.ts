import { CepError } from '../../shared/errors/error.ts';
import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { type Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type {
  Admission,
  Delivery,
  Engine,
  EngineCounters,
  EngineHost,
  LogEntry,
  RestoreReport,
  Tracer,
} from '../../worker/engine/engine.ts';
import { reload } from '../../worker/engine/reload.ts';
import { Answers } from '../../worker/runtime/answers.ts';
import { ArrivalClock } from '../../worker/runtime/arrival-clock.ts';
import { loadModels, type Models } from '../../worker/runtime/inference/onnx.ts';
import { type CheckedProgram, checkProgram, checkSource } from '../program/checked-program.ts';
import { ProgramError } from './program-error.ts';

/** Takes what a program says, in order. */
export interface SessionSink {
  /** Each event, before anything comes of it, with the time it has when it states none. */
  input?(event: Omit<InputEvent, 'fallbackTime'>, fallbackTime: number): void;
  output(event: OutputEvent): void;
  /** `.to` and `.alert`: a session connects to nothing. */
  deliver(delivery: Delivery): void;
  log(entry: LogEntry): void;
  readonly tracer: Tracer;
}

/** What a new program has kept of the one before, by stream. */
export interface LoadReport extends RestoreReport {
  /** All of them, in order of declaration. */
  readonly streams: readonly string[];
  readonly warnings: readonly Diagnostic[];
}

export interface Pushed {
  readonly admission: Admission;
  /** How many output events it caused. */
  readonly outputs: number;
}

const EMPTY = new SourceText('program.vpl', '');

/**
 * A program that changes while it runs, for whoever sits before it: events come in by hand, from files or made up, and each
 * new text takes over the state that still fits. Events that state no time have the time at which they come.
 */
export class ProgramSession {
  readonly #sink: SessionSink;
  readonly #clock: ArrivalClock;
  #source = EMPTY;
  #loaded: { readonly plan: Plan; readonly models: Models | undefined };
  #engine: Engine;
  #isTraced: boolean;
  #outputs = 0;
  #schemas = new EventSchemas([]);
  readonly #answers: Answers;

  constructor(
    sink: SessionSink,
    { clock = new ArrivalClock(), isTraced = false }: { readonly clock?: ArrivalClock; readonly isTraced?: boolean } = {},
  ) {
    this.#sink = sink;
    this.#clock = clock;
    this.#isTraced = isTraced;
    this.#answers = new Answers({
      score: async (request) => {
        const { models } = this.#loaded;
        if (models === undefined) throw new CepError('model_error', `the model ${request.model} is not loaded`);
        return await models.score(request);
      },
      deliver: (answer) => this.#engine.answer(answer),
    });
    const { plan } = checkSource(EMPTY);
    if (plan === null) throw new ProgramError([]);
    this.#loaded = { plan, models: undefined };
    this.#engine = createEngine(plan, this.#host());
  }

  /** The text of the program that runs. */
  get source(): SourceText {
    return this.#source;
  }

  get plan(): Plan {
    return this.#loaded.plan;
  }

  get schemas(): EventSchemas {
    return this.#schemas;
  }

  get counters(): EngineCounters {
    return this.#engine.counters();
  }

  /** Output events of all programs so far. */
  get outputs(): number {
    return this.#outputs;
  }

  get isTraced(): boolean {
    return this.#isTraced;
  }

  /** Epoch ms; never goes back. */
  get now(): number {
    return this.#clock.now();
  }

  /** Puts a program in the place of the one that runs, which goes on when this fails. @throws CepError, of a wrong program `ProgramError` */
  load(text: string, name = this.#source.name): Promise<LoadReport> {
    const source = new SourceText(name, text);
    return this.#replace(source, checkSource(source));
  }

  /** The same with the text of a file, whose imports are read too. */
  async loadFile(path: string): Promise<LoadReport> {
    const checked = checkProgram(path);
    return await this.#replace(checked.sources[0] ?? EMPTY, checked);
  }

  async #replace(source: SourceText, { plan, diagnostics }: CheckedProgram): Promise<LoadReport> {
    if (plan === null) throw new ProgramError(diagnostics);
    const models = await loadModels(plan);
    try {
      const { engine, report } = reload(this.#engine, plan, this.#host());
      await this.#loaded.models?.close();
      this.#begin(source, plan, engine, models);
      return { ...report, streams: plan.streams.map(({ name }) => name), warnings: diagnostics };
    } catch (error) {
      await models?.close();
      throw error;
    }
  }

  #begin(source: SourceText, plan: Plan, engine: Engine, models: Models | undefined): void {
    this.#source = source;
    this.#loaded = { plan, models };
    this.#engine = engine;
    this.#schemas = new EventSchemas(plan.events);
  }

  /** The program begins anew: nothing that came is remembered. */
  reset(): void {
    this.#engine = createEngine(this.plan, this.#host());
  }

  trace(isTraced: boolean): void {
    if (isTraced === this.#isTraced) return;
    this.#isTraced = isTraced;
    this.#engine = reload(this.#engine, this.plan, this.#host()).engine;
  }

  /** One that states no time comes now, if nothing else is said. */
  push(event: Omit<InputEvent, 'fallbackTime'> & { readonly fallbackTime?: number }): Pushed {
    const before = this.#outputs;
    const fallbackTime = event.fallbackTime ?? this.#clock.now();
    this.#sink.input?.(event, fallbackTime);
    const admission = this.#engine.push({ ...event, fallbackTime });
    if (admission.status === 'valid' && admission.time === fallbackTime) this.#clock.notBefore(fallbackTime);
    return { admission, outputs: this.#outputs - before };
  }

  /** Tells the program what time it is, so that windows close and absences match. Only sources whose events state no time of their own hear it. */
  tick(): void {
    this.#engine.advance(this.#clock.now());
  }

  /** Time goes on by so much, at once. */
  advance(byMs: number): void {
    this.#clock.notBefore(this.#clock.now() + byMs);
    this.tick();
  }

  /** Resolves when nothing is under way that events before have led to. */
  async settled(): Promise<void> {
    if (this.#answers.open > 0) await this.#answers.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#loaded.models?.close();
  }

  #host(): EngineHost {
    const sink = this.#sink;
    return {
      ...this.#answers.host,
      output: (event) => {
        this.#outputs++;
        sink.output(event);
      },
      deliver: (delivery) => sink.deliver(delivery),
      log: (entry) => sink.log(entry),
      ...(this.#isTraced && { trace: sink.tracer }),
    };
  }
}
