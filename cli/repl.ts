import { Command, Option } from 'clipanion';
import { CepCommand } from './command.ts';

export class ReplCommand extends CepCommand {
  static override paths = [['repl']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Type a program line by line, send events, see what comes of them',
    details:
      'What is typed is code, but for commands such as :event, :load and :help. Each statement is put into the running program, which keeps ' +
      'the state of everything that did not change. On a terminal, Tab completes names and the history is kept in ~/.cep_history; lines may ' +
      'also be piped in. Ends with 0.',
    examples: [
      ['An empty program', '$0 repl'],
      ['A program to change', '$0 repl --file rules.vpl'],
    ],
  });

  file = Option.String('--file', { description: 'Program to begin with' });

  override async run(): Promise<undefined> {
    const { converse } = await import('./repl/conversation.ts'); // Help and completion do without it.
    await converse(this.context, this.file);
  }
}
