import { once } from 'node:events';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { EventSchemas } from '../shared/events/schema.ts';
import { check } from '../shared/language/checker/check.ts';
import { SourceText } from '../shared/language/diagnostics/diagnostic.ts';
import { ClientCommand } from './client/client-command.ts';
import { type BatchOptions, type EventBatch, fileBatches, textBatches } from './client/event-batches.ts';
import { outputData, outputText } from './client/output-text.ts';
import type { InjectAnswer, ServerApi } from './client/server-api.ts';
import { colorsFor } from './colors.ts';
import { counted, thousands } from './counts.ts';
import { EventProblems } from './simulation/event-problems.ts';
import { Pace } from './simulation/pace.ts';

const BATCH_EVENTS_DEFAULT = '1000';
const BATCH_EVENTS_MAX = 100_000;

export class InjectCommand extends ClientCommand {
  static override paths = [['inject']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Send events to a pipeline and show the alerts they cause',
    details:
      'Events come from --event, as a line of an event file, or from a file, .evt or .jsonl. They are sent in order, in batches; a batch ' +
      'that is lost on the way is sent again and counts once. The offsets of an .evt file count from the moment the command begins; ' +
      'an event without a time has the time of its arrival. Each event that is refused is reported with its line, the others count. ' +
      'Ends with 1 when one was refused or could not be read. PIPELINE is an id or a name.',
    examples: [
      ['One event', `$0 inject rules --event 'Login { user: "ann", tries: 3 }'`],
      ['A file', '$0 inject rules --file events.evt'],
      ['As fast as it was recorded', '$0 inject rules --file events.evt --timed'],
    ],
  });

  events = Option.Array('-e,--event', [], { description: 'An event, as a line of an event file; can be given several times' });
  file = Option.String('-f,--file', { description: 'Event file, .evt or .jsonl' });
  batchSize = Option.String('--batch-size', BATCH_EVENTS_DEFAULT, { description: `Events in a request (${BATCH_EVENTS_DEFAULT})` });
  timed = Option.Boolean('--timed', false, { description: 'Wait between events as long as was recorded' });
  durable = Option.Boolean('--durable', false, { description: 'Go on only when a batch is on the disk of the server' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Show no alerts, only how many there were' });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const eventsMax = this.#batchSize();
    this.#requireOneSource();
    const pipeline = await api.pipeline(this.pipeline);
    const problems = new EventProblems(this.file ?? '--event', (text) => this.note(text));
    const options: BatchOptions = {
      schemas: schemasOf(pipeline.source),
      problems,
      eventsMax,
      startedAtMs: Date.now(),
      pace: this.timed ? new Pace(undefined) : undefined,
    };
    const totals = { accepted: 0, rejected: 0, alerts: 0 };
    for await (const batch of this.file === undefined ? textBatches(this.events, options) : fileBatches(this.file, options)) {
      const answer = await this.#send(api, pipeline.id, batch);
      totals.accepted += answer.accepted;
      totals.rejected += answer.rejected;
      totals.alerts += answer.output_events?.length ?? 0;
      for (const { index, code, error } of answer.errors) problems.addInvalid(problemOf(batch, index, code, error));
      await this.#show(answer);
    }
    return this.#report(totals, problems);
  }

  #requireOneSource(): void {
    if ((this.file === undefined) === (this.events.length === 0)) {
      throw new CepError('usage_error', this.file === undefined ? 'no events' : '--event and --file are given, expected one of them', {
        hint: 'give events with --event, or a file with --file',
      });
    }
  }

  #batchSize(): number {
    const size = /^\d{1,6}$/.test(this.batchSize) ? Number(this.batchSize) : 0;
    if (size >= 1 && size <= BATCH_EVENTS_MAX) return size;
    throw new CepError('usage_error', `--batch-size: expected a whole number from 1 to ${BATCH_EVENTS_MAX}, found '${this.batchSize}'`);
  }

  async #send(api: ServerApi, id: string, batch: EventBatch): Promise<InjectAnswer> {
    try {
      return await api.inject(id, { lines: batch.text, isDurable: this.durable, hasOutputs: true });
    } catch (error) {
      const first = batch.events[0]?.line ?? 1;
      if (error instanceof CepError) this.note(`events from ${this.file ?? '--event'}:${first} on were not confirmed`);
      throw error;
    }
  }

  async #show({ output_events: outputs = [] }: InjectAnswer): Promise<void> {
    if (this.quiet || outputs.length === 0) return;
    const { stdout, env } = this.context;
    const colors = colorsFor(stdout, env);
    const text = outputs.map((output) => (this.json ? `${JSON.stringify(outputData(output))}\n` : outputText(output, colors))).join('');
    if (!stdout.write(text)) await once(stdout, 'drain');
  }

  #report({ accepted, rejected, alerts }: Record<'accepted' | 'rejected' | 'alerts', number>, problems: EventProblems): number {
    const refused = problems.invalid;
    const { unreadable } = problems;
    if (this.json) {
      this.printJson({
        type: 'summary',
        accepted,
        rejected,
        events_invalid: refused,
        lines_unreadable: unreadable,
        alerts_generated: alerts,
      });
    } else {
      const wrong = [
        ...(refused > 0 ? [`${thousands(refused)} refused`] : []),
        ...(unreadable > 0 ? [`${counted(unreadable, 'line')} unreadable`] : []),
      ];
      this.print(`${[`${counted(accepted, 'event')} accepted`, ...wrong, counted(alerts, 'alert')].join(', ')}\n`);
    }
    return refused + unreadable > 0 ? 1 : 0;
  }
}

/** What the running program declares; a program that this version cannot check declares nothing. */
function schemasOf(source: string): EventSchemas {
  return new EventSchemas(check(new SourceText('program', source)).plan?.events ?? []);
}

function problemOf({ events }: EventBatch, index: number, code: string, error: string) {
  const { line, type } = events[index] ?? { line: 0, type: '' };
  return { line, type, field: '', message: code === 'invalid_event' ? error : `${code}: ${error}` };
}
