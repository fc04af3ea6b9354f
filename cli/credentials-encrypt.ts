import { Command, Option } from 'clipanion';
import { encryptCredentials } from '../shared/security/credentials/change-credentials.ts';
import { ResultCommand } from './command.ts';
import { masterKeyOf } from './master-key-setting.ts';

export class CredentialsEncryptCommand extends ResultCommand {
  static override paths = [['credentials', 'encrypt']];
  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'Encrypt the values of a file of credentials',
    details:
      'Encrypts every text among the properties of the profiles that is not encrypted yet, with the key in CEP_MASTER_KEY, and ' +
      'writes the file again, with mode 600. Each value belongs to its entry: moved to another one it does not open. ' +
      'Ends with 2 when the file is missing, 3 when it or the key is wrong; the file is as it was then.',
    examples: [['In place', '$0 credentials encrypt credentials.yaml']],
  });

  file = Option.String({ name: 'FILE', required: true });

  override async run(): Promise<undefined> {
    const key = masterKeyOf(await this.loadConfig());
    const { encrypted, before } = await encryptCredentials(this.file, key);
    if (this.json) this.printJson({ encrypted, encrypted_before: before, key_id: key.id });
    else this.print(`Encrypted ${encrypted} values with the key ${key.id}; ${before} were encrypted before\n`);
  }
}
