/** What the language knows of one type of connector: enough to check a program that names it. */
export interface ConnectorDescriptor {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly roles: readonly ConnectorRole[];
  /** Those of the roles that this build has the code for: a server refuses programs that need another. @default none */
  readonly built?: readonly ConnectorRole[];
  readonly parameters: readonly ConnectorParameter[];
  /** Groups of parameters of which one must be given where the connector is declared. */
  readonly oneOf: readonly (readonly string[])[];
  /** Groups of which one must be given, at the declaration or at the use, for the connector to be used in a role. */
  readonly needs?: Readonly<Partial<Record<ConnectorRole, readonly string[]>>>;
  /** The parameters that say what is read or written, the preferred first: `topic` in `.from` and `.to` stands for it. */
  readonly topics: readonly string[];
  /** Where these name things of two kinds. @default all are of one kind */
  readonly kinds?: TopicKinds;
  /** A broker needs a topic: `.from` must find one, `.to` falls back to the stream's name (W041). */
  readonly broker: boolean;
  /** What a sink keeps under these names is the event's own: a field of such a name has no place of its own beside it (W054). @default it has */
  readonly ownNames?: readonly string[];
  readonly summary: string;
  /** For each role that is built: what becomes of events when either side, or the way between them, fails. A sentence. */
  readonly guarantees?: Readonly<Partial<Record<ConnectorRole, string>>>;
  /** A program that uses it, for each role that is built. */
  readonly example?: string;
}

/** Two kinds of things that a connector may read or write, each named by a parameter of its own. A sink is for those of one kind. */
export interface TopicKinds {
  readonly usual: string;
  readonly other: string;
  /** Types as they are written, and parameters: with one of them it is the other kind, unless the usual one is named. */
  readonly otherBy: readonly string[];
}

/** The one that a connector is for. `parameters`: what it has, by name. */
export function topicKind({ usual, other, otherBy }: TopicKinds, writtenType: string, parameters: ReadonlyMap<string, unknown>): string {
  if (parameters.has(usual)) return usual;
  return otherBy.some((name) => name === writtenType || parameters.has(name)) ? other : usual;
}

/** What a connector can do for a stream: `.from`, `.to`, `.enrich`. */
export type ConnectorRole = 'source' | 'sink' | 'enrich';

export type ConnectorValueKind = 'str' | 'int' | 'number' | 'bool' | 'duration' | 'list' | 'map' | 'any';

export interface ConnectorParameter {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** `list` is an array of strings or one string with commas. */
  readonly kind: ConnectorValueKind;
  /** As a user would write it. */
  readonly default?: string;
  readonly words?: readonly string[];
  /** The least and the most that a number may be; of a duration, in ms. */
  readonly min?: number;
  readonly max?: number;
  /** What a map or a list holds, where it is not for anything. */
  readonly entries?: 'headers' | 'hosts';
  /** `.to` takes it too, for what one stream sends; all others are of the connector, which its uses share. @default false */
  readonly perUse?: boolean;
  /** Its value never appears in answers, logs, metrics or checkpoints. */
  readonly secret?: boolean;
  readonly summary: string;
}
