import { availableParallelism } from 'node:os';
import { Command, Option } from 'clipanion';
import { intervalProblem, readInterval } from '../shared/config/interval.ts';
import { CepError } from '../shared/errors/error.ts';
import { EventSchemas } from '../shared/events/schema.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../shared/language/plan/plan.ts';
import { readTypesOf } from '../worker/engine/streams/unread-types.ts';
import { ResultCommand } from './command.ts';
import { countEvents } from './event-files/event-lines.ts';
import { EVENT_FILES, eventSource, eventTypeOption, formatOption } from './event-files/event-options.ts';
import { STANDARD_INPUT } from './event-files/event-source.ts';
import { INTERRUPTED_EXIT_CODE, runUntilInterrupted } from './interruption.ts';
import { checkProgram } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { programPaths } from './program/program-paths.ts';
import { digestOf } from './simulation/checkpoint.ts';
import { Checkpoints, requireSeekable } from './simulation/checkpoints.ts';
import { Screen } from './simulation/screen.ts';
import { Simulation } from './simulation/simulation.ts';
import type { ThreadSettings } from './simulation/threads/division.ts';
import { TraceText } from './simulation/trace-text.ts';
import type { SimulationView } from './simulation/view.ts';
import { JsonView, quiet, TextView, traced, verbose } from './simulation/views.ts';
import { runAndWatch, type WatchedRun } from './watch.ts';

const CHECKPOINT_INTERVAL_MS = 10_000;

