import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { writeEvt, writeJsonl } from '../shared/events/writer.ts';
import { fileReason } from '../shared/files/file-reason.ts';
import { BufferedOutput } from './buffered-output.ts';
import { CepCommand } from './command.ts';
import { formatByName } from './event-files/event-source.ts';
import { type Generator, programOf } from './generators/generator.ts';
import { Random } from './generators/random.ts';
import { findGenerator, generators } from './generators/table.ts';
import { wholeNumber } from './whole-number.ts';

const FORMATS = ['evt', 'jsonl'] as const;
const RATE_MAX = 1_000_000;
const EVENTS_AT_ONCE = 1_000;

export class GenerateCommand extends CepCommand {
  static override paths = [['generate']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Write an event file of made-up events, or the program that finds what is in it',
    details:
      `Schemas: ${generators.map(({ name, summary }) => `${name} (${summary})`).join('; ')}. The same seed gives the same events, byte ` +
      'for byte, on every machine. What is written is .evt unless --format or the name of the file says otherwise. Ends with 1 for an ' +
      'unknown schema, 2 when the file cannot be written.',
    examples: [
      ['A thousand events', '$0 generate fraud'],
      ['A large file', '$0 generate trading --count 1000000 --rate 10000 --seed 7 -o trading.jsonl'],
      ['Its event types', '$0 generate iot --schema'],
      ['A program that finds what is in it', '$0 generate iot --rules'],
    ],
  });

  schema = Option.String({ name: 'SCHEMA', required: true });
  count = Option.String('-n,--count', '1000', { description: 'How many events (1000)' });
  rate = Option.String('--rate', '1000', { description: 'Events per second, of the times that the events have (1000)' });
  seed = Option.String('--seed', '1', { description: 'Another number gives other events (1)' });
  format = Option.String('--format', { description: 'evt or jsonl' });
  output = Option.String('-o,--output', { description: 'File to write (standard output)' });
  declarations = Option.Boolean('--schema', false, { description: 'Write the event types as a program declares them, and no events' });
  rules = Option.Boolean('--rules', false, { description: 'Write a program that finds what is in the events, and no events' });

  override async run(): Promise<undefined> {
    const generator = findGenerator(this.schema);
    const count = wholeNumber('--count', this.count, 0);
    const rate = wholeNumber('--rate', this.rate, 1);
    if (rate > RATE_MAX) throw new CepError('usage_error', `--rate: expected at most ${RATE_MAX}, found ${rate}`);
    const seed = wholeNumber('--seed', this.seed, 0);
    const format = this.#format();
    await this.#write((out) => {
      if (this.declarations || this.rules) return writeText(out, this.rules ? programOf(generator) : generator.declarations);
      return writeEvents(out, { generator, count, rate, seed, format });
    });
  }

  #format(): (typeof FORMATS)[number] {
    const format = this.format ?? (this.output === undefined ? undefined : formatByName(this.output)) ?? 'evt';
    const known = FORMATS.find((one) => one === format);
    if (known === undefined) throw new CepError('usage_error', `--format: expected evt or jsonl, found '${format}'`);
    return known;
  }

  async #write(action: (out: BufferedOutput) => Promise<void>): Promise<void> {
    if (this.output === undefined) return await writeInto(this.context.stdout, action);
    const file = createWriteStream(this.output);
    try {
      const failed = new Promise<never>((_, reject) => file.once('error', reject));
      await Promise.race([writeInto(file, action).then(() => new Promise<void>((done) => file.end(done))), failed]);
    } catch (cause) {
      if (!(cause instanceof Error) || !('code' in cause)) throw cause;
      throw new CepError('io_error', `'${this.output}' cannot be written: ${fileReason(cause)}`, { cause });
    }
  }
}

async function writeInto(stream: Writable, action: (out: BufferedOutput) => Promise<void>): Promise<void> {
  const out = new BufferedOutput(stream);
  await action(out);
  await out.written();
}

async function writeText(out: BufferedOutput, text: string): Promise<void> {
  out.write(text);
}

interface EventsToWrite {
  readonly generator: Generator;
  readonly count: number;
  readonly rate: number;
  readonly seed: number;
  readonly format: (typeof FORMATS)[number];
}

async function writeEvents(out: BufferedOutput, { generator, count, rate, seed, format }: EventsToWrite): Promise<void> {
  const next = generator.open(new Random(seed));
  const line = format === 'evt' ? writeEvt : writeJsonl;
  for (let index = 0; index < count; index++) {
    out.write(`${line({ ...next(), fallbackTime: Math.floor((index * 1000) / rate) })}\n`);
    if (index % EVENTS_AT_ONCE === 0) await out.ready();
  }
}
