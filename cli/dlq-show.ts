import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { DeadLettersAnswer, ServerApi } from './client/server-api.ts';

type Letter = DeadLettersAnswer['entries'][number];

export class DlqShowCommand extends OnePipelineCommand {
  static override paths = [['dlq', 'show']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Show the dead letters with one id, whole',
    details:
      'An event that two sinks did not take has two. What came from a source and is no event is shown with its bytes: as text where they ' +
      'are text, else in base64. PIPELINE is an id or a name, ID as `cep dlq ls` shows it.',
    examples: [['By name', '$0 dlq show rules p_1-12-0']],
  });

  letter = Option.String({ name: 'ID', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const { entries } = await api.deadLetters(id, 1_000, { id: this.letter });
    if (entries.length === 0) {
      throw new CepError('usage_error', `the pipeline has no dead letter '${this.letter}'`, { hint: 'cep dlq ls lists those there are' });
    }
    if (this.json) this.printJson(entries);
    else this.print(entries.map(textOf).join('\n'));
  }
}

/** A line for each member; what has members of its own as JSON. */
function textOf(letter: Letter): string {
  const lines = Object.entries(letter).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${lines.join('\n')}\n`;
}
