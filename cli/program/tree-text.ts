import type { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';

interface TreeNode {
  readonly kind: string;
  readonly span: { readonly start: number; readonly end: number };
}

/**
 * A syntax tree for people: a line for each node with its kind, what it says itself and its position; what it consists of
 * stands below it, indented and with its role.
 */
export function treeText(root: TreeNode, source: SourceText): string {
  return `${new TreePrinter(source).lines(root, '', '').join('\n')}\n`;
}

/** A syntax tree as data: every span as 1-based lines and columns, in code points, the end exclusive. */
export function treeData(value: unknown, source: SourceText): unknown {
  if (Array.isArray(value)) return value.map((item) => treeData(item, source));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, key === 'span' ? placeOf(item, source) : treeData(item, source)]);
  return Object.fromEntries(entries);
}

function placeOf({ start, end }: TreeNode['span'], source: SourceText): object {
  return { start: source.position(start), end: source.position(end) };
}

class TreePrinter {
  readonly #source: SourceText;

  constructor(source: SourceText) {
    this.#source = source;
  }

  /** The node and all below it. `role` is what it is to the node above, with its colon. */
  lines(value: object, role: string, indent: string): string[] {
    const parts = Object.entries(value).filter(([key, item]) => key !== 'kind' && key !== 'span' && isSaid(item));
    const own = parts.filter(([, item]) => isInline(item)).map(([key, item]) => `${key}=${inlineText(item)}`);
    const below = parts.filter(([, item]) => !isInline(item));
    const head = [...(isNode(value) ? [value.kind] : []), ...own, ...(isNode(value) ? [this.#position(value)] : [])];
    return [`${indent}${role}${head.join(' ')}`.trimEnd(), ...below.flatMap(([key, item]) => this.#part(key, item, `${indent}  `))];
  }

  #part(key: string, item: unknown, indent: string): string[] {
    if (!Array.isArray(item)) return this.lines(item as object, `${key}: `, indent);
    return [`${indent}${key}:`, ...item.flatMap((entry) => this.#entry(entry, `${indent}  `))];
  }

  #entry(entry: unknown, indent: string): string[] {
    return typeof entry === 'object' && entry !== null
      ? this.lines(entry, isNode(entry) ? '' : '-', indent)
      : [`${indent}${JSON.stringify(entry)}`];
  }

  #position({ span }: TreeNode): string {
    const { line, column } = this.#source.position(span.start);
    return `@${line}:${column}`;
  }
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
