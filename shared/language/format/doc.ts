/**
 * Documents: text with places where a line may end, laid out within a width.
 *
 * Source: P. Wadler, "A prettier printer" (2003), with the groups, hard lines and line suffixes that printers of
 * programming languages have added since. Rendering uses a stack of its own, so a document may be nested to any depth.
 */

export type Doc =
  | string
  | { readonly form: 'concat'; readonly parts: readonly Doc[]; readonly hard: boolean }
  | { readonly form: 'group'; readonly doc: Doc; readonly hard: boolean }
  | { readonly form: 'nest'; readonly doc: Doc; readonly hard: boolean }
  /** Printed before the next line end, whatever text follows: a comment at the end of a line. */
  | { readonly form: 'suffix'; readonly text: string; readonly hard: boolean }
  | { readonly form: 'line'; readonly flat: string; readonly hard: boolean; readonly blank: boolean };

/** A blank, or a line end when its group does not fit. */
export const line: Doc = { form: 'line', flat: ' ', hard: false, blank: false };
/** Nothing, or a line end when its group does not fit. */
export const softLine: Doc = { form: 'line', flat: '', hard: false, blank: false };
/** Always a line end; every group around it breaks. */
export const hardLine: Doc = { form: 'line', flat: '', hard: true, blank: false };
/** A line end and an empty line. */
export const blankLine: Doc = { form: 'line', flat: '', hard: true, blank: true };

/** What breaks the groups around it without printing anything. */
const breaker: Doc = { form: 'concat', parts: [], hard: true };

function isHard(doc: Doc): boolean {
  return typeof doc !== 'string' && doc.hard;
}

export function concat(...parts: readonly Doc[]): Doc {
  return concatAll(parts);
}

/** As `concat`, of a list of any length. */
export function concatAll(parts: readonly Doc[]): Doc {
  return { form: 'concat', parts, hard: parts.some(isHard) };
}

export function join(separator: Doc, parts: readonly Doc[]): Doc {
  return concatAll(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
}

export function group(doc: Doc): Doc {
  return { form: 'group', doc, hard: isHard(doc) };
}

/** Indents the lines that begin inside by four blanks. */
export function nest(doc: Doc): Doc {
  return { form: 'nest', doc, hard: isHard(doc) };
}

export function lineSuffix(text: string): Doc {
  return concat({ form: 'suffix', text, hard: false }, breaker);
}

/** `open`, the items separated by commas, `close`: on one line, or one item a line. */
export function list(open: string, items: readonly Doc[], close: string): Doc {
  if (items.length === 0) return `${open}${close}`;
  return group(concat(open, nest(concat(softLine, join(concat(',', line), items))), softLine, close));
}

interface Task {
  readonly doc: Doc;
  readonly indent: number;
  readonly flat: boolean;
}

const indentWidth = 4;

/** The text of a document; without blanks at the ends of lines. */
export function render(doc: Doc, width: number): string {
  const out: string[] = [];
  const suffixes: string[] = [];
  const tasks: Task[] = [{ doc, indent: 0, flat: false }];
  let column = 0;
  for (let task = tasks.pop(); task; task = tasks.pop()) {
    const { doc: part, indent, flat } = task;
    if (typeof part === 'string') {
      out.push(part);
      column = columnAfter(column, part);
    } else if (part.form === 'suffix') suffixes.push(part.text);
    else if (part.form === 'line' && (part.hard || !flat)) {
      endLine(out, suffixes.splice(0), part.blank);
      out.push(' '.repeat(indent));
      column = indent;
    } else if (part.form === 'line') {
      out.push(part.flat);
      column += part.flat.length;
    } else pushParts(tasks, task, width - column);
  }
  endLine(out, suffixes, false);
  return out.join('');
}

function columnAfter(column: number, text: string): number {
  const lastLine = text.lastIndexOf('\n');
  return lastLine < 0 ? column + text.length : text.length - lastLine - 1;
}

function endLine(out: string[], suffixes: readonly string[], blank: boolean): void {
  while (/^ *$/.test(out.at(-1) ?? 'end')) out.pop();
  for (const suffix of suffixes) out.push(`${out.length > 0 && out.at(-1) !== '\n' ? ' ' : ''}${suffix}`);
  out.push(blank ? '\n\n' : '\n');
}

function pushParts(tasks: Task[], { doc, indent, flat }: Task, room: number): void {
  if (typeof doc === 'string' || doc.form === 'line' || doc.form === 'suffix') return;
  if (doc.form === 'concat') {
    for (let index = doc.parts.length - 1; index >= 0; index--) tasks.push({ doc: doc.parts[index] as Doc, indent, flat });
  } else if (doc.form === 'nest') tasks.push({ doc: doc.doc, indent: indent + indentWidth, flat });
  else tasks.push({ doc: doc.doc, indent, flat: !doc.hard && (flat || fits(doc.doc, tasks, room)) });
}

/** Whether the document, flat, and what follows it up to the next line end have room. */
function fits(doc: Doc, following: readonly Task[], room: number): boolean {
  const tasks: Task[] = [{ doc, indent: 0, flat: true }];
  let rest = following.length;
  let left = room;
  while (left >= 0) {
    const task = tasks.pop() ?? following[--rest];
    if (!task) return true;
    const { doc: part, flat } = task;
    if (typeof part === 'string') left -= part.length;
    else if (part.form === 'concat')
      for (let index = part.parts.length - 1; index >= 0; index--) tasks.push({ doc: part.parts[index] as Doc, indent: 0, flat });
    else if (part.form === 'nest') tasks.push({ doc: part.doc, indent: 0, flat });
    else if (part.form === 'group') tasks.push({ doc: part.doc, indent: 0, flat: flat && !part.hard });
    else if (part.form === 'line') {
      if (part.hard || !flat) return true;
      left -= part.flat.length;
    }
  }
  return false;
}
