/** Finds for each comment the piece of the program that it is printed with. */

import type { AnyNode, Comment, Program } from '../ast/nodes.ts';
import { casesOf, chainOf } from '../ast/operator-chain.ts';
import { children } from '../ast/walk.ts';

/** The comments printed with a node. */
export interface NodeComments {
  /** On lines of their own before it. */
  readonly leading: readonly Comment[];
  /** At the end of the line that its head ends on (the head of a block, else the whole). */
  readonly trailing: readonly Comment[];
  /** On lines of their own behind it. */
  readonly after: readonly Comment[];
  /** At the end of the head's line of a block. */
  readonly head: readonly Comment[];
}

export type Attached = (node: object) => NodeComments;

const nothing: NodeComments = { leading: [], trailing: [], after: [], head: [] };

export const noComments: Attached = () => nothing;

type Slot = keyof NodeComments;

/** Nothing can follow it on its line. */
function endsLine({ text }: Comment): boolean {
  return !text.startsWith('/*') || text.includes('\n');
}

/** A node that comments are printed with: an item of a list, or a line. */
interface Anchor {
  readonly node: AnyNode;
  readonly start: number;
  readonly end: number;
  readonly inner: Anchor[];
  /** It begins in the middle of a line, so nothing can be put on a line before it. */
  readonly midLine: boolean;
}

const lineKinds: ReadonlySet<AnyNode['kind']> = new Set<AnyNode['kind']>([
  'EventDeclaration',
  'TypeDeclaration',
  'BindingDeclaration',
  'AssignmentStatement',
  'FunctionDeclaration',
  'ConnectorDeclaration',
  'ContextDeclaration',
  'ConfigDeclaration',
  'PatternDeclaration',
  'StreamDeclaration',
  'ImportDeclaration',
  'ForDeclaration',
  'IfDeclaration',
  'TestDeclaration',
  'FieldDeclaration',
  'TestEvent',
  'TestAdvance',
  'TestExpectation',
  'IfStatement',
  'ForStatement',
  'WhileStatement',
  'BreakStatement',
  'ContinueStatement',
  'ReturnStatement',
  'EmitStatement',
  'ExpressionStatement',
]);

const itemKinds: ReadonlySet<AnyNode['kind']> = new Set<AnyNode['kind']>(['Argument', 'MapEntry', 'SourceInput']);
const sourceKinds: ReadonlySet<AnyNode['kind']> = new Set<AnyNode['kind']>([
  'NamedSource',
  'MergeSource',
  'JoinSource',
  'PatternSource',
  'TimerSource',
]);

/** Every comment of the program has one place in the result. */
export function attachComments(program: Program, text: string): Attached {
  const found = new Map<object, { [S in Slot]: Comment[] }>();
  const root: Anchor = { node: program, start: 0, end: text.length, inner: anchorsIn(program), midLine: false };
  const slotsOf = (node: object): { [S in Slot]: Comment[] } => {
    const slots = found.get(node) ?? { leading: [], trailing: [], after: [], head: [] };
    found.set(node, slots);
    return slots;
  };
  for (const comment of program.comments) {
    const { anchor, slot, around } = placeOf(comment, { root, text });
    const slots = slotsOf(anchor.node);
    const hasRoom = slot === 'leading' || slot === 'after' || !slots[slot].some(endsLine);
    if (hasRoom) slots[slot].push(comment);
    else slotsOf(leading(anchor, around).anchor.node).leading.push(comment);
  }
  return (node) => found.get(node) ?? nothing;
}

// ------------------------------------------------------------------------------------------------ anchors

/** The anchors directly inside a node, in order of their position. */
function anchorsIn(parent: AnyNode): Anchor[] {
  if (parent.kind === 'TemplateLiteral') return [];
  const anchors = partsOf(parent).flatMap((child, index): Anchor[] => {
    const inner = anchorsIn(child);
    if (!isAnchor(parent, child)) return inner;
    const midLine = sourceKinds.has(child.kind) || isFirstStep(parent, index);
    return [{ node: child, start: child.span.start, end: child.span.end, inner, midLine }];
  });
  return anchors.sort((a, b) => a.start - b.start);
}

/** What is directly inside; of a chain of operators or cases, however long, all of its parts. */
function partsOf(parent: AnyNode): readonly AnyNode[] {
  if (parent.kind === 'Binary') {
    const { first, links } = chainOf(parent);
    return [first, ...links.map(({ right }) => right)];
  }
  if (parent.kind !== 'Conditional') return children(parent);
  const { cases, otherwise } = casesOf(parent);
  return [...cases.flatMap(({ condition, then }) => [condition, then]), otherwise];
}

function isAnchor(parent: AnyNode, child: AnyNode): boolean {
  if (child.kind === 'OperatorCall') return parent.kind !== 'StepElement';
  return lineKinds.has(child.kind) || itemKinds.has(child.kind) || sourceKinds.has(child.kind) || isListItem(parent, child);
}

function isListItem(parent: AnyNode, child: AnyNode): boolean {
  if (parent.kind === 'ArrayLiteral') return true;
  const isList = parent.kind === 'SequenceElement' || parent.kind === 'AndElement' || parent.kind === 'OrElement';
  return isList && (parent.form === 'call' || parent.kind === 'SequenceElement') && child.kind !== 'Quantifier';
}

