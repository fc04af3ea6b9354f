import { Command, Option } from 'clipanion';
import type { ConnectorDescriptor, ConnectorParameter, ConnectorRole } from '../shared/language/connectors/descriptor.ts';
import { rangeText } from '../shared/language/connectors/parameter-problem.ts';
import { parametersOf } from '../shared/language/connectors/table.ts';
import { tableText } from './client/table.ts';
import { ResultCommand } from './command.ts';
import { builtType } from './connecting/built-type.ts';

const columns = ['Parameter', 'Takes', 'Default', 'Description'].map((title) => ({ title }));
const operators: Readonly<Record<ConnectorRole, string>> = { source: '.from', sink: '.to', enrich: '.enrich' };

export class ConnectorInfoCommand extends ResultCommand {
  static override paths = [['connector', 'info']];
  static override usage = Command.Usage({
    category: 'Connectors',
    description: 'Show the parameters of a type of connector, and an example',
    details: 'Ends with 1 when this build has no such type.',
    examples: [['Of files', '$0 connector info file']],
  });

  type = Option.String({ name: 'TYPE', required: true });

  override async run(): Promise<undefined> {
    const descriptor = builtType(this.type);
    if (this.json) this.printJson(dataOf(descriptor));
    else this.print(textOf(descriptor));
  }
}

function dataOf({ name, aliases = [], summary, built = [], guarantees = {}, example = '', ...descriptor }: ConnectorDescriptor): object {
  const parameters = parametersOf({ ...descriptor, name, summary }).map((parameter) => ({
    name: parameter.name,
    aliases: parameter.aliases ?? [],
    takes: parameter.words ?? parameter.kind,
    range: rangeText(parameter) ?? null,
    default: parameter.default ?? null,
    secret: parameter.secret ?? false,
    description: parameter.summary,
  }));
  return { type: name, aliases, description: summary, roles: built, guarantees, parameters, example };
}

function textOf(descriptor: ConnectorDescriptor): string {
  const { name, aliases = [], summary, built = [], guarantees = {}, example = '' } = descriptor;
  const also = aliases.length === 0 ? '' : ` (also ${aliases.join(', ')})`;
  const promises = built.map((role) => `${operators[role].padEnd(9)}${guarantees[role] ?? ''}\n`);
  const parameters = tableText(columns, parametersOf(descriptor).map(rowOf));
  return `${name}${also}: ${summary}\n\n${promises.join('')}\n${parameters}\nExample:\n\n${example.replace(/^(?=.)/gm, '    ')}\n`;
}

function rowOf(parameter: ConnectorParameter): string[] {
  const { name, aliases = [], kind, words, default: otherwise = '', secret = false, summary } = parameter;
  const takes = words?.join(', ') ?? [kind, rangeText(parameter)].filter(Boolean).join(', ');
  return [[name, ...aliases].join(', '), takes, otherwise, secret ? `${summary} (secret)` : summary];
}
