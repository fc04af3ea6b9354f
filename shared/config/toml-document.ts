import { parse, TomlError } from 'smol-toml';
import { type ConfigDocument, type DocumentEntry, type DocumentSection, DocumentSyntaxError, type Position } from './document.ts';

/** Reads the sections and keys of a TOML configuration, each with its position. Throws a `DocumentSyntaxError`. */
export function readTomlDocument(text: string): ConfigDocument {
  const lines = text.split(/\r?\n/);
  return Object.entries(parseToml(text)).map(([name, value]) => readSection(lines, name, value));
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [, reason = error.message] = /^Invalid TOML document: ([^\n]*)/.exec(error.message) ?? [];
    throw new DocumentSyntaxError(reason, { line: error.line, column: error.column });
  }
}

function readSection(lines: readonly string[], name: string, value: unknown): DocumentSection {
  const at = positionOfSection(lines, name);
  if (!isTable(value)) return { name, at, entries: undefined };
  const entries = Object.entries(value).map(([key, found]) => {
    const positions = positionsOfKey(lines, { section: name, key }) ?? { at, valueAt: at };
    return { name: key, value: found, ...positions };
  });
  return { name, at, entries };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/*
 * The library gives positions of errors only, so those of names are looked for in the text. A name inside an inline table
 * has the position of its section.
 */

function positionOfSection(lines: readonly string[], section: string): Position {
  const header = new RegExp(`^\\s*(?:\\[\\[?\\s*)?["']?${escaped(section)}["']?\\s*[\\].=]`);
  const index = lines.findIndex((line) => header.test(line));
  return { line: Math.max(0, index) + 1, column: startColumn(lines[index] ?? '') };
}

interface NameOfKey {
  readonly section: string;
  readonly key: string;
}

function positionsOfKey(lines: readonly string[], { section, key }: NameOfKey): Pick<DocumentEntry, 'at' | 'valueAt'> | undefined {
  const dotted = new RegExp(`^\\s*["']?${escaped(section)}["']?\\s*\\.\\s*["']?${escaped(key)}["']?\\s*=\\s*`);
  const plain = new RegExp(`^\\s*["']?${escaped(key)}["']?\\s*=\\s*`);
  let current: string | undefined;
  for (const [index, line] of lines.entries()) {
    current = /^\s*\[\s*["']?(.*?)["']?\s*\]/.exec(line)?.[1] ?? current;
    const match = current === undefined ? dotted.exec(line) : current === section ? plain.exec(line) : null;
    if (match) return { at: { line: index + 1, column: startColumn(line) }, valueAt: { line: index + 1, column: match[0].length + 1 } };
  }
  return undefined;
}

function startColumn(line: string): number {
  return line.length - line.trimStart().length + 1;
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
