import { Command } from 'clipanion';
import { MasterKey } from '../shared/security/credentials/master-key.ts';
import { ResultCommand } from './command.ts';

export class CredentialsKeygenCommand extends ResultCommand {
  static override paths = [['credentials', 'keygen']];
  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'Make a master key for a file of credentials',
    details: 'Prints 64 hex digits, 256 random bits. Keep them where the server finds them as CEP_MASTER_KEY, and not beside the file.',
    examples: [['A new key', 'export CEP_MASTER_KEY=$($0 credentials keygen)']],
  });

  override async run(): Promise<undefined> {
    const key = MasterKey.generate();
    if (this.json) this.printJson({ key });
    else this.print(`${key}\n`);
  }
}
