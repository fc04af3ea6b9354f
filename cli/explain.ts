import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import type { InputEvent } from '../shared/events/event.ts';
import { EventSchemas } from '../shared/events/schema.ts';
import { parseDuration, parseTimestamp } from '../shared/events/text.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../shared/language/plan/plan.ts';
import { createEngine } from '../worker/engine/create-engine.ts';
import type { Engine } from '../worker/engine/engine.ts';
import { explanationJson } from '../worker/runtime/programs/explanation-json.ts';
import { colorsFor } from './colors.ts';
import { ResultCommand } from './command.ts';
import { counted } from './counts.ts';
import { explanationText } from './explaining/explanation-text.ts';
import { checkProgram } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { EventLines } from './simulation/event-lines.ts';

export class ExplainCommand extends ResultCommand {
  static override paths = [['explain']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Say why a stream gave what it gave, or nothing',
    details:
      'Runs the program over an event file, without ending the input, and says what the stream holds then: the furthest run of a pattern, ' +
      'the steps it waits for and what came for them and did not fit; the open windows; what waits in a join; which operator held the last ' +
      'event back, with the values that decided. Ends with 1 when the program has errors or a line of the file cannot be read.',
    examples: [
      ['What a stream waits for', '$0 explain -p rules.vpl -e events.evt --stream Alerts'],
      ['For one partition key', '$0 explain -p rules.vpl -e events.evt --stream Alerts --key ann'],
      ['At a moment in between', '$0 explain -p rules.vpl -e events.evt --stream Alerts --at 90s'],
    ],
  });

  program = Option.String('-p,--program', { required: true, description: 'Program file' });
  events = Option.String('-e,--events', { required: true, description: 'Event file, .evt or .jsonl' });
  stream = Option.String('-s,--stream', { required: true, description: 'Stream to explain' });
  key = Option.String('-k,--key', { description: 'Value of its partition key, or of a join; several with a comma and a blank between' });
  at = Option.String('--at', { description: 'Event time up to which events run: an offset (90s) or a timestamp (end of the file)' });

  override async run(): Promise<number> {
    const at = this.at === undefined ? Infinity : readMoment(this.at);
    const { plan, diagnostics } = checkProgram(this.program);
    if (plan === null) {
      this.context.stderr.write(diagnosticsText(diagnostics, this.context.stderr, this.context.env));
      return 1;
    }
    requireStream(plan, this.stream);
    const engine = createEngine(plan, { output: () => undefined }, { explain: true });
    const unreadable = this.#runUpTo(at, plan, engine);
    const explanation = engine.explain(this.stream, this.key);
    const { stdout, env } = this.context;
    this.print(this.json ? `${explanationJson(explanation)}\n` : explanationText(explanation, colorsFor(stdout, env)));
    return unreadable > 0 ? 1 : 0;
  }

  /** Gives the number of lines that cannot be read. */
  #runUpTo(at: number, plan: Plan, engine: Engine): number {
    const schemas = new EventSchemas(plan.events);
    const lines = EventLines.open(this.events, { schemas, preload: false, canResume: false });
    let [unreadable, invalid] = [0, 0];
    try {
      for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
        for (const result of piece.results) {
          if (result.kind === 'unreadable') unreadable++;
          else if (result.kind === 'invalid') invalid++;
          else if (timeOf(result.event, schemas) > at) return this.#finish({ at, plan, engine, unreadable, invalid });
          else if (engine.push(result.event).status === 'invalid') invalid++;
        }
      }
      return this.#finish({ at, plan, engine, unreadable, invalid });
    } finally {
      lines.close();
    }
  }

  /** Time goes on to the moment asked for, on every source. */
  #finish({ at, plan, engine, unreadable, invalid }: FinishedRun): number {
    if (Number.isFinite(at)) for (const { id } of plan.sources) engine.advance(at, id);
    if (invalid > 0) this.note(`${counted(invalid, 'invalid event')} left out`);
    if (unreadable > 0) this.note(`${counted(unreadable, 'line')} cannot be read; cep simulate says which`);
    return unreadable;
  }
}

interface FinishedRun {
  readonly at: number;
  readonly plan: Plan;
  readonly engine: Engine;
  readonly unreadable: number;
  readonly invalid: number;
}

function timeOf({ type, fields, timestamp, fallbackTime }: InputEvent, schemas: EventSchemas): number {
  return timestamp ?? schemas.ownTime(type, fields) ?? fallbackTime;
}

/** An offset as in an event file, with or without `@`, or a timestamp; epoch milliseconds. */
function readMoment(text: string): number {
  const bare = text.replace(/^@/, '');
  const ms = /^\d+(\.\d+)?$/.test(bare) ? Number(bare) : (parseDuration(bare) ?? parseTimestamp(bare));
  if (ms !== undefined && Number.isFinite(ms)) return ms;
  throw new CepError('usage_error', `--at: expected an offset such as 90s or a timestamp, found '${text}'`);
}

function requireStream({ streams }: Plan, name: string): void {
  const names = streams.map((stream) => stream.name);
  if (names.includes(name)) return;
  const nearest = nearestName(name, names);
  throw new CepError('usage_error', `the program has no stream '${name}'`, {
    hint: nearest === undefined ? `its streams: ${names.join(', ') || 'none'}` : `did you mean '${nearest}'?`,
  });
}
