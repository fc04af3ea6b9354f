import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import type { Fields } from '../shared/events/event.ts';
import { EventSchemas } from '../shared/events/schema.ts';
import { timeLikeField } from '../shared/events/time-like.ts';
import { check } from '../shared/language/checker/check.ts';
import { SourceText } from '../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../shared/language/plan/plan.ts';
import { ImportReader } from '../worker/runtime/programs/program-files.ts';
import { mainName, type ProgramFolder } from '../worker/runtime/programs/program-folder.ts';
import { BufferedOutput } from './buffered-output.ts';
import { AnswerNotes, incompleteLines } from './client/answer-notes.ts';
import { ClientCommand } from './client/client-command.ts';
import {
  type BatchOptions,
  type EventBatch,
  fileBatches,
  isEventText,
  lastOffset,
  problemOf,
  textBatches,
} from './client/event-batches.ts';
import { outputData, outputText } from './client/output-text.ts';
import type { InjectAnswer, PipelineEntry, ServerApi } from './client/server-api.ts';
import { UnknownSchemas } from './client/unknown-schemas.ts';
import { colorsFor } from './colors.ts';
import { counted, thousands } from './counts.ts';
import { EVENT_FILES, eventSource, eventTypeOption, formatOption } from './event-files/event-options.ts';
import { isReadTwice, sourceName } from './event-files/event-source.ts';
import { noteData, noteLines } from './explaining/input-notes.ts';
import { emittingStreams, missingAlertsText, type StreamMiss, streamMisses, toldStreams } from './explaining/missing-alerts.ts';
import { toldExplanation } from './explaining/told-explanation.ts';
import { onLostOutput } from './lost-output.ts';
import { EventProblems } from './simulation/event-problems.ts';
import { Pace } from './simulation/pace.ts';
import type { UntimedEvents } from './simulation/untimed-events.ts';
import { wholeNumberIn } from './whole-number.ts';

/** A server is asked why nothing came only where it has no more state than this to look at. */
const EXPLAINED_STATE_BYTES_MAX = 4_194_304;
const EXPLAINED_RUNS_MAX = 10_000;
/** Events without a time that are looked at for a field that says it. */
const UNTIMED_SAMPLE = 1_000;

const BATCH_EVENTS_DEFAULT = '1000';
const BATCH_EVENTS_MAX = 100_000;

