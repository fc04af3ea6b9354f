/** How names and literals are written. */
import type { Identifier } from '../ast/nodes.ts';
import { isReserved } from '../grammar/lookahead.ts';

/** A name; with `{i}` in it, one of the body of a compile-time `for`. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*(?:\{[A-Za-z_][A-Za-z0-9_]*\}[A-Za-z0-9_]*)*$/;

/** Where any word may stand (a field, an argument, an operator). */
export function word({ text, quoted }: { readonly text: string; readonly quoted: boolean }): string {
  return quoted || !plainName.test(text) ? `\`${text}\`` : text;
}

/** Where the words of the language may not stand. */
export function name(identifier: { readonly text: string; readonly quoted: boolean }): string {
  return isReserved(identifier.text) ? `\`${identifier.text}\`` : word(identifier);
}

/** `common.Login` is kept as one name with a dot. */
export function dotted(identifier: Identifier): string {
  if (identifier.quoted) return name(identifier);
  const [first, ...rest] = identifier.text.split('.');
  return [name({ text: first ?? '', quoted: false }), ...rest.map((text) => word({ text, quoted: false }))].join('.');
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\', '{': '{{', '}': '}}' };

function escapeOf(char: string): string {
  return escapes[char] ?? `\\u{${(char.codePointAt(0) as number).toString(16)}}`;
}

/** A string in the quotes of the user, as far as they can hold it. */
export function stringLiteral(value: string, raw: boolean): string {
  if (raw && !/\p{Cc}/u.test(value.replaceAll('\t', ''))) return `'${value.replaceAll("'", "''")}'`;
  return `"${value.replace(/[\p{Cc}"\\\ufeff]/gu, escapeOf)}"`;
}

/** A text of an f-string. */
export function templateText(text: string): string {
  return text.replace(/[\p{Cc}"\\\ufeff{}]/gu, escapeOf);
}
