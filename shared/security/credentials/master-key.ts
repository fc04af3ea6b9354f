import { createHash, randomBytes } from 'node:crypto';
import { CepError } from '../../errors/error.ts';

const keyBytes = 32;
const idDigits = 8;

/** The key of a credentials file. Shows nothing of itself but its id. */
export class MasterKey {
  /** Tells keys apart and says nothing about them: hex digits of a digest. */
  readonly id: string;
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.id = createHash('sha256').update('cep master key').update(bytes).digest('hex').slice(0, idDigits);
  }

  /** @param where Says where the text stood. @throws CepError `config_error` unless it is 64 hex digits */
  static parse(text: string, where: string): MasterKey {
    if (/^[0-9a-f]{64}$/i.test(text)) return new MasterKey(Buffer.from(text, 'hex'));
    throw new CepError('config_error', `${where}: expected a master key of ${keyBytes * 2} hex digits, found ${text.length} characters`, {
      hint: 'cep credentials keygen makes one',
    });
  }

  /** The text of a new key. */
  static generate(): string {
    return randomBytes(keyBytes).toString('hex');
  }

  /** For the cipher alone. */
  reveal(): Buffer {
    return this.#bytes;
  }
}
