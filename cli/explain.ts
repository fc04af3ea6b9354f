import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { parseDuration, parseTimestamp } from '../shared/events/text.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../shared/language/plan/plan.ts';
import { physicalPlanOf } from '../worker/engine/fusion/fuse.ts';
import type { Explanation } from '../worker/engine/trace/explanation.ts';
import { explanationJson } from '../worker/runtime/programs/explanation-json.ts';
import { colorsFor } from './colors.ts';
import { ResultCommand } from './command.ts';
import { counted } from './counts.ts';
import { EVENT_FILES, eventSource, eventTypeOption, formatOption } from './event-files/event-options.ts';
import { ExplainedRun } from './explaining/explained-run.ts';
import { explanationText } from './explaining/explanation-text.ts';
import { noteLines } from './explaining/input-notes.ts';
import { missingAlertsText } from './explaining/missing-alerts.ts';
import { planText } from './explaining/plan-text.ts';
import { checkProgram } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { programPaths } from './program/program-paths.ts';

export class ExplainCommand extends ResultCommand {
  static override paths = [['explain']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Say why a stream gave what it gave, or nothing',
    details:
      'Runs the program over an event file, without ending the input, and says what the stream, or each of them, holds then: the furthest run of a pattern, ' +
      'the steps it waits for and what came for them and did not fit; the open windows; what waits in a join; which operator held the last ' +
      'event back, with the values that decided. With --plan it runs nothing and says how the program runs: which operators have become ' +
      'generated code or kernels, by what these find their state, what takes whole rows and why. Ends with 1 when the program has errors or ' +
      'a line of the file cannot be read.',
    examples: [
      ['What every stream waits for', '$0 explain -p rules.vpl -e events.evt'],
      ['What one waits for', '$0 explain -p rules.vpl -e events.evt --stream Alerts'],
      ['For one partition key', '$0 explain -p rules.vpl -e events.evt --stream Alerts --key ann'],
      ['At a moment in between', '$0 explain -p rules.vpl -e events.evt --stream Alerts --at 90s'],
      ['How the program runs', '$0 explain -p rules.vpl --plan'],
    ],
  });

  programs = Option.Array('-p,--program', { required: true, description: 'Program file, or a folder of them; several are one program' });
  events = Option.Array('-e,--events', [], { description: EVENT_FILES });
  stream = Option.String('-s,--stream', { description: 'Stream to explain (all)' });
  key = Option.String('-k,--key', { description: 'Value of its partition key, or of a join; several with a comma and a blank between' });
  physical = Option.Boolean('--plan', false, { description: 'Show the physical plan of the program; no events are needed' });
  eventType = eventTypeOption();
  format = formatOption();
  timeField = Option.String('--time-field', { description: 'Field that says when an event happened, before anything else does' });
  at = Option.String('--at', { description: 'Event time up to which events run: an offset (90s) or a timestamp (end of the file)' });

  override async run(): Promise<number> {
    const at = this.at === undefined ? Infinity : readMoment(this.at);
    const { plan, diagnostics } = checkProgram(programPaths(this.programs));
    if (plan === null) {
      this.context.stderr.write(diagnosticsText(diagnostics, this.context.stderr, this.context.env));
      return 1;
    }
    if (this.physical) return this.#showPlan(plan);
    if (this.events.length === 0) {
      throw new CepError('usage_error', 'explain needs --events', { hint: 'or --plan, which shows how the program runs' });
    }
    const streams = this.#streamsOf(plan);
    const source = { ...eventSource(this), stdin: this.context.stdin };
    const { timeField, key } = this;
    const run = await ExplainedRun.of({ plan, eventsPaths: this.events, source, timeField, strict: false, until: at, key });
    const notes = await run.notes();
    const explanations = streams.map((stream) => run.engine.explain(stream, this.key));
    if (this.json) for (const explanation of explanations) this.print(`${explanationJson(explanation, notes, true)}\n`);
    else this.#show(explanations, run, noteLines(notes));
    const { unreadable } = run.problems;
    if (unreadable > 0) this.note(`${counted(unreadable, 'line')} cannot be read; cep simulate says which`);
    return unreadable > 0 ? 1 : 0;
  }

  #showPlan(plan: Plan): number {
    const physical = physicalPlanOf(plan);
    if (this.json) this.printJson(physical);
    else this.print(planText(physical));
    return 0;
  }

  /** The one that was asked for, else all. */
  #streamsOf(plan: Plan): readonly string[] {
    const names = plan.streams.map(({ name }) => name);
    if (this.stream !== undefined) requireStream(names, this.stream);
    else if (this.key !== undefined && names.length > 1) {
      throw new CepError('usage_error', '--key is of one stream: expected --stream', { hint: `its streams: ${names.join(', ')}` });
    }
    return this.stream === undefined ? names : [this.stream];
  }

  /** What of the input had no effect stands behind the explanation when one of them gave nothing. */
  #show(explanations: readonly Explanation[], run: ExplainedRun, notes: readonly string[]): void {
    const { stdout, env } = this.context;
    if (explanations.length === 0) this.note('the program has no streams');
    this.print(explanations.map((explanation) => explanationText(explanation, colorsFor(stdout, env))).join('\n'));
    const lines = [...notes, ...run.problems.summary()];
    const silent = explanations.filter(({ eventsOut }) => eventsOut === 0);
    if (silent.length > 0 && lines.length > 0) {
      const isAll = silent.length === explanations.length;
      const told = isAll ? missingAlertsText(run.events, lines, []) : ['Without effect:', ...lines.map((line) => `  ${line}`)];
      this.print(`\n${told.join('\n')}\n`);
    }
    if (run.problems.invalid > 0) this.note(`${counted(run.problems.invalid, 'invalid event')} left out`);
  }
}

/** An offset as in an event file, with or without `@`, or a timestamp; epoch milliseconds. */
function readMoment(text: string): number {
  const bare = text.replace(/^@/, '');
  const ms = /^\d+(\.\d+)?$/.test(bare) ? Number(bare) : (parseDuration(bare) ?? parseTimestamp(bare));
  if (ms !== undefined && Number.isFinite(ms)) return ms;
  throw new CepError('usage_error', `--at: expected an offset such as 90s or a timestamp, found '${text}'`);
}

function requireStream(names: readonly string[], name: string): void {
  if (names.includes(name)) return;
  const nearest = nearestName(name, names);
  throw new CepError('usage_error', `the program has no stream '${name}'`, {
    hint: nearest === undefined ? `its streams: ${names.join(', ') || 'none'}` : `did you mean '${nearest}'?`,
  });
}
