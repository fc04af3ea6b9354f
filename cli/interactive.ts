import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { CepCommand } from './command.ts';
import { findGenerator } from './generators/table.ts';
import type { InteractiveSettings } from './interacting/json-session.ts';
import type { TerminalSessionOptions } from './interacting/terminal/terminal-session.ts';
import { runUntilInterrupted } from './interruption.ts';
import { loadViews } from './terminal/load-views.ts';
import { terminalOf } from './terminal/terminal.ts';
import { wholeNumber } from './whole-number.ts';

export class InteractiveCommand extends CepCommand {
  static override paths = [['interactive']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Change a program while events come in',
    details:
      'On a terminal the screen has the program, its outputs, the events that come in, metrics and a prompt; Tab switches between them, ' +
      'Ctrl+R runs the program as it stands, Ctrl+G makes events, Ctrl+Q quits. With --json, and where nothing can be drawn, commands are lines of JSON on standard input and answers lines of JSON on standard output; ' +
      'a program that is loaded keeps the state that still fits. docs/interactive.md has every command and answer. Ends with 0, ' +
      'and with 2 when the program file is missing.',
    examples: [
      ['A screen, with events that are made up', '$0 interactive --generate fraud'],
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
    const { RATE_MAX } = await import('./interacting/json-session.ts'); // Help and completion do without it.
    if (this.generate !== undefined) findGenerator(this.generate);
    const rate = wholeNumber('--rate', this.rate, 1);
    if (rate > RATE_MAX) throw new CepError('usage_error', `--rate: expected at most ${RATE_MAX}, found ${rate}`);
    const settings = { file: this.file, generate: this.generate, rate, isTraced: this.trace };
    const drawing = this.json ? undefined : await this.#drawing();
    return drawing === undefined ? await this.#talk(settings) : await this.#show(settings, drawing);
  }

  async #talk(settings: InteractiveSettings): Promise<number> {
    const { JsonSession } = await import('./interacting/json-session.ts');
    return runUntilInterrupted(async (interrupt) => {
      await new JsonSession(settings, this.context).run(this.context.stdin, interrupt);
      return 0;
    });
  }

  async #show(settings: InteractiveSettings, drawing: Drawing): Promise<number> {
    const { showSession } = await import('./interacting/terminal/terminal-session.ts');
    return runUntilInterrupted(async (interrupt) => {
      this.print(`${await showSession({ settings, ...drawing, env: this.context.env, interrupt })}\n`);
      return 0;
    });
  }

  /** Undefined, and said, where nothing can be drawn. */
  async #drawing(): Promise<Drawing | undefined> {
    const terminal = terminalOf(this.context);
    const views = terminal === undefined ? undefined : await loadViews(this.context.env);
    if (terminal !== undefined && views !== undefined) return { views, terminal };
    const why =
      terminal === undefined ? 'this is no terminal' : "the terminal view needs the packages ink and react ('npm install ink react')";
    this.note(`${why}: commands are lines of JSON, as with --json`);
    return undefined;
  }
}

type Drawing = Pick<TerminalSessionOptions, 'views' | 'terminal'>;
