import type { InputEvent } from '../../shared/events/event.ts';
import type { ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../worker/engine/engine.ts';
import { readTypesOf } from '../../worker/engine/streams/unread-types.ts';
import { Answers } from '../../worker/runtime/answers.ts';
import { loadModels, type Models } from '../../worker/runtime/inference/onnx.ts';
import { CollectedNotes, type EventNotes } from '../../worker/runtime/programs/event-notes.ts';
import { readEventFiles } from '../event-files/event-lines.ts';
import type { EventSourceOptions } from '../event-files/event-source.ts';
import { EventProblems } from '../simulation/event-problems.ts';
import { untimedEvents } from '../simulation/untimed-events.ts';
import type { InputNotes } from './input-notes.ts';

export interface ExplainedRunOptions {
  readonly plan: Plan;
  readonly eventsPaths: readonly string[];
  readonly source?: Omit<EventSourceOptions, 'schemas'> | undefined;
  readonly timeField: string | undefined;
  /** Incomplete events are invalid. */
  readonly strict: boolean;
  /** The key that will be asked for. */
  readonly key?: string | undefined;
  /** Event time up to which events run, epoch ms. @default the end of the file */
  readonly until?: number;
  /** The first so many events run. @default all */
  readonly eventsMax?: number;
}

/** A program that is asked why, and nothing else, looks nothing up, as in `simulate`; rows that no model scores wait. */
const silentHost: EngineHost = { output: () => undefined, score: () => undefined };

/** A program behind an event file, or a part of it, that can say why it gave what it gave. The input has not ended. */
export class ExplainedRun {
  readonly engine: Engine;
  /** What is wrong with the events, only counted. */
  readonly problems: EventProblems;
  readonly #options: ExplainedRunOptions;
  readonly #schemas: EventSchemas;
  /** Event types that some stream reads. */
  readonly #read: ReadonlySet<string>;
  readonly #notes = new CollectedNotes(0);
  readonly #answers: Answers;
  /** Events that were pushed, invalid ones included. */
  #events = 0;

  /** @throws CepError when the program cannot begin, or the file not be read */
  static async of(options: ExplainedRunOptions): Promise<ExplainedRun> {
    // What stands before a model can be told without it.
    const models = await loadModels(options.plan).catch(() => undefined);
    const run = new ExplainedRun(options, models);
    try {
      await run.#run();
    } finally {
      await models?.close();
    }
    return run;
  }

  private constructor(options: ExplainedRunOptions, models: Models | undefined) {
    const { plan, strict, key } = options;
    this.#options = options;
    this.#schemas = new EventSchemas(plan.events);
    this.#read = readTypesOf(plan);
    this.problems = new EventProblems('', () => undefined);
    this.#answers = new Answers({
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => this.engine.answer(answer),
    });
    const host = { ...silentHost, ...this.#answers.host };
    this.engine = createEngine(plan, host, { explain: true, explainKey: key, strictEvents: strict });
  }

  get events(): number {
    return this.#events;
  }

  /** What of the events had no effect. */
  async notes(): Promise<EventNotes & InputNotes> {
    const { eventsPaths: paths } = this.#options;
    const counters = this.engine.counters();
    const { eventsProcessed: events, eventsUntimed: untimed, time } = counters;
    return {
      ...this.#notes.notes(counters, this.#read),
      untimed: await untimedEvents({ paths, reading: this.#reading, events, untimed, time }),
    };
  }

  get #reading() {
    const { source, timeField } = this.#options;
    return { ...source, schemas: this.#schemas, timeField };
  }

  async #run(): Promise<void> {
    const { plan, eventsPaths, until = Infinity } = this.#options;
    for await (const { file, result } of readEventFiles(eventsPaths, this.#reading)) {
      this.problems.file = file;
      if (!this.#take(result, until)) break;
      if (this.#answers.open > 0) await this.#answers.settled();
    }
    if (Number.isFinite(until)) for (const { id } of plan.sources) this.engine.advance(until, id);
    await this.#answers.settled();
  }

  /** False when nothing behind it runs. */
  #take(result: ReadResult, until: number): boolean {
    if (result.kind === 'unreadable') this.problems.addUnreadable(result.diagnostic);
    else if (result.kind === 'invalid') this.problems.addInvalid(result);
    else {
      const { event, line } = result;
      if (this.#timeOf(event) > until || this.#events >= (this.#options.eventsMax ?? Infinity)) return false;
      this.#events++;
      const admission = this.engine.push(event);
      if (admission.status === 'invalid') this.problems.addInvalid({ line, type: event.type, ...admission });
      else if (admission.incomplete.length > 0) {
        this.problems.addIncomplete(event.type, admission.incomplete, line);
        this.#notes.incomplete(event.type, admission.incomplete);
      }
      if (result.unknownMembers !== undefined) this.#notes.unknownMembers(result.unknownMembers);
      if (admission.status === 'valid' && !this.#read.has(event.type)) this.#notes.unread(event.type, 1);
    }
    return true;
  }

  #timeOf({ type, fields, timestamp, fallbackTime }: InputEvent): number {
    return timestamp ?? this.#schemas.ownTime(type, fields) ?? fallbackTime;
  }
}
