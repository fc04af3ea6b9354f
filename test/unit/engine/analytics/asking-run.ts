import type { Value } from '../../../../shared/events/value.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type {
  Answered,
  Engine,
  EngineHost,
  EngineSnapshot,
  LogEntry,
  LookupRequest,
  Result,
  ScoreRequest,
} from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent, outputText } from '../support/engine-run.ts';

type Question = LookupRequest | ScoreRequest;

export interface AskingOptions {
  /** Answers at once; what gives undefined is answered later by `answer`. */
  readonly atOnce?: (question: Question) => Answered | undefined;
  readonly engine?: EngineOptions;
}

/** An engine whose host notes what it is asked, and answers when the test says so. */
export class AskingRun {
  readonly outputs: string[] = [];
  readonly logs: LogEntry[] = [];
  readonly deadLetters: string[] = [];
  /** Not yet answered, in the order in which they were asked. */
  open: Question[] = [];
  /** Keys and rows of all questions so far. */
  readonly asked: Value[] = [];
  readonly #program: string;
  readonly #options: AskingOptions;
  engine: Engine;

  constructor(program: string, options: AskingOptions = {}) {
    this.#program = program;
    this.#options = options;
    this.engine = this.#create();
  }

  #create(): Engine {
    const host: EngineHost = {
      output: (event) => this.outputs.push(outputText(event)),
      log: (entry) => this.logs.push(entry),
      deadLetter: ({ fields, reason }) => this.deadLetters.push(`${JSON.stringify([...fields])} ${reason}`),
      lookup: (request) => this.#ask(request, request.key),
      score: (request) => this.#ask(request, request.rows),
    };
    return createEngine(planOf(this.#program), host, this.#options.engine);
  }

  #ask(question: Question, what: Value): Answered | undefined {
    this.asked.push(what);
    const answered = this.#options.atOnce?.(question);
    if (answered === undefined) this.open.push(question);
    return answered;
  }

  push(type: string, time: number, fields: Readonly<Record<string, Value>> = {}): void {
    this.engine.push(inputEvent(type, time, fields));
  }

  /** Answers the open question at this position. */
  answer(position: number, result: Result, latencyMs: number | null = 3): boolean {
    const [question] = this.open.splice(position, 1);
    return question !== undefined && this.engine.answer({ id: question.id, result, latencyMs });
  }

  /** Another engine takes over from a checkpoint; what was asked before is never answered. */
  restart(): void {
    const saved = JSON.parse(JSON.stringify(this.engine.snapshot())) as EngineSnapshot;
    this.open = [];
    this.engine = this.#create();
    const { changed, reset, added, removed } = this.engine.restore(saved);
    if (changed.length + reset.length + added.length + removed.length > 0) throw new Error('an equal program did not keep its state');
  }

  taken(): string[] {
    return this.outputs.splice(0);
  }
}

export const found = (fields: Readonly<Record<string, Value>>): Result => ({ status: 'ok', value: new Map(Object.entries(fields)) });
export const failed: Result = { status: 'error', message: 'not found' };
