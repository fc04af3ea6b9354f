import type { Config } from '../shared/config/config.ts';
import { CepError } from '../shared/errors/error.ts';
import { MasterKey } from '../shared/security/credentials/master-key.ts';

/** The key that the settings have. @throws CepError `config_error` when there is none, or it is none */
export function masterKeyOf(config: Config): MasterKey {
  return requireMasterKey(config.get('server.master_key'), 'CEP_MASTER_KEY');
}

/** @param variable Where the text stands. @throws CepError as `masterKeyOf` */
export function requireMasterKey(text: string | undefined, variable: string): MasterKey {
  if (text) return MasterKey.parse(text, variable);
  throw new CepError('config_error', `${variable} is not set`, { hint: 'cep credentials keygen makes a key' });
}
