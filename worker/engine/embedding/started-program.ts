import { CepError } from '../../../shared/errors/error.ts';
import type { InputEvent, OutputEvent } from '../../../shared/events/event.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../create-engine.ts';
import type {
  Answer,
  DeadLetter,
  Delivery,
  Engine,
  EngineCounters,
  EngineHost,
  EngineSnapshot,
  LogEntry,
  RestoreReport,
} from '../engine.ts';
import type { Explanation } from '../trace/explanation.ts';
import { withTimesKept } from '../trace/times-kept.ts';
import { fieldsToObject, type JsonFields } from './json-value.ts';
import { type Input, inputProblem, readFields, requireTime } from './read-input.ts';
import { Work } from './work.ts';

export interface StartOptions {
  /** Takes each alert as it comes; without it alerts wait for `take`. */
  readonly onOutput?: (output: Output) => void;
  /** What `.print`, `.log` and `.tap` say, and failures. @default said to nobody */
  readonly onLog?: (entry: LogEntry) => void;
  /** What `.to` and `.alert` would send: the embedding program does it. @default sent nowhere */
  readonly onDelivery?: (delivery: Delivery) => void;
  /** Rows that failed in a stream with `.on_error(dlq)`. @default told to nobody */
  readonly onDeadLetter?: (letter: DeadLetter) => void;
  /** Looks something up for `.enrich`: at once, or later by `answer`. @default every look-up fails, which the log says */
  readonly lookup?: NonNullable<EngineHost['lookup']>;
  /** Runs a model for `.score`. @default a program that scores does not start */
  readonly score?: NonNullable<EngineHost['score']>;
  /** An event that lacks a declared field is invalid. @default false */
  readonly strictEvents?: boolean;
  /** What came last is remembered, so that `explain` can say what kept it back; events take longer then. @default false */
  readonly explain?: boolean;
}

/** An alert. */
export interface Output {
  readonly stream: string;
  /** The stream's name, or what `.emit as` says. */
  readonly type: string;
  /** Event time, epoch ms. */
  readonly timestamp: number;
  readonly fields: JsonFields;
}

/** Everything a program remembers. */
export interface ProgramSnapshot extends EngineSnapshot {
  /** The time of the event before; absent in those of earlier versions. */
  readonly time?: number;
  /** The input had ended; absent where it had not. */
  readonly ended?: true;
}

/** What became of an event: taken, with what it should have had; or refused, and then it changed nothing. */
export type PushResult =
  | { readonly accepted: true; readonly incomplete: readonly string[] }
  | { readonly accepted: false; readonly field: string; readonly message: string };

/**
 * A running program. It reads no clock and does nothing by itself: the same calls give the same alerts. Everything that an
 * event causes is through when `push` returns.
 */
export class StartedProgram {
  readonly #plan: Plan;
  readonly #options: StartOptions;
  readonly #engine: Engine;
  readonly #work = new Work();
  #outputs: Output[] = [];
  #time = 0;
  /** Nothing has happened yet that a restored state would mix with. */
  #isNew = true;
  #hasEnded = false;

  constructor(plan: Plan, options: StartOptions) {
    this.#plan = plan;
    this.#options = options;
    const { strictEvents = false, explain = false } = options;
    this.#engine = createEngine(plan, this.#host(), { strictEvents, explain });
  }

