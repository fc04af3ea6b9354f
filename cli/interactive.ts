import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { CepCommand } from './command.ts';
import { findGenerator } from './generators/table.ts';
import { runUntilInterrupted } from './interruption.ts';
import { wholeNumber } from './whole-number.ts';

export class InteractiveCommand extends CepCommand {
  static override paths = [['interactive']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Change a program while events come in',
    details:
      'With --json, commands are lines of JSON on standard input and answers lines of JSON on standard output; ' +
      'a program that is loaded keeps the state that still fits. docs/interactive.md has every command and answer. Ends with 0, ' +
      'and with 2 when the program file is missing.',
    examples: [
      ['For another program to talk to', '$0 interactive --json'],
      ['A program, with made-up events', '$0 interactive --json -f rules.vpl --generate fraud --rate 100'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'Commands and answers are lines of JSON' });
  file = Option.String('-f,--file', { description: 'Program to begin with' });
  generate = Option.String('--generate', { description: 'Make events of this schema: fraud, iot or trading' });
  rate = Option.String('--rate', '1000', { description: 'Made-up events per second (1000)' });
  trace = Option.Boolean('--trace', false, { description: 'Say what streams and operators decide' });

  override async run(): Promise<number> {
    const { JsonSession, RATE_MAX } = await import('./interacting/json-session.ts'); // Help and completion do without it.
    if (this.generate !== undefined) findGenerator(this.generate);
    const rate = wholeNumber('--rate', this.rate, 1);
    if (rate > RATE_MAX) throw new CepError('usage_error', `--rate: expected at most ${RATE_MAX}, found ${rate}`);
    const settings = { file: this.file, generate: this.generate, rate, isTraced: this.trace };
    if (!this.json) this.note('there is no terminal view yet: commands are lines of JSON, as with --json');
    return runUntilInterrupted(async (interrupt) => {
      await new JsonSession(settings, this.context).run(this.context.stdin, interrupt);
      return 0;
    });
  }
}
