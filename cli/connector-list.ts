import { Command } from 'clipanion';
import { connectors } from '../shared/language/connectors/table.ts';
import { tableText } from './client/table.ts';
import { ResultCommand } from './command.ts';

const columns = ['Type', 'Description', 'Source', 'Sink', 'Managed'].map((title) => ({ title }));

export class ConnectorListCommand extends ResultCommand {
  static override paths = [['connector', 'list']];
  static override usage = Command.Usage({
    category: 'Connectors',
    description: 'List the types of connectors that this build can use',
    details: 'Managed are those whose connection is kept up, and made again when it is lost.',
    examples: [['As a table', '$0 connector list']],
  });

  override async run(): Promise<undefined> {
    const rows = connectors.flatMap(({ name, summary, built = [] }) => {
      const [source, sink] = [built.includes('source'), built.includes('sink')];
      return built.length === 0 ? [] : [{ type: name, description: summary, source, sink, managed: name !== 'console' }];
    });
    if (this.json) this.printJson({ connectors: rows });
    else
      this.print(
        tableText(
          columns,
          rows.map((row) => Object.values(row).map(shown)),
        ),
      );
  }
}

function shown(value: string | boolean): string {
  if (typeof value === 'string') return value;
  return value ? 'yes' : 'no';
}
