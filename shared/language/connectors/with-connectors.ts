import { findConnector, findConnectorParameter } from './table.ts';

/** A connector that is declared outside of the program. */
export interface NamedConnector {
  readonly name: string;
  readonly connector_type: string;
  /** JSON values; durations are texts such as `4s`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The program with declarations of what it lacks. They stand behind its end, so that every position in it stays what it was. */
export function withConnectors(source: string, connectors: readonly NamedConnector[], imported: readonly string[] = []): string {
  const added = lackingConnectors(source, connectors, imported).map(declarationOf);
  return added.length === 0 ? source : `${source.replace(/\n*$/, '\n')}\n${added.join('\n')}\n`;
}

/** The connectors that a program names and does not declare. `imported`: texts of the files that it imports, whose connectors are its own. */
export function lackingConnectors<T extends NamedConnector>(
  source: string,
  connectors: readonly T[],
  imported: readonly string[] = [],
): readonly T[] {
  const named = connectors.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(source));
  if (named.length === 0) return named;
  const declared = new Set([source, ...imported].flatMap(declaredIn));
  return named.filter(({ name }) => !declared.has(name));
}

function declaredIn(source: string): readonly string[] {
  return Array.from(source.matchAll(/^\s*connector\s+([A-Za-z_][A-Za-z0-9_]*)\s*=/gm), ([, name]) => name as string);
}

function declarationOf({ name, connector_type: type, params }: NamedConnector): string {
  const descriptor = findConnector(type);
  const parameters = Object.entries(params).map(([key, value]) => {
    const kind = descriptor && findConnectorParameter(descriptor, key)?.kind;
    return `${key}: ${kind === 'duration' && typeof value === 'string' ? value : literalOf(value)}`;
  });
  return `connector ${name} = ${type} (${parameters.join(', ')})`;
}

/** A JSON value as the language writes it. */
function literalOf(value: unknown): string {
  if (typeof value === 'string') return textLiteral(value);
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${textLiteral(key)}: ${literalOf(item)}`)
    .join(', ')}}`;
}

/** JSON knows escapes that the language does not. */
function textLiteral(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\p{Cc}|[\u2028\u2029]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
  return `"${escaped}"`;
}
