import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { CepError } from '../../errors/error.ts';
import { readYaml } from '../../files/yaml-syntax.ts';
import { connectorTypes, findConnector } from '../../language/connectors/table.ts';
import { nearestName } from '../../language/diagnostics/nearest-name.ts';
import type { Entry } from './sealed-text.ts';

const version = 1;

/** A text in the properties of a profile; `node.value` may be replaced. */
export interface TextEntry {
  readonly entry: Entry;
  /** The name of the connector parameter that it is, or is a part of. */
  readonly parameter: string;
  readonly node: Scalar<string>;
}

export interface ProfileDocument {
  readonly name: string;
  /** As the language calls the type. */
  readonly connectorType: string | undefined;
  readonly properties: YAMLMap<Node, Node | null> | undefined;
  readonly texts: readonly TextEntry[];
}

/**
 * A credentials file: `version: 1`, `require_encryption`, and `profiles`, each with `connector_type` and `properties`. It is
 * checked, and can be written again with its comments.
 */
export class CredentialsDocument {
  readonly requireEncryption: boolean;
  readonly profiles: readonly ProfileDocument[];
  readonly #document: Document;

  /** @param path For messages. @throws CepError `config_error` */
  constructor(text: string, path: string) {
    const where = `credentials file '${path}'`;
    const { document, problem } = readYaml(text);
    this.#document = document;
    if (problem) throw wrong(`${where} is no YAML: ${problem.code}`);
    const root = membersOf(this.#document.contents as Node | null, { where, names: ['version', 'require_encryption', 'profiles'] });
    const found = plain(root.get('version'));
    if (found !== version) throw wrong(`${where}: expected 'version: ${version}', found ${found === undefined ? 'none' : 'another'}`);
    const required = root.has('require_encryption') ? plain(root.get('require_encryption')) : false;
    if (typeof required !== 'boolean') throw wrong(`${where}: require_encryption: expected true or false`);
    this.requireEncryption = required;
    this.profiles = Array.from(membersOf(root.get('profiles') ?? null, { where: `${where}: profiles` }), ([name, node]) =>
      profileOf(name, node, `${where}: profiles.${name}`),
    );
  }

  get texts(): readonly TextEntry[] {
    return this.profiles.flatMap(({ texts }) => texts);
  }

  /** The file as YAML. */
  toString(): string {
    return this.#document.toString({ lineWidth: 0 });
  }
}

function profileOf(name: string, node: Node | null, where: string): ProfileDocument {
  const members = membersOf(node, { where, names: ['connector_type', 'properties'] });
  const type = members.has('connector_type') ? plain(members.get('connector_type')) : undefined;
  const descriptor = typeof type === 'string' ? findConnector(type) : undefined;
  if (members.has('connector_type') && descriptor === undefined) {
    throw wrong(`${where}.connector_type: expected one of ${connectorTypes.join(', ')}`);
  }
  const given = members.get('properties') ?? null;
  const texts = [...membersOf(given, { where: `${where}.properties` })].flatMap(([parameter, value]) =>
    textsOf(value, { parameter, entry: [name, 'properties', parameter], where: `${where}.properties.${parameter}` }),
  );
  const properties = isMap<Node, Node | null>(given) ? given : undefined;
  return { name, connectorType: descriptor?.name, properties, texts };
}

interface Place {
  readonly parameter: string;
  readonly entry: Entry;
  readonly where: string;
}

function textsOf(node: Node | null, { parameter, entry, where }: Place): readonly TextEntry[] {
  const inner = (name: string, value: Node | null): readonly TextEntry[] =>
    textsOf(value, { parameter, entry: [...entry, name], where: `${where}.${name}` });
  if (isMap<Node, Node | null>(node)) return [...membersOf(node, { where })].flatMap(([name, value]) => inner(name, value));
  if (isSeq<Node | null>(node)) return node.items.flatMap((value, index) => inner(String(index), value));
  if (!isScalar(node) || node.value === null) throw wrong(`${where}: expected a value`);
  return typeof node.value === 'string' ? [{ entry, parameter, node: node as Scalar<string> }] : [];
}

/** What stands in a mapping, by name; nothing at all is an empty one. */
function membersOf(
  node: Node | null,
  { where, names }: { readonly where: string; readonly names?: readonly string[] },
): ReadonlyMap<string, Node | null> {
  if (node === null || (isScalar(node) && node.value === null)) return new Map();
  if (!isMap<Node, Node | null>(node)) throw wrong(`${where}: expected names with values${isAlias(node) ? ', found an alias' : ''}`);
  const members = new Map(node.items.map(({ key, value }) => [String(isScalar(key) ? key.value : key), value]));
  const unknown = names && [...members.keys()].find((name) => !names.includes(name));
  if (names === undefined || unknown === undefined) return members;
  const nearest = nearestName(unknown, names);
  throw wrong(
    `${where}: unknown member '${unknown}'`,
    nearest === undefined ? `it takes ${names.join(', ')}` : `did you mean '${nearest}'?`,
  );
}

function plain(node: Node | null | undefined): unknown {
  return isScalar(node) ? node.value : node;
}

/** Says where something is wrong, and never what stands there. */
function wrong(message: string, hint?: string): CepError {
  return new CepError('config_error', message, hint === undefined ? {} : { hint });
}
