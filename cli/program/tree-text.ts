import type { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';

interface TreeNode {
  readonly kind: string;
  readonly span: { readonly start: number; readonly end: number };
}

/** Levels that are shown by blanks; what lies deeper has the number of its level in front, so that a line stays short. */
const INDENTED_MAX = 100;

/**
 * A syntax tree for people: a line for each node with its kind, what it says itself and its position; what it consists of
 * stands below it, indented and with its role. Trees may be of any depth.
 */
export function treeText(root: TreeNode, source: SourceText): string {
  const lines: string[] = [];
  const open: Shown[] = [{ depth: 0, role: '', value: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { text, below } = shown(next, source);
    lines.push(`${indent(next.depth)}${next.role}${text}`.trimEnd());
    open.push(...below.reverse());
  }
  return `${lines.join('\n')}\n`;
}

/**
 * A syntax tree as JSON: every span as 1-based lines and columns, in code points, the end exclusive. Trees may be of any
 * depth, which `JSON.stringify` cannot.
 */
export function treeJson(root: TreeNode, source: SourceText): string {
  const texts: string[] = [];
  const open: Written[] = [{ value: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (!isNested(next.value)) texts.push(JSON.stringify(next.value) ?? 'null');
    else open.push(...writtenParts(next.value, source).reverse());
  }
  return texts.join('');
}

/** Text as it is, or a value that is still to be written. */
type Written = string | { readonly value: unknown };

function writtenParts(value: object, source: SourceText): Written[] {
  const isList = Array.isArray(value);
  const members: (readonly [start: string, item: unknown])[] = isList
    ? value.map((item) => ['', item] as const)
    : Object.entries(value).flatMap(([key, item]) =>
        item === undefined ? [] : [[`${JSON.stringify(key)}:`, key === 'span' ? placeOf(item, source) : item] as const],
      );
  const inner = members.flatMap(([start, item], at): Written[] => [at === 0 ? start : `,${start}`, { value: item }]);
  return isList ? ['[', ...inner, ']'] : ['{', ...inner, '}'];
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function placeOf({ start, end }: TreeNode['span'], source: SourceText): object {
  return { start: source.position(start), end: source.position(end) };
}

/** A part of a tree that has a line: a node, or the name of a list. */
interface Shown {
  readonly depth: number;
  /** What it is to the node above, with its colon. */
  readonly role: string;
  readonly value: unknown;
}

function shown({ depth, value }: Shown, source: SourceText): { readonly text: string; readonly below: Shown[] } {
  if (Array.isArray(value)) {
    const below = value.map((item): Shown => ({ depth: depth + 1, role: isNested(item) && !isNode(item) ? '-' : '', value: item }));
    return { text: '', below };
  }
  if (!isNested(value)) return { text: JSON.stringify(value), below: [] };
  const parts = Object.entries(value).filter(([key, item]) => key !== 'kind' && key !== 'span' && isSaid(item));
  const own = parts.filter(([, item]) => isInline(item)).map(([key, item]) => `${key}=${inlineText(item)}`);
  const text = [...(isNode(value) ? [value.kind] : []), ...own, ...(isNode(value) ? [positionText(value, source)] : [])].join(' ');
  const below = parts
    .filter(([, item]) => !isInline(item))
    .map(([key, item]): Shown => ({ depth: depth + 1, role: Array.isArray(item) ? `${key}:` : `${key}: `, value: item }));
  return { text, below };
}

function indent(depth: number): string {
  return depth <= INDENTED_MAX ? '  '.repeat(depth) : `${'  '.repeat(INDENTED_MAX)}(${depth}) `;
}

function positionText({ span }: TreeNode, source: SourceText): string {
  const { line, column } = source.position(span.start);
  return `@${line}:${column}`;
}

/** Whether there is anything to print: absent parts and empty lists are left out. */
function isSaid(item: unknown): boolean {
  return item !== null && item !== undefined && item !== false && !(Array.isArray(item) && item.length === 0);
}

/** Whether it stands on the line of its node: plain values, names, and names with dots. */
function isInline(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return true;
  return Array.isArray(item) ? item.length > 0 && item.every(isName) : isName(item);
}

function inlineText(item: unknown): string {
  if (Array.isArray(item)) return item.map(inlineText).join('.');
  return isName(item) ? item.text : typeof item === 'string' ? JSON.stringify(item) : String(item);
}

function isNode(value: object): value is TreeNode {
  return 'kind' in value && 'span' in value;
}

function isName(value: unknown): value is { readonly text: string } {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Identifier';
}
