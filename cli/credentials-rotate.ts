import { Command, Option } from 'clipanion';
import { rotateCredentials } from '../shared/security/credentials/change-credentials.ts';
import { ResultCommand } from './command.ts';
import { masterKeyOf, requireMasterKey } from './master-key-setting.ts';

export class CredentialsRotateCommand extends ResultCommand {
  static override paths = [['credentials', 'rotate']];
  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'Encrypt a file of credentials with another key',
    details:
      'Opens what is encrypted with the key in CEP_MASTER_KEY, and encrypts it with the key in CEP_NEW_MASTER_KEY. ' +
      'Ends with 2 when the file is missing, 3 when it or a key is wrong; the file is as it was then.',
    examples: [
      ['A new key', 'export CEP_NEW_MASTER_KEY=$($0 credentials keygen)'],
      ['In place', '$0 credentials rotate credentials.yaml'],
    ],
  });

  file = Option.String({ name: 'FILE', required: true });

  override async run(): Promise<undefined> {
    const from = masterKeyOf(await this.loadConfig());
    const to = requireMasterKey(this.context.env['CEP_NEW_MASTER_KEY'], 'CEP_NEW_MASTER_KEY');
    const encrypted = await rotateCredentials(this.file, { from, to });
    if (this.json) this.printJson({ encrypted, key_id: to.id });
    else this.print(`Encrypted ${encrypted} values with the key ${to.id}\n`);
  }
}
