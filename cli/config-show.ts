import { Command } from 'clipanion';
import { configToJson, showConfig } from '../shared/config/show.ts';
import { ResultCommand } from './command.ts';
import { settingFlags, settingOptions } from './setting-options.ts';

export class ConfigShowCommand extends ResultCommand {
  static override paths = [['config', 'show']];
  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'Show every setting and where it comes from',
    details:
      'Takes the flags of other commands that stand for a setting, so that what a command would use can be seen. ' +
      'Order: flag, environment variable, file, default.',
    examples: [
      ['Settings of a file', '$0 config show --config cep.yaml'],
      ['Settings as data', '$0 config show --json'],
    ],
  });

  /** The option that every command takes is one of the settings here. */
  override credentials = undefined;

  constructor() {
    super();
    Object.assign(this, settingOptions());
  }

  override async run(): Promise<undefined> {
    const config = await this.loadConfig(settingFlags(this));
    if (this.json) this.printJson(configToJson(config));
    else this.print(showConfig(config));
  }
}