export class SimulateCommand extends ResultCommand {
  static override paths = [['simulate']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Run a program over an event file',
    details:
      'Prints the output events and a report. Nothing is connected: what the program sends to connectors is counted. ' +
      'Ends with 1 when a line of the file cannot be read (the others run) or the program has errors, 2 when a file is missing, 4 when the run fails.',
    examples: [
      ['A program and its events', '$0 simulate -p rules.vpl -e events.evt'],
      ['Output events as lines of JSON', '$0 simulate -p rules.vpl -e events.jsonl --json'],
      ['Why an event did or did not match', '$0 simulate -p rules.vpl -e events.evt --trace'],
      ['Again whenever a file changes', '$0 simulate -p rules.vpl -e events.evt --watch'],
      ['A large file, going on where it stopped', '$0 simulate -p rules.vpl -e big.evt --streaming --quiet --checkpoint-dir state'],
    ],
  });

  programs = Option.Array('-p,--program', { required: true, description: 'Program file, or a folder of them; several are one program' });
  events = Option.Array('-e,--events', { required: true, description: EVENT_FILES });
  timed = Option.Boolean('--timed', false, { description: 'Replay with the recorded delays' });
  streaming = Option.Boolean('--streaming', false, {
    description: 'Read line by line instead of the whole file first, as any above 64 MiB is',
  });
  verbose = Option.Boolean('-v,--verbose', false, { description: 'Show each event' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Show the report only' });
  trace = Option.Boolean('--trace', false, { description: 'Show for each event what every operator decided' });
  watch = Option.Boolean('--watch', false, { description: 'Run again when the program or the events change' });
  workers = Option.String('-w,--workers', { description: 'Worker threads (number of CPU cores)' });
  partitionBy = Option.String('--partition-by', { description: 'Event field by which events are divided among the threads' });
  pieceBytes = Option.String('--piece-bytes', {
    hidden: true,
    description: 'Divides the events among the threads by so many bytes at once',
  });
  eventType = eventTypeOption();
  format = formatOption();
  timeField = Option.String('--time-field', { description: 'Field that says when an event happened, before anything else does' });
  strictEvents = Option.Boolean('--strict-events', { description: 'Treat an event that lacks a declared field as invalid' });
  skipInvalid = Option.Boolean('--skip-invalid', false, { description: 'End with 0 although lines cannot be read' });
  flush = Option.Boolean('--flush', true, { description: 'Complete what is open at the end of the file (--no-flush leaves it out)' });
  checkpointDir = Option.String('--checkpoint-dir', { description: 'Directory of the checkpoint; a run that was stopped goes on from it' });
  checkpointInterval = Option.String('--checkpoint-interval', { description: 'Time between checkpoints, seconds or a duration (10s)' });

  override async run(): Promise<number> {
    this.#refuseContradictions();
    const config = await this.loadConfig({
      'processing.workers': this.workers,
      'processing.partition_by': this.partitionBy,
      'processing.strict_events': this.strictEvents,
    });
    const settings = {
      isAsked: this.partitionBy !== undefined || config.get('processing.workers') !== undefined,
      strict: config.get('processing.strict_events'),
      workers: config.get('processing.workers') ?? availableParallelism(),
      partitionBy: config.get('processing.partition_by'),
      intervalMs: intervalOf(this.checkpointInterval),
    };
    const once = (signal?: AbortSignal, interrupt?: AbortSignal): Promise<WatchedRun> => this.#simulate({ ...settings, signal, interrupt });
    if (this.watch) return runAndWatch(once, this.context, [...this.programs, ...this.events]);
    return runUntilInterrupted(async (interrupt) => (await once(undefined, interrupt)).exitCode);
  }

  #refuseContradictions(): void {
    const pairs = [
      ['--quiet', this.quiet, '--verbose', this.verbose],
      ['--quiet', this.quiet, '--trace', this.trace],
      ['--watch', this.watch, '--checkpoint-dir', this.checkpointDir !== undefined],
      ['--watch', this.watch, '-e -, which can be read only once,', this.events.includes(STANDARD_INPUT)],
    ] as const;
    for (const [one, isOne, other, isOther] of pairs) {
      if (isOne && isOther) throw new CepError('usage_error', `${one} and ${other} exclude each other`);
    }
    if (this.checkpointInterval !== undefined && this.checkpointDir === undefined) {
      throw new CepError('usage_error', '--checkpoint-interval needs --checkpoint-dir');
    }
  }

  async #simulate({ strict, intervalMs, workers, isAsked, partitionBy, signal, interrupt }: RunSettings): Promise<WatchedRun> {
    const paths = programPaths(this.programs);
    const checked = checkProgram(paths);
    const { plan, sources, patterns } = checked;
    const files = [...sources.map(({ name }) => name), ...this.events];
    if (plan === null || !this.quiet)
      this.context.stderr.write(diagnosticsText(checked.diagnostics, this.context.stderr, this.context.env));
    if (plan === null) return { exitCode: 1, files, patterns };
    if (partitionBy !== undefined) requireField(plan, partitionBy);
    const screen = new Screen(this.context, { hasProgress: !this.#showsEvents && !this.json && !this.timed });
    const view = await this.#view(screen, plan);
    const texts = (): readonly string[] => sources.map(({ text }) => text);
    const checkpoints = this.#checkpoints({
      program: () => digestOf([strict, ...(this.timeField === undefined ? [] : [this.timeField])].join(' '), ...texts()),
      intervalMs,
      view,
    });
    const { events: eventsPaths, timed, flush, timeField } = this;
    const source = this.#source;
    const threads = { ...this.#threads(workers, screen, () => digestOf(...texts())), isAsked, partitionBy };
    const { unreadable, isInterrupted } = await Simulation.run(
      {
        plan,
        eventsPaths,
        source,
        timeField,
        explains: !this.quiet,
        tellsOfRules: paths.length > 1,
        preload: !this.streaming,
        timed,
        strict,
        flush,
        checkpoints,
        threads,
        interrupt,
      },
      view,
      signal,
    );
    return { exitCode: isInterrupted ? INTERRUPTED_EXIT_CODE : unreadable > 0 && !this.skipInvalid ? 1 : 0, files, patterns };
  }

  get #source() {
    return { ...eventSource(this), stdin: this.context.stdin };
  }

  get #showsEvents(): boolean {
    return this.verbose || this.trace;
  }

  async #view(screen: Screen, plan: Plan): Promise<SimulationView> {
    const view = this.json ? new JsonView(screen) : new TextView(screen);
    if (this.quiet) return quiet(view);
    const write = (line: string): void => (view instanceof TextView ? view.line(line) : view.note(line));
    const colors = this.json ? screen.err : screen.out;
    if (this.trace) {
      const events = await countEvents(this.events, { ...this.#source, schemas: new EventSchemas(plan.events), timeField: this.timeField });
      return traced(view, new TraceText(write, colors, events), this.json);
    }
    return this.verbose ? verbose(view, write, colors) : view;
  }

  #threads(workers: number, screen: Screen, program: () => string): ThreadSettings {
    const style = { isJson: this.json, isQuiet: this.quiet, hasColors: screen.out.isColorSupported };
    const pieceBytes = this.pieceBytes === undefined ? undefined : Math.max(1, Number(this.pieceBytes) || 1);
    return { workers, style, programPaths: programPaths(this.programs), program, pieceBytes };
  }

  #checkpoints({ program, intervalMs, view }: CheckpointNeeds): Checkpoints | undefined {
    if (this.checkpointDir === undefined) return undefined;
    requireSeekable(this.events, this.#source.format);
    return new Checkpoints({
      folder: this.checkpointDir,
      intervalMs,
      program: program(),
      timed: this.timed,
      note: (text) => view.note(text),
    });
  }
}

interface RunSettings {
  readonly strict: boolean;
  readonly workers: number;
  readonly partitionBy: string | undefined;
  readonly intervalMs: number;
  /** The number of threads was named, or a field to divide by. */
  readonly isAsked: boolean;
  readonly signal: AbortSignal | undefined;
  readonly interrupt: AbortSignal | undefined;
}

interface CheckpointNeeds {
  readonly program: () => string;
  readonly intervalMs: number;
  readonly view: SimulationView;
}

function intervalOf(text: string | undefined): number {
  if (text === undefined) return CHECKPOINT_INTERVAL_MS;
  const ms = readInterval(text);
  if (ms === undefined) throw new CepError('usage_error', intervalProblem('--checkpoint-interval', text));
  return ms;
}

/** Refuses a field that no event can have. Events of types that are not declared may have any. @throws CepError `usage_error` */
function requireField(plan: Plan, name: string): void {
  const declared = new Set(plan.events.map((type) => type.name));
  const fields = new Set(plan.events.flatMap((type) => type.fields.map((field) => field.name)));
  if (fields.has(name) || [...readTypesOf(plan)].some((type) => !declared.has(type))) return;
  const nearest = nearestName(name, fields);
  throw new CepError('usage_error', `--partition-by: no event of the program has a field '${name}'`, {
    hint: nearest === undefined ? `its fields: ${[...fields].join(', ')}` : `did you mean '${nearest}'?`,
  });
}