export class InjectCommand extends ClientCommand {
  static override paths = [['inject']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Send events to a pipeline and show the alerts they cause',
    details:
      'Events come from --event, as a line of an event file, or from a file, .evt or .jsonl. They are sent in order, in batches; a batch ' +
      'that is lost on the way is sent again and counts once. The offsets of an .evt file are placed so that its last event has the time ' +
      'at which the command begins; with --timed or --from-now they count from that time on. An event without a time has that of its ' +
      'arrival. Where no alert comes, it is said what of the events had no effect, and how far the streams came. Each event that is refused is reported with its line, the others count. ' +
      'Ends with 1 when one was refused or could not be read. PIPELINE is an id or a name.',
    examples: [
      ['One event', `$0 inject rules --event 'Login { user: "ann", tries: 3 }'`],
      ['A file', '$0 inject rules --file events.evt'],
      ['As fast as it was recorded', '$0 inject rules --file events.evt --timed'],
    ],
  });

  events = Option.Array('-e,--event', [], {
    description: 'An event, as a line of an event file, or an event file; can be given several times',
  });
  namedFiles = Option.Array('-f,--file,--events', [], { description: EVENT_FILES });
  eventType = eventTypeOption();
  format = formatOption();
  batchSize = Option.String('--batch-size', BATCH_EVENTS_DEFAULT, { description: `Events in a request (${BATCH_EVENTS_DEFAULT})` });
  timed = Option.Boolean('--timed', false, { description: 'Wait between events as long as was recorded' });
  timeField = Option.String('--time-field', { description: 'Field that says when an event happened, before anything else does' });
  fromNow = Option.Boolean('--from-now', false, {
    description: 'Count the offsets of an .evt file from now on: time goes ahead with them, and what arrives meanwhile is late',
  });
  durable = Option.Boolean('--durable', false, { description: 'Go on only when a batch is on the disk of the server' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Show no alerts, only how many there were' });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const eventsMax = this.#batchSize();
    this.#requireOneSource();
    // Where the alerts cannot be shown, the events are sent all the same.
    const lost: { problem?: CepError | undefined } = {};
    onLostOutput(this.context.stdout, (problem) => {
      this.quiet = true;
      lost.problem ??= problem;
    });
    const pipeline = await api.pipeline(this.pipeline);
    const problems = new EventProblems('--event', (text) => this.note(text));
    const plan = planOf(pipeline);
    const schemas = plan === null ? new UnknownSchemas(pipeline.name) : new EventSchemas(plan.events);
    const totals: Totals = { accepted: 0, rejected: 0, alerts: 0, notes: new AnswerNotes(), untimed: 0, untimedSample: [] };
    const source = { ...eventSource(this), stdin: this.context.stdin };
    const options: BatchOptions = {
      source,
      schemas,
      timeField: this.timeField,
      problems,
      eventsMax,
      startedAtMs: Date.now() - (await this.#length({ source, schemas })),
      untimed: (fields) => noteUntimed(totals, fields),
      unknown: (members) => totals.notes.addUnknown(members),
      pace: this.timed ? new Pace(undefined) : undefined,
    };
    for await (const { file, batch } of this.#batches(options)) {
      problems.file = file;
      const answer = await this.#send(api, pipeline.id, file, batch);
      totals.accepted += answer.accepted;
      totals.rejected += answer.rejected;
      totals.alerts += (answer.output_events?.length ?? 0) + (answer.outputs_omitted ?? 0);
      totals.notes.add(answer);
      for (const { index, code, error } of answer.errors) problems.addInvalid(problemOf(batch, index, code, error));
      await this.#show(answer);
    }
    const misses = totals.alerts > 0 || this.quiet || plan === null ? [] : await this.#misses(api, pipeline.id, plan);
    const exitCode = this.#report(totals, problems, misses);
    if (lost.problem !== undefined) throw lost.problem;
    return exitCode;
  }

  /** How far back the offsets of a file begin, so that its last event has the time of now; ms. */
  async #length(reading: Pick<BatchOptions, 'source' | 'schemas'>): Promise<number> {
    if (this.timed || this.fromNow) return 0;
    let length = 0;
    for (const file of this.#files) {
      if (isReadTwice(file)) length = Math.max(length, await lastOffset(file, reading));
      else this.note(`the offsets of '${sourceName(file)}' count from now on: it can be read only once`);
    }
    return length;
  }

  get #files(): readonly string[] {
    return [...this.namedFiles, ...this.events.filter((text) => !isEventText(text))];
  }

  get #texts(): readonly string[] {
    return this.events.filter(isEventText);
  }

  async *#batches(options: BatchOptions): AsyncGenerator<{ readonly file: string; readonly batch: EventBatch }, void, undefined> {
    if (this.#texts.length > 0) for await (const batch of textBatches(this.#texts, options)) yield { file: '--event', batch };
    for (const path of this.#files) {
      options.problems.file = sourceName(path);
      for await (const batch of fileBatches(path, options)) yield { file: sourceName(path), batch };
    }
  }

  /** How far the streams came, as far as it costs the server little to say so. */
  async #misses(api: ServerApi, id: string, plan: Plan): Promise<readonly StreamMiss[]> {
    const streams = emittingStreams(plan);
    if (streams.length === 0) return [];
    try {
      const { state_bytes: bytes, active_runs: runs, streams: counts } = await api.metrics(id);
      if (bytes > EXPLAINED_STATE_BYTES_MAX || runs > EXPLAINED_RUNS_MAX) return [];
      const reached = new Set(counts.filter(({ events_in: events }) => events > 0).map(({ name }) => name));
      const asked = toldStreams(streams, (stream) => reached.has(stream));
      const told = await Promise.all(asked.map((stream) => api.explain(id, stream)));
      return streamMisses(told.map(toldExplanation), false);
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      this.note(`what the streams wait for cannot be told: ${error.message}`);
      return [];
    }
  }

  #requireOneSource(): void {
    const hasFiles = this.#files.length > 0;
    if (hasFiles === this.#texts.length > 0) {
      throw new CepError('usage_error', hasFiles ? '--event and --file are given, expected one of them' : 'no events', {
        hint: 'give events with --event, or files with --file',
      });
    }
  }

  #batchSize(): number {
    return wholeNumberIn('--batch-size', this.batchSize, [1, BATCH_EVENTS_MAX]);
  }

  async #send(api: ServerApi, id: string, file: string, batch: EventBatch): Promise<InjectAnswer> {
    try {
      return await api.inject(id, { lines: batch.text, isDurable: this.durable, hasOutputs: true });
    } catch (error) {
      const first = batch.events[0]?.line ?? 1;
      if (error instanceof CepError) this.note(`events from ${file}:${first} on were not confirmed`);
      throw error;
    }
  }

  async #show({ output_events: outputs = [] }: InjectAnswer): Promise<void> {
    if (this.quiet || outputs.length === 0) return;
    const { stdout, env } = this.context;
    const colors = colorsFor(stdout, env);
    const shown = new BufferedOutput(stdout);
    for (const output of outputs) shown.write(this.json ? `${JSON.stringify(outputData(output))}\n` : outputText(output, colors));
    shown.flush();
    await shown.ready();
  }

  #report(totals: Totals, problems: EventProblems, misses: readonly StreamMiss[]): number {
    const { accepted, rejected, alerts, notes } = totals;
    const input = { ...notes.input, untimed: untimedOf(totals, this.timeField) };
    const refused = problems.invalid;
    const { unreadable } = problems;
    if (this.json) {
      this.printJson({
        type: 'summary',
        accepted,
        rejected,
        events_invalid: refused,
        events_incomplete: notes.incomplete,
        incomplete_fields: notes.incompleteFields,
        ...noteData(input),
        lines_unreadable: unreadable,
        alerts_generated: alerts,
        ...(misses.length === 0 ? {} : { misses }),
      });
    } else {
      const lines = [...noteLines(input), ...incompleteLines(notes)];
      const shown = alerts > 0 || lines.length + misses.length === 0 ? lines : missingAlertsText(accepted, lines, misses);
      for (const line of shown) this.print(`${line}\n`);
      const wrong = [
        ...(refused > 0 ? [`${thousands(refused)} refused`] : []),
        ...(unreadable > 0 ? [`${counted(unreadable, 'line')} unreadable`] : []),
      ];
      this.print(`${[`${counted(accepted, 'event')} accepted`, ...wrong, counted(alerts, 'alert')].join(', ')}\n`);
    }
    return refused + unreadable > 0 ? 1 : 0;
  }
}

interface Totals {
  accepted: number;
  rejected: number;
  alerts: number;
  readonly notes: AnswerNotes;
  /** Events of a file that say no time, and the fields of the first of them. */
  untimed: number;
  readonly untimedSample: Fields[];
}

function noteUntimed(totals: Totals, fields: Fields): void {
  totals.untimed++;
  if (totals.untimedSample.length < UNTIMED_SAMPLE) totals.untimedSample.push(fields);
}

/** Worth a line only where a field looks like the time: events that are sent as they happen need none. */
function untimedOf({ untimed: count, untimedSample }: Totals, timeField: string | undefined): UntimedEvents | undefined {
  const field = count === 0 ? undefined : timeLikeField(untimedSample);
  return field === undefined ? undefined : { count, time: 'arrival', field, timeField };
}

/** The running program, with the files that it imports as the server has them; null when this version cannot check it. */
function planOf(program: PipelineEntry): Plan | null {
  const folder: ProgramFolder = { path: null, refused: [] };
  const { resolveImport } = new ImportReader(folder, program);
  return check(new SourceText(mainName(folder, program.path), program.source), { resolveImport }).plan;
}
