import { Command, Option } from 'clipanion';
import { writeTextFile } from '../shared/files/text-file.ts';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';
import { visible } from './event-text.ts';

export class CheckpointCommand extends OnePipelineCommand {
  static override paths = [['checkpoint']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Capture the state of a pipeline as a document',
    details: 'The document is for restore, into this pipeline or another, here or on another server. PIPELINE is an id or a name.',
    examples: [
      ['Into a file', '$0 checkpoint rules --output rules.checkpoint.json'],
      ['To standard output', '$0 checkpoint rules'],
    ],
  });

  output = Option.String('-o,--output', { description: 'File to write; standard output without it' });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id, name } = await api.pipeline(this.pipeline);
    const document = await api.checkpoint(id);
    if (this.output === undefined) {
      this.printJson(document);
      return;
    }
    await writeTextFile(this.output, `${JSON.stringify(document)}\n`, 'checkpoint file');
    const facts = { id, name, file: this.output, events_processed: document.events_processed };
    if (this.json) this.printJson(facts);
    else this.print(`Checkpoint of ${visible(name)} after ${counted(facts.events_processed, 'event')}: ${this.output}\n`);
  }
}
