import { Command } from 'clipanion';
import { LettersCommand } from './client/letters-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';

export class DlqDiscardCommand extends LettersCommand {
  static override paths = [
    ['dlq', 'discard'],
    ['dlq', 'clear'],
  ];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Forget the dead letters of a pipeline',
    details: 'Nobody is asked, and nothing brings them back. PIPELINE is an id or a name. Also `cep dlq clear`.',
    examples: [
      ['All of them', '$0 dlq discard rules'],
      ['Those that are no events', '$0 dlq discard rules --code unreadable_message'],
    ],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const answer = await api.clearDeadLetters(id, this.choice);
    if (answer.cleared === 0) await this.requireConnector(api, id);
    if (this.json) this.printJson(answer);
    else this.print(`${counted(answer.cleared, 'dead letter')} forgotten\n`);
  }
}