function isFirstStep(parent: AnyNode, index: number): boolean {
  return parent.kind === 'SequenceElement' && parent.form === 'arrow' && index === 0;
}

// ------------------------------------------------------------------------------------------------ places

interface Place {
  readonly anchor: Anchor;
  readonly slot: Slot;
  /** The anchors around it, outermost first. */
  readonly around: readonly Anchor[];
}

interface Search {
  readonly root: Anchor;
  readonly text: string;
}

function placeOf(comment: Comment, { root, text }: Search): Place {
  const { start, end } = comment.span;
  const around: Anchor[] = [root];
  for (let inner = containing(root, start, end); inner; inner = containing(inner, start, end)) around.push(inner);
  const parent = around.at(-1) as Anchor;
  const index = lastIndexBefore(parent.inner, start);
  const previous = parent.inner[index];
  const next = parent.inner[index + 1];
  if (!comment.ownLine) {
    if (previous && !text.slice(previous.end, start).includes('\n')) return { ...lastLineOf(previous, around), slot: 'trailing' };
    if (!previous && isBlock(parent.node)) return { anchor: parent, slot: 'head', around };
  } else if (previous) {
    const column = columnOf(text, start);
    const endsBranch =
      next !== undefined && column >= columnOf(text, previous.start) && isBeforeBranch(comment, { parent, previous, next, text });
    const ending = endOfBlock(previous, column, text) ?? (endsBranch ? previous : undefined);
    if (ending) return { anchor: ending, slot: 'after', around };
  }
  if (next) return leading(next, around);
  if (previous) return { anchor: previous, slot: 'after', around };
  return parent === root ? { anchor: root, slot: 'after', around } : leading(parent, around.slice(0, -1));
}

/** Before an anchor, or before the first one around it that begins a line. */
function leading(anchor: Anchor, around: readonly Anchor[]): Place {
  const place = anchor.midLine ? (around.findLast((outer) => !outer.midLine) ?? anchor) : anchor;
  return { anchor: place, slot: 'leading', around };
}

/** The line that ends where an anchor ends: the last one of a block. */
function lastLineOf(anchor: Anchor, around: readonly Anchor[]): { anchor: Anchor; around: readonly Anchor[] } {
  const inner = lastLine(anchor);
  return inner ? lastLineOf(inner, [...around, anchor]) : { anchor, around };
}

function containing(anchor: Anchor, start: number, end: number): Anchor | undefined {
  const inner = anchor.inner[lastIndexStarting(anchor.inner, start)];
  return inner && inner.start <= start && inner.end >= end ? inner : undefined;
}

interface Between {
  readonly parent: Anchor;
  readonly previous: Anchor;
  readonly next: Anchor;
  readonly text: string;
}

/** Whether a comment between two statements stands before the `elif` or `else` that parts them. */
function isBeforeBranch(comment: Comment, { parent: { node }, previous, next, text }: Between): boolean {
  if (node.kind !== 'IfDeclaration' && node.kind !== 'IfStatement') return false;
  const bodies: readonly (readonly AnyNode[])[] = [...node.branches.map(({ body }) => body), node.otherwise ?? []];
  if (bodies.some((body) => body.includes(previous.node) && body.includes(next.node))) return false;
  const between = text.slice(previous.end, next.start).replace(/\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*/g, (found) => ' '.repeat(found.length));
  return comment.span.start < previous.end + between.search(/\S/);
}

/** The last line of a block that a comment behind the block still belongs to by its indentation. */
function endOfBlock(previous: Anchor, column: number, text: string): Anchor | undefined {
  let ending: Anchor | undefined;
  for (let inner = lastLine(previous); inner && columnOf(text, inner.start) <= column; inner = lastLine(inner)) ending = inner;
  return ending;
}

function lastLine(anchor: Anchor): Anchor | undefined {
  const { kind } = anchor.node;
  const last = anchor.inner.at(-1);
  if (!last) return undefined;
  if (kind === 'StreamDeclaration') return last.node.kind === 'OperatorCall' ? last : undefined;
  return blockKinds.has(kind) && (lineKinds.has(last.node.kind) || kind === 'ConfigDeclaration') ? last : undefined;
}

const blockKinds: ReadonlySet<AnyNode['kind']> = new Set<AnyNode['kind']>([
  'EventDeclaration',
  'TypeDeclaration',
  'FunctionDeclaration',
  'ConfigDeclaration',
  'ForDeclaration',
  'IfDeclaration',
  'TestDeclaration',
  'IfStatement',
  'ForStatement',
  'WhileStatement',
]);

function isBlock(node: AnyNode): boolean {
  return blockKinds.has(node.kind);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The last anchor that ends at or before the offset; anchors do not overlap. */
function lastIndexBefore(anchors: readonly Anchor[], offset: number): number {
  return lastIndex(anchors, (anchor) => anchor.end <= offset);
}

function lastIndexStarting(anchors: readonly Anchor[], offset: number): number {
  return lastIndex(anchors, (anchor) => anchor.start <= offset);
}

function lastIndex(anchors: readonly Anchor[], holds: (anchor: Anchor) => boolean): number {
  let low = 0;
  let high = anchors.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(anchors[middle] as Anchor)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
