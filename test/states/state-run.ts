import { fieldsToJson } from '../../shared/events/text.ts';
import { Timestamp, type Value } from '../../shared/events/value.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Answered, Engine, EngineHost } from '../../worker/engine/engine.ts';
import { planOf } from '../scenarios/run-program.ts';
import type { StateEvent } from './programs.ts';

/** An engine whose host answers each question three events after it was asked. */
export class StateRun {
  readonly #outputs: string[] = [];
  readonly engine: Engine;
  #open: { readonly id: number; readonly answered: Answered; left: number }[] = [];

  constructor(program: string, options: EngineOptions) {
    const host: EngineHost = {
      output: ({ stream, type, time, fields }) => this.#outputs.push(`${stream} ${type}@${time} ${fieldsToJson(fields)}`),
      lookup: ({ id, key }) => this.#ask(id, new Map([['name', `name of ${key}`]])),
      score: ({ id, rows }) =>
        this.#ask(
          id,
          rows.map(([v]) => [Number(v) * 2]),
        ),
    };
    this.engine = createEngine(planOf(program), host, options);
  }

  /** In order for each stream: when answers come decides the order between streams. */
  get outputs(): readonly string[] {
    return this.#outputs.toSorted((one, other) => streamOf(one).localeCompare(streamOf(other)));
  }

  forget(): void {
    this.#outputs.length = 0;
  }

  #ask(id: number, value: Value): undefined {
    this.#open.push({ id, answered: { result: { status: 'ok', value }, latencyMs: 5 }, left: 3 });
  }

  push({ type, time, fields }: StateEvent): void {
    this.#answer((one) => --one.left < 0);
    const values = Object.entries(fields).map(([name, value]) => [name, name === 'at' ? new Timestamp(value as number) : value] as const);
    this.engine.push({ type, timestamp: time, fallbackTime: time, fields: new Map<string, Value>(values) });
  }

  end(): void {
    this.engine.end();
    while (this.#open.length > 0) this.#answer(() => true);
  }

  #answer(isDue: (one: { left: number }) => boolean): void {
    const due = this.#open.filter(isDue);
    this.#open = this.#open.filter((one) => !due.includes(one));
    for (const { id, answered } of due) this.engine.answer({ id, ...answered });
  }
}

function streamOf(output: string): string {
  return output.slice(0, output.indexOf(' '));
}
