import { Command } from 'clipanion';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';

export class DlqClearCommand extends OnePipelineCommand {
  static override paths = [['dlq', 'clear']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Forget the dead letters of a pipeline',
    details: 'Nobody is asked, and nothing brings them back. PIPELINE is an id or a name.',
    examples: [['By name', '$0 dlq clear rules']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const answer = await api.clearDeadLetters(id);
    if (this.json) this.printJson(answer);
    else this.print(`${counted(answer.cleared, 'dead letter')} forgotten\n`);
  }
}
