import { Command, Option } from 'clipanion';
import { isEnum } from 'typanion';
import { generateConfig } from '../shared/config/generate.ts';
import { configFormats } from '../shared/config/parse.ts';
import { writeTextFile } from '../shared/files/text-file.ts';
import { CepCommand } from './command.ts';

export class ConfigGenCommand extends CepCommand {
  static override paths = [['config-gen']];
  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'Write a commented configuration file with every default',
    examples: [
      ['YAML to standard output', '$0 config-gen'],
      ['TOML to a file', '$0 config-gen --format toml --output cep.toml'],
    ],
  });

  format = Option.String('-f,--format', 'yaml', { description: 'yaml or toml', validator: isEnum(configFormats) });
  output = Option.String('-o,--output', { description: 'File to write; standard output without it' });

  override async run(): Promise<undefined> {
    const text = generateConfig(this.format);
    if (this.output === undefined) this.print(text);
    else await writeTextFile(this.output, text, 'output file');
  }
}
