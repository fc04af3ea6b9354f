import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml';
import { readYaml } from '../files/yaml-syntax.ts';
import { type ConfigDocument, type DocumentSection, DocumentSyntaxError, type Position } from './document.ts';

/** Reads the sections and keys of a YAML configuration, each with its position. Throws a `DocumentSyntaxError`. */
export function readYamlDocument(text: string): ConfigDocument {
  const lineCounter = new LineCounter();
  const { document, problem } = readYaml(text, { lineCounter });
  const source: Source = { document, positionOf: (offset) => positionOf(lineCounter, offset) };
  if (problem) throw new DocumentSyntaxError(problem.message, source.positionOf(problem.offset));
  const contents = document.contents as Node | null;
  if (contents === null || plainValue(contents) === null) return [];
  if (!isMap<Node, Node | null>(contents)) throw new DocumentSyntaxError('expected sections such as `server:`', source.positionOf(0));
  return contents.items.map((pair) => readSection(source, pair));
}

interface Source {
  readonly document: Document;
  readonly positionOf: (offset: number) => Position;
}

interface PairOfNodes {
  readonly key: Node;
  readonly value: Node | null;
}

function readSection(source: Source, pair: PairOfNodes): DocumentSection {
  const table = resolved(source, pair.value);
  const name = String(pair.key);
  const at = startOf(source, pair.key);
  if (!isMap<Node, Node | null>(table)) return { name, at, entries: plainValue(table) === null ? [] : undefined };
  const entries = table.items.map(({ key, value }) => ({
    name: String(key),
    at: startOf(source, key),
    value: plainValue(resolved(source, value)),
    valueAt: startOf(source, value ?? key),
  }));
  return { name, at, entries };
}

function resolved(source: Source, node: Node | null): Node | null {
  if (!isAlias(node)) return node;
  const target = node.resolve(source.document);
  if (target) return target;
  throw new DocumentSyntaxError(`unknown anchor '${node.source}'`, startOf(source, node));
}

function startOf({ positionOf }: Source, node: Node): Position {
  return positionOf(node.range?.[0] ?? 0);
}

/** Settings are scalars, so of a list or a table only its kind is kept: enough to say what was found. */
function plainValue(node: Node | null): unknown {
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return [];
  return node === null ? null : {};
}

function positionOf(lineCounter: LineCounter, offset: number): Position {
  const { line, col } = lineCounter.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
