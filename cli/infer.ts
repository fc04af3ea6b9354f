import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { readEventFile } from '../shared/events/file.ts';
import { type Inference, inferSchemas, printInference } from '../shared/events/inference.ts';
import type { ReadResult } from '../shared/events/reading/read-result.ts';
import { writeTextFile } from '../shared/files/text-file.ts';
import { printType } from '../shared/language/plan/types.ts';
import { ResultCommand } from './command.ts';
import { counted } from './counts.ts';

export class InferCommand extends ResultCommand {
  static override paths = [['infer']];
  static override usage = Command.Usage({
    category: 'Events',
    description: 'Guess event declarations from an event file',
    details:
      'Looks at the first events of an .evt or .jsonl file. Integers and floats in one field give float, other mixes str; ' +
      'a field that is only null is str?.',
    examples: [
      ['To standard output', '$0 infer -i events.jsonl'],
      [
        'From more events, to a file, with ? where a field may be missing',
        '$0 infer -i events.evt --sample-size 5000 --nullable -o events.vpl',
      ],
    ],
  });

  input = Option.String('-i,--input', { required: true, description: 'Event file, .evt or .jsonl' });
  output = Option.String('-o,--output', { description: 'File to write; standard output without it' });
  sampleSize = Option.String('--sample-size', '100', { description: 'Events to look at (100)' });
  nullable = Option.Boolean('--nullable', false, { description: 'Add ? to fields that are null or missing in some events' });

  override async run(): Promise<undefined> {
    const skipped = new SkippedLines(this.input);
    const results = readEventFile(this.input, { markFloats: true });
    const inference = inferSchemas(skipped.watch(results), readSampleSize(this.sampleSize));
    for (const line of skipped.notes()) this.note(line);
    const text = this.json ? `${JSON.stringify(inferenceData(inference))}\n` : printInference(inference, { nullable: this.nullable });
    if (this.output === undefined) this.print(text);
    else await writeTextFile(this.output, text, 'output file');
  }
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
  readonly #path: string;
  readonly #places: string[] = [];
  #count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  *watch(results: Iterable<ReadResult>): Iterable<ReadResult> {
    for (const result of results) {
      if (result.kind === 'unreadable') this.#skip(`${result.diagnostic.line}:${result.diagnostic.column}: ${result.diagnostic.message}`);
      if (result.kind === 'invalid') this.#skip(`${result.line}: ${result.message}`);
      yield result;
    }
  }

  notes(): string[] {
    const [first] = this.#places;
    return first === undefined ? [] : [`warning: ${counted(this.#count, 'line')} left out, the first is ${this.#path}:${first}`];
  }

  #skip(place: string): void {
    this.#count++;
    if (this.#count === 1) this.#places.push(place);
  }
}
