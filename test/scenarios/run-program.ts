import { evtReader } from '../../shared/events/evt-reader.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { fieldsToJson, parseDuration, toJson } from '../../shared/events/text.ts';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost, EngineSnapshot, StreamCounters } from '../../worker/engine/engine.ts';

/** The plan of a program. @throws when it has an error: a test is about what it does. */
export function planOf(program: string): Plan {
  const { plan, diagnostics } = check(new SourceText('program.vpl', program));
  if (plan !== null) return plan;
  const errors = diagnostics.filter((one) => one.severity === 'error');
  throw new Error(
    errors
      .map((one) => `${one.source.position(one.span.start).line}:${one.source.position(one.span.start).column} ${one.code} ${one.message}`)
      .join('\n'),
  );
}

export interface RunOptions {
  readonly engine?: EngineOptions;
  /** Before each line of input the engine is given up, and a new one takes over what it remembers. */
  readonly restarts?: boolean;
}

/** Runs a program over lines of a scenario's events; gives its transcript: each line that had effects, and these as JSON. */
export function runProgram(program: string, lines: readonly string[], options: RunOptions = {}): string {
  return new ProgramRun(planOf(program), options).run(lines);
}

class ProgramRun {
  readonly #plan: Plan;
  readonly #options: RunOptions;
  readonly #host: EngineHost;
  readonly #reader;
  #engine: Engine;
  #effects: string[] = [];

  constructor(plan: Plan, options: RunOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#reader = evtReader({ schemas: new EventSchemas(plan.events) });
    this.#host = recordingHost((effect) => this.#effects.push(effect));
    this.#engine = createEngine(plan, this.#host, options.engine);
  }

  run(lines: readonly string[]): string {
    const isStopped = lines.includes('!stop');
    const transcript = lines.filter((line) => line !== '!stop').map((line) => this.#section(line, () => this.#take(line)));
    if (!isStopped) transcript.push(this.#section('end of input', () => this.#engine.end()));
    for (const [stream, counters] of this.#engine.counters().streams) transcript.push(...counterLines(stream, counters));
    return transcript.join('');
  }

  /** What a line of input caused, under the line; nothing when it caused nothing. */
  #section(title: string, act: () => void): string {
    if (this.#options.restarts === true) this.#restart();
    this.#effects = [];
    act();
    return this.#effects.length === 0 ? '' : [`# ${title}`, ...this.#effects, ''].join('\n');
  }

  #take(line: string): void {
    if (line.startsWith('!tick ')) this.#tick(line.slice('!tick '.length).trim());
    else this.#push(line);
  }

  #push(line: string): void {
    for (const result of this.#reader.write(new TextEncoder().encode(`${line}\n`))) {
      if (result.kind === 'unreadable') throw new Error(`${line}: ${result.diagnostic.message}`);
      const admission =
        result.kind === 'event' ? this.#engine.push(result.event) : { status: 'invalid', field: result.field, message: result.message };
      if (admission.status === 'invalid' && 'message' in admission) this.#effects.push(`{"invalid":${JSON.stringify(admission.message)}}`);
    }
  }

  #tick(text: string): void {
    const [time = '', source] = text.split(/\s+/);
    const ms = parseDuration(time);
    if (ms === undefined) throw new Error(`no time: ${text}`);
    this.#engine.advance(ms, source);
  }

  #restart(): void {
    const saved = JSON.parse(JSON.stringify(this.#engine.snapshot())) as EngineSnapshot;
    this.#engine = createEngine(this.#plan, this.#host, this.#options.engine);
    const { changed, reset, added, removed } = this.#engine.restore(saved);
    if (changed.length + reset.length + added.length + removed.length > 0)
      throw new Error('an equal program did not keep all of its state');
  }
}

function recordingHost(record: (effect: string) => void): EngineHost {
  return {
    output: ({ stream, type, time, fields }) => {
      const typeText = type === stream ? '' : `"type":${JSON.stringify(type)},`;
      record(`{"time":${time},"stream":${JSON.stringify(stream)},${typeText}"fields":${fieldsToJson(fields)}}`);
    },
    log: ({ stream, level, kind, message }) =>
      record(
        toJson(
          new Map([
            [kind, message],
            ['level', level],
            ['stream', stream],
          ]),
        ),
      ),
    deliver: ({ connector, url, topic, type, message }) =>
      record(
        toJson(
          new Map([
            ['to', connector ?? url],
            ['topic', topic],
            ['type', type],
            ['message', message],
          ]),
        ),
      ),
    deadLetter: ({ stream, type, reason }) =>
      record(
        toJson(
          new Map([
            ['dead', type],
            ['reason', reason],
            ['stream', stream],
          ]),
        ),
      ),
  };
}

function counterLines(stream: string, counters: StreamCounters): readonly string[] {
  const counts: [string, number][] = [
    ['late', counters.late],
    ['failures', counters.failures],
    ['suppressed', counters.suppressed],
    ...counters.runsDropped,
    ...counters.taps,
  ];
  const seen = counts.filter(([, count]) => count > 0);
  return seen.length === 0 ? [] : [`${toJson(new Map<string, string | number>([['counters', stream], ...seen]))}\n`];
}
