import { Command } from 'clipanion';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';

export class StartCommand extends OnePipelineCommand {
  static override paths = [['start']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Start a pipeline that was stopped or has failed',
    details: 'It goes on with the state it was stopped with; one that has failed, with its last good state. PIPELINE is an id or a name.',
    examples: [['By name', '$0 start rules']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const entry = await api.start(id);
    if (this.json) this.printJson(entry);
    else this.print(`Started ${visible(entry.name)}: ${entry.status}, id ${id}\n`);
  }
}
