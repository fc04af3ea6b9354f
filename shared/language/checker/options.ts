import type { ConnectorRole } from '../connectors/descriptor.ts';
import type { SourceText } from '../diagnostics/diagnostic.ts';

/** What a host tells the checker about the world around the program. */
export interface CheckOptions {
  /** The text of an import, relative to the file it stands in; undefined when there is no such file. One file has one name. */
  readonly resolveImport?: (path: string, from: SourceText) => SourceText | undefined;
  /** Connectors registered with the server, by name, which a program may use without declaring them. */
  readonly registeredConnectors?: ReadonlyMap<string, { readonly type: string }>;
  /** The connector types of this build, by name; all that the language knows when absent. */
  readonly connectorTypes?: ReadonlyMap<string, unknown>;
  /** Whether this build can use connectors of a type in this role; absent = nothing is said about it. */
  readonly canConnect?: (type: string, role: ConnectorRole) => boolean;
  /** Whether a model file can be scored by this build; absent = nothing is said about it. */
  readonly canScore?: (model: string) => boolean;
}
