import type { FileHandle } from 'node:fs/promises';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { CepError } from '../../errors/error.ts';
import type { Value } from '../../events/value.ts';
import { readTextFile } from '../../files/text-file.ts';
import { connectors, findConnectorParameter } from '../../language/connectors/table.ts';
import { CredentialsDocument, type ProfileDocument, type TextEntry } from './credentials-document.ts';
import { MasterKey } from './master-key.ts';
import { looksSealed, unseal } from './sealed-text.ts';

/** Parameters that connectors take over by `profile: "name"`. */
export interface Profile {
  /** As the language calls the type; undefined = any. */
  readonly connectorType: string | undefined;
  /** Decrypted. */
  readonly properties: ReadonlyMap<string, Value>;
  /** The texts among them that nobody may see. */
  readonly secrets: readonly string[];
}

/** By name. Who keeps them asks again for a profile that it uses: the file may have been read again. */
export type Profiles = ReadonlyMap<string, Profile>;

/** A credentials file, and what it said when it was read last. */
export class CredentialsFile {
  readonly #path: string;
  readonly #masterKey: string | undefined;
  readonly #profiles: Map<string, Profile>;

  private constructor(path: string, masterKey: string | undefined, profiles: Profiles) {
    this.#path = path;
    this.#masterKey = masterKey;
    this.#profiles = new Map(profiles);
  }

  /** @throws CepError as `readProfiles` */
  static async read(path: string, masterKey: string | undefined): Promise<CredentialsFile> {
    return new CredentialsFile(path, masterKey, await readProfiles(path, masterKey));
  }

  /** Always the same map, with what was read last. */
  get profiles(): Profiles {
    return this.#profiles;
  }

  /** The texts that nobody may see. */
  get secrets(): readonly string[] {
    return Array.from(this.#profiles.values(), ({ secrets }) => secrets).flat();
  }

  /** Reads it again; all of it is taken over, or nothing. @throws CepError as `readProfiles` */
  async readAgain(): Promise<void> {
    const found = await readProfiles(this.#path, this.#masterKey);
    this.#profiles.clear();
    for (const [name, profile] of found) this.#profiles.set(name, profile);
  }
}

const forOthers = 0o077;

/**
 * Reads a credentials file and decrypts what is encrypted in it.
 * @param masterKey The text of `CEP_MASTER_KEY`.
 * @throws CepError `file_not_found`, `io_error`; `config_error` when others can read the file, it is wrong, or the key does not open it
 */
export async function readProfiles(path: string, masterKey: string | undefined): Promise<Profiles> {
  // The mode is asked of the file that is read, not of whatever has its name by then.
  const text = await readTextFile(path, 'credentials file', (file) => requirePrivate(file, path));
  const document = new CredentialsDocument(text, path);
  const key = masterKey === undefined ? undefined : MasterKey.parse(masterKey, 'CEP_MASTER_KEY');
  return new Map(document.profiles.map((profile) => [profile.name, profileOf(profile, { key, document })]));
}

async function requirePrivate(file: FileHandle, path: string): Promise<void> {
  const { mode } = await file.stat();
  if ((mode & forOthers) === 0) return;
  throw new CepError('config_error', `credentials file '${path}' can be read by others (mode ${(mode & 0o777).toString(8)})`, {
    hint: `chmod 600 ${path}`,
  });
}

interface Opening {
  readonly key: MasterKey | undefined;
  readonly document: CredentialsDocument;
}

function profileOf({ connectorType, properties, texts }: ProfileDocument, opening: Opening): Profile {
  const secrets = texts.flatMap((text) => {
    const isSealed = openText(text, opening);
    return isSealed || isSecretParameter(text.parameter) ? [text.node.value] : [];
  });
  return { connectorType, secrets, properties: properties === undefined ? new Map() : (plainValue(properties) as Profile['properties']) };
}

/** Puts the decrypted text in its place; false when it was not encrypted. */
function openText({ entry, node }: TextEntry, { key, document }: Opening): boolean {
  if (!looksSealed(node.value)) {
    if (!document.requireEncryption) return false;
    throw new CepError('config_error', `${entry.join('.')} is not encrypted, and the credentials file has require_encryption`, {
      hint: 'cep credentials encrypt encrypts what is not',
    });
  }
  if (key === undefined) {
    throw new CepError('config_error', `${entry.join('.')} is encrypted, and CEP_MASTER_KEY is not set`, {
      hint: 'set it to the key that the file was encrypted with',
    });
  }
  node.value = unseal(node.value, key, entry);
  return true;
}

/** Whether a parameter of this name is a secret of any type of connector. */
function isSecretParameter(name: string): boolean {
  return connectors.some((connector) => findConnectorParameter(connector, name)?.secret === true);
}

function plainValue(node: Node | null): Value {
  if (isMap<Node, Node | null>(node)) {
    return new Map(node.items.map(({ key, value }) => [String(isScalar(key) ? key.value : key), plainValue(value)]));
  }
  if (isSeq<Node | null>(node)) return node.items.map(plainValue);
  return isScalar(node) ? (node.value as Value) : null;
}
