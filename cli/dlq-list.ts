import { Command, Option } from 'clipanion';
import { limits } from '../shared/limits.ts';
import { LettersCommand } from './client/letters-command.ts';
import type { DeadLettersAnswer, ServerApi } from './client/server-api.ts';
import { tableText } from './client/table.ts';
import { counted } from './counts.ts';
import { wholeNumberIn } from './whole-number.ts';

const columns = [
  { title: 'TIME' },
  { title: 'ID' },
  { title: 'CONNECTOR' },
  { title: 'EVENT' },
  { title: 'ATTEMPTS', isNumber: true },
  { title: 'CODE' },
  { title: 'ERROR' },
];

export class DlqListCommand extends LettersCommand {
  static override paths = [
    ['dlq', 'ls'],
    ['dlq', 'list'],
  ];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'List the dead letters of a pipeline: alerts that a sink did not take',
    details: 'Oldest first. With --json each letter is shown whole. PIPELINE is an id or a name. Also `cep dlq list`.',
    examples: [
      ['By name', '$0 dlq ls rules'],
      ['Those that one sink did not take while it was down', '$0 dlq ls rules --connector Hook --code circuit_open'],
    ],
  });

  limit = Option.String('-n,--limit', '50', { description: 'How many to show at most, up to 1000 (50)' });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const limit = wholeNumberIn('--limit', this.limit, [1, limits.pageEntriesMax]);
    const { id } = await api.pipeline(this.pipeline);
    const letters = await api.deadLetters(id, limit, this.choice);
    if (letters.total === 0) await this.requireConnector(api, id);
    if (this.json) this.printJson({ entries: letters.entries, total: letters.total });
    else if (letters.total === 0) this.print('No dead letters.\n');
    else this.#show(letters);
  }

  #show({ entries, total }: DeadLettersAnswer): void {
    this.print(tableText(columns, entries.map(rowOf)));
    if (entries.length < total) this.note(`${counted(total, 'dead letter')} in all, the oldest ${entries.length} are shown`);
  }
}

function rowOf(letter: DeadLettersAnswer['entries'][number]): string[] {
  const { timestamp, id, connector, event, attempts, code, error } = letter;
  const type = typeof event === 'object' && event !== null && 'event_type' in event ? event.event_type : '';
  return [timestamp, id, connector, type, attempts, code, error].map(String);
}
