import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { type Inference, inferSchemas, printInference } from '../shared/events/inference.ts';
import type { ReadResult } from '../shared/events/reading/read-result.ts';
import { writeTextFile } from '../shared/files/text-file.ts';
import { printType } from '../shared/language/plan/types.ts';
import { ResultCommand } from './command.ts';
import { counted } from './counts.ts';
import { type FileResult, readEventFiles } from './event-files/event-lines.ts';
import { EVENT_FILES, eventSource, eventTypeOption, formatOption } from './event-files/event-options.ts';
import { sourceName } from './event-files/event-source.ts';

export class InferCommand extends ResultCommand {
  static override paths = [['infer']];
  static override usage = Command.Usage({
    category: 'Events',
    description: 'Guess event declarations from an event file',
    details:
      'Looks at the first events of files. Integers and floats in one field give float, other mixes str; ' +
      'a field that is only null is str?. A field that holds points in time is a timestamp, and with it the time of the event.',
    examples: [
      ['To standard output', '$0 infer -e events.jsonl'],
      [
        'From more events, to a file, with ? where a field may be missing',
        '$0 infer -e events.evt --sample-size 5000 --nullable -o events.vpl',
      ],
    ],
  });

  inputs = Option.Array('-e,-i,--input,--events', { required: true, description: EVENT_FILES });
  eventType = eventTypeOption();
  format = formatOption();
  output = Option.String('-o,--output', { description: 'File to write; standard output without it' });
  sampleSize = Option.String('--sample-size', '100', { description: 'Events to look at (100)' });
  timeField = Option.String('--time-field', { description: 'Field that says when an event happened (the one that seems to)' });
  nullable = Option.Boolean('--nullable', false, { description: 'Add ? to fields that are null or missing in some events' });

  override async run(): Promise<undefined> {
    const skipped = new SkippedLines();
    const { timeField } = this;
    const sampleSize = readSampleSize(this.sampleSize);
    const sample = skipped.firstEvents(readEventFiles(this.inputs, this.#reading), sampleSize);
    const inference = inferSchemas(await sample, { sampleSize, timeField });
    for (const line of skipped.notes()) this.note(line);
    if (inference.events === 0) throw noEvents(this.inputs);
    const text = this.json ? `${JSON.stringify(inferenceData(inference))}\n` : printInference(inference, { nullable: this.nullable });
    if (this.output === undefined) this.print(text);
    else await writeTextFile(this.output, text, 'output file');
  }

  get #reading() {
    return { ...eventSource(this), stdin: this.context.stdin, markFloats: true, timeField: this.timeField };
  }
}

function noEvents(paths: readonly string[]): CepError {
  const names = paths.map((path) => `'${sourceName(path)}'`).join(', ');
  return new CepError('validation_error', `no events in ${names}`, {
    hint: 'expected lines such as Login { user: "ann" } or {"event_type": "Login", "user": "ann"}, or CSV with a header',
  });
}

function readSampleSize(text: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(size) && size > 0) return size;
  throw new CepError('usage_error', `--sample-size: expected a number of events, 1 or more, found '${text}'`);
}

function inferenceData({ types, events }: Inference): object {
  const fieldData = ({ name, type, isNullable }: Inference['types'][number]['fields'][number]): object => {
    return { name, type: type.kind === 'null' ? 'str?' : printType(type), nullable: isNullable };
  };
  return { types: types.map(({ name, fields }) => ({ name, fields: fields.map(fieldData) })), events };
}

/** The lines that inference leaves out. */
class SkippedLines {
  readonly #places: string[] = [];
  #count = 0;

  /** The first so many events. */
  async firstEvents(results: AsyncIterable<FileResult>, count: number): Promise<readonly ReadResult[]> {
    const events: ReadResult[] = [];
    for await (const { file, result } of results) {
      if (result.kind === 'unreadable') {
        this.#skip(`${file}:${result.diagnostic.line}:${result.diagnostic.column}: ${result.diagnostic.message}`);
      } else if (result.kind === 'invalid') this.#skip(`${file}:${result.line}: ${result.message}`);
      else if (events.push(result) >= count) break;
    }
    return events;
  }

  notes(): string[] {
    const [first] = this.#places;
    return first === undefined ? [] : [`warning: ${counted(this.#count, 'line')} left out, the first is ${first}`];
  }

  #skip(place: string): void {
    this.#count++;
    if (this.#count === 1) this.#places.push(place);
  }
}
