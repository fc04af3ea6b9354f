import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { CepCommand } from './command.ts';
import { findGenerator } from './generators/table.ts';
import { runUntilInterrupted } from './interruption.ts';
import { wholeNumber, wholeNumberIn } from './whole-number.ts';

export class DevCommand extends CepCommand {
  static override paths = [['dev']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Work on the rules of a folder while they run',
    details:
      'Starts a server inside the command, deploys every program of the folder, runs their tests, plays the file events.evt (or .jsonl, ' +
      '.csv) of the folder in a loop, and prints the alerts. A program that is saved is taken over, and what it keeps of its state is ' +
      'said; one with errors leaves the one before running. Events that are saved are played anew. The server takes port 9000 when it is free, else any. Ctrl+C ends it with 0; ' +
      'ends with 2 when the folder is missing or holds no program.',
    examples: [
      ['An example', '$0 dev examples/card-testing'],
      ['With made-up events', '$0 dev rules --generate fraud --rate 50'],
    ],
  });

  folder = Option.String({ name: 'FOLDER', required: true });
  port = Option.String('-p,--port', { description: 'Port of the server (9000 when it is free, else any)' });
  generate = Option.String('--generate', { description: 'Make events of this schema (fraud, iot, trading) in place of a file' });
  rate = Option.String('--rate', '100', { description: 'Made-up events per second (100)' });

  override async run(): Promise<number> {
    requireFolder(this.folder);
    const settings = {
      folder: this.folder,
      port: this.port === undefined ? undefined : wholeNumberIn('--port', this.port, [0, 65_535]),
      generator: this.generate === undefined ? undefined : findGenerator(this.generate),
      rate: wholeNumber('--rate', this.rate, 1),
    };
    const { develop } = await import('./developing/develop.ts'); // Help and completion do without it.
    return runUntilInterrupted(async (interrupt) => {
      await develop(settings, this.context, interrupt);
      return 0;
    });
  }
}

function requireFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CepError('file_not_found', `folder '${path}' not found`, { hint: 'cep init FOLDER begins one' });
  if (!found.isDirectory())
    throw new CepError('io_error', `'${path}' is a file, expected the folder of the rules`, { hint: `cep dev ${dirname(path)}` });
}
