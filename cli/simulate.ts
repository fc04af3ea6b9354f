import { availableParallelism } from 'node:os';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { EventSchemas } from '../shared/events/schema.ts';
import type { Plan } from '../shared/language/plan/plan.ts';
import { ResultCommand } from './command.ts';
import { intervalProblem, readInterval } from './interval.ts';
import { checkProgram } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { digestOf } from './simulation/checkpoint.ts';
import { Checkpoints, requireReadTwice } from './simulation/checkpoints.ts';
import { countEvents } from './simulation/event-lines.ts';
import { Screen } from './simulation/screen.ts';
import { Simulation } from './simulation/simulation.ts';
import type { ThreadSettings } from './simulation/threads/division.ts';
import { whyNotByLines } from './simulation/threads/line-division.ts';
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

  program = Option.String('-p,--program', { required: true, description: 'Program file' });
  events = Option.String('-e,--events', { required: true, description: 'Event file, .evt or .jsonl' });
  timed = Option.Boolean('--timed', false, { description: 'Replay with the recorded delays' });
  streaming = Option.Boolean('--streaming', false, { description: 'Read line by line instead of the whole file first' });
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
      strict: config.get('processing.strict_events'),
      workers: config.get('processing.workers') ?? availableParallelism(),
      partitionBy: config.get('processing.partition_by'),
      intervalMs: intervalOf(this.checkpointInterval),
    };
    const once = (signal?: AbortSignal): Promise<WatchedRun> => this.#simulate({ ...settings, signal });
    return this.watch ? runAndWatch(once, this.context, [this.program, this.events]) : (await once()).exitCode;
  }

  #refuseContradictions(): void {
    const pairs = [
      ['--quiet', this.quiet, '--verbose', this.verbose],
      ['--quiet', this.quiet, '--trace', this.trace],
      ['--watch', this.watch, '--checkpoint-dir', this.checkpointDir !== undefined],
    ] as const;
    for (const [one, isOne, other, isOther] of pairs) {
      if (isOne && isOther) throw new CepError('usage_error', `${one} and ${other} exclude each other`);
    }
    if (this.checkpointInterval !== undefined && this.checkpointDir === undefined) {
      throw new CepError('usage_error', '--checkpoint-interval needs --checkpoint-dir');
    }
  }

  async #simulate({ strict, intervalMs, workers, partitionBy, signal }: RunSettings): Promise<WatchedRun> {
    const checked = checkProgram(this.program);
    const { plan, sources } = checked;
    const files = [...sources.map(({ name }) => name), this.events];
    if (plan === null || !this.quiet)
      this.context.stderr.write(diagnosticsText(checked.diagnostics, this.context.stderr, this.context.env));
    if (plan === null) return { exitCode: 1, files };
    const screen = new Screen(this.context, { hasProgress: !this.#showsEvents && !this.quiet && !this.json && !this.timed });
    const view = this.#view(screen, plan);
    const checkpoints = this.#checkpoints({ program: digestOf(String(strict), ...sources.map(({ text }) => text)), intervalMs, view });
    const { events: eventsPath, timed, flush } = this;
    const threads = this.#threads(workers, screen, digestOf(...sources.map(({ text }) => text)));
    if (partitionBy !== undefined && workers > 1) this.#warnOfPartition(plan, partitionBy, view);
    const { unreadable } = await Simulation.run(
      { plan, eventsPath, preload: !this.streaming, timed, strict, flush, checkpoints, threads },
      view,
      signal,
    );
    return { exitCode: unreadable > 0 && !this.skipInvalid ? 1 : 0, files };
  }

  get #showsEvents(): boolean {
    return this.verbose || this.trace;
  }

  #view(screen: Screen, plan: Plan): SimulationView {
    const view = this.json ? new JsonView(screen) : new TextView(screen);
    if (this.quiet) return quiet(view);
    const write = (line: string): void => (view instanceof TextView ? view.line(line) : view.note(line));
    const colors = this.json ? screen.err : screen.out;
    if (this.trace)
      return traced(view, new TraceText(write, colors, countEvents(this.events, { schemas: new EventSchemas(plan.events) })), this.json);
    return this.verbose ? verbose(view, write, colors) : view;
  }

  #threads(workers: number, screen: Screen, program: string): ThreadSettings {
    const style = { isJson: this.json, isQuiet: this.quiet, hasColors: screen.out.isColorSupported };
    const pieceBytes = this.pieceBytes === undefined ? undefined : Math.max(1, Number(this.pieceBytes) || 1);
    return { workers, style, programPath: this.program, program, pieceBytes };
  }

  /** What `--partition-by` asks for and cannot be had. */
  #warnOfPartition(plan: Plan, field: string, view: SimulationView): void {
    const isWatched = this.#showsEvents || this.timed || this.checkpointDir !== undefined;
    const reason = isWatched ? 'it goes event by event (--timed, --verbose, --trace, --checkpoint-dir)' : whyNotByLines(plan);
    if (reason === null) return;
    view.note(`warning: --partition-by ${field}: the simulation uses one thread, as ${reason}; results are the same`);
  }

  #checkpoints({ program, intervalMs, view }: CheckpointNeeds): Checkpoints | undefined {
    if (this.checkpointDir === undefined) return undefined;
    requireReadTwice(this.events);
    return new Checkpoints({ folder: this.checkpointDir, intervalMs, program, timed: this.timed, note: (text) => view.note(text) });
  }
}

interface RunSettings {
  readonly strict: boolean;
  readonly workers: number;
  readonly partitionBy: string | undefined;
  readonly intervalMs: number;
  readonly signal: AbortSignal | undefined;
}

interface CheckpointNeeds {
  readonly program: string;
  readonly intervalMs: number;
  readonly view: SimulationView;
}

function intervalOf(text: string | undefined): number {
  if (text === undefined) return CHECKPOINT_INTERVAL_MS;
  const ms = readInterval(text);
  if (ms === undefined) throw new CepError('usage_error', intervalProblem('--checkpoint-interval', text));
  return ms;
}
