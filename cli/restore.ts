import { Command, Option } from 'clipanion';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { RestoreAnswer, ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';
import { visible } from './event-text.ts';

export class RestoreCommand extends OnePipelineCommand {
  static override paths = [['restore']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Put the state of a checkpoint into a running pipeline',
    details:
      'The state that it has is lost. Streams that the checkpoint knows get theirs, the others start afresh. Ends with 4 when the ' +
      'document is no checkpoint, or none of its streams is in the program. PIPELINE is an id or a name.',
    examples: [['From a file', '$0 restore rules rules.checkpoint.json']],
  });

  file = Option.String({ name: 'FILE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const document = await this.readFile(this.file, 'checkpoint file');
    const { id, name } = await api.pipeline(this.pipeline);
    const answer = await api.restore(id, document);
    if (this.json) this.printJson(answer);
    else this.print(`Restored ${visible(name)} as it was after ${counted(answer.events_restored, 'event')}\n${streamsText(answer)}`);
  }
}

function streamsText(answer: RestoreAnswer): string {
  const kinds = ['preserved', 'reset'] as const;
  return kinds
    .filter((kind) => answer[kind].length > 0)
    .map((kind) => `  ${`${kind}:`.padEnd(11)}${answer[kind].map(visible).join(', ')}\n`)
    .join('');
}