  #host(): EngineHost {
    const { onOutput, onLog, onDelivery, onDeadLetter, lookup, score } = this.#options;
    const work = this.#work;
    return {
      output: onOutput === undefined ? (event) => this.#outputs.push(outputOf(event)) : work.telling((event) => onOutput(outputOf(event))),
      ...(onLog && { log: work.telling(onLog) }),
      ...(onDelivery && { deliver: work.telling(onDelivery) }),
      ...(onDeadLetter && { deadLetter: work.telling(onDeadLetter) }),
      ...(lookup && { lookup: work.asking(lookup) }),
      ...(score && { score: work.asking(score) }),
    };
  }

  /** @throws CepError behind `end`, and from a callback; and what a callback has thrown, when the event is through */
  push(input: Input): PushResult {
    return this.#work.run(() => this.#push(input));
  }

  #push(input: Input): PushResult {
    this.#requireInput();
    const problem = inputProblem(input);
    if (problem !== undefined) return { accepted: false, ...problem };
    const { type, fields = {}, timestamp } = input;
    const read = readFields(fields);
    if ('message' in read) return { accepted: false, ...read };
    const event: InputEvent = { type, fields: read, fallbackTime: this.#time, ...(timestamp === undefined ? {} : { timestamp }) };
    const pushed = this.#engine.push(event);
    if (pushed.status === 'invalid') return { accepted: false, field: pushed.field, message: pushed.message };
    this.#time = pushed.time;
    this.#isNew = false;
    return { accepted: true, incomplete: pushed.incomplete };
  }

  /** The alerts since the last call, in order; none with `onOutput`. */
  take(): readonly Output[] {
    const taken = this.#outputs;
    this.#outputs = [];
    return taken;
  }

  /**
   * Time has come to `timestamp` (epoch ms) without an event: windows close, absences match. Never goes back. @throws CepError when
   * it is no time, behind `end`, and from a callback
   */
  advance(timestamp: number): void {
    requireTime(timestamp, 'validation_error');
    this.#work.run(() => {
      this.#requireInput();
      this.#isNew = false;
      for (const { id } of this.#plan.sources) this.#engine.advance(timestamp, id);
      this.#time = Math.max(this.#time, timestamp);
    });
  }

  /** The input has ended: open windows close, absences match. Nothing may be pushed behind it. */
  end(): void {
    this.#work.run(() => {
      this.#isNew = false;
      this.#hasEnded = true;
      this.#engine.end();
    });
  }

  #requireInput(): void {
    if (this.#hasEnded)
      throw new CepError('validation_error', 'the input of this program has ended: nothing may come behind `end`', {
        hint: 'what is only a pause needs no `end`: `advance` says how late it is',
      });
  }

  /** The answer to a question of `lookup` or `score`; false when nobody waits for it. @throws CepError from a callback, but not from that which is asked it */
  answer(answer: Answer): boolean {
    return this.#work.answer(answer, () => this.#engine.answer(answer));
  }

  /** Everything the program remembers, JSON-safe; for `restore`. Behind `end` nothing may be pushed there either. @throws CepError from a callback */
  snapshot(): ProgramSnapshot {
    const [snapshot, time] = [this.#work.run(() => this.#engine.snapshot()), this.#time];
    return {
      version: snapshot.version,
      time,
      ...(this.#hasEnded && { ended: true }),
      get state() {
        return snapshot.state; // Made when it is read.
      },
    };
  }

  /**
   * Goes on where a snapshot was taken, in a program that was just started; also in one that has changed since, whose streams keep
   * what still fits. Says by stream what was kept and what begins anew. @throws CepError when it is no snapshot, and the program is
   * of no use then, or when something was pushed or restored before, and nothing has changed then
   */
  restore(snapshot: ProgramSnapshot): RestoreReport {
    if (!this.#isNew)
      throw new CepError('validation_error', 'this program has run: two states cannot be mixed', {
        hint: 'start another one to restore into',
      });
    if (typeof snapshot !== 'object' || snapshot === null)
      throw new CepError('checkpoint_corrupt', 'this is no snapshot', { hint: 'restore exactly what `snapshot` gave' });
    this.#isNew = false;
    const { time } = snapshot;
    if (time !== undefined) requireTime(time, 'checkpoint_corrupt');
    const report = this.#work.run(() => this.#engine.restore(snapshot));
    this.#hasEnded = snapshot.ended === true;
    this.#time = time ?? this.#engine.counters().time ?? 0;
    return report;
  }

  /**
   * Why a stream gave what it gave, or nothing: what it holds, and with the option `explain` what kept events back. `key`: its
   * partition key as text. @throws CepError when there is no such stream
   */
  explain(stream: string, key?: string): Explanation {
    if (this.#options.explain === true) return this.#engine.explain(stream, key);
    const explaining = createEngine(this.#plan, { output: () => undefined, score: () => undefined }, { explain: true });
    explaining.restore(this.#engine.snapshot());
    return withTimesKept(explaining.explain(stream, key), this.#engine.explain(stream, key));
  }

  counters(): EngineCounters {
    return this.#engine.counters();
  }
}

function outputOf({ stream, type, time, fields }: OutputEvent): Output {
  return { stream, type, timestamp: time, fields: fieldsToObject(fields) };
}
