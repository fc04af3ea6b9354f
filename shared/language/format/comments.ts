/** Finds for each comment the piece of the program that it is printed with. */

import type { AnyNode, Comment, Program } from '../ast/nodes.ts';
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
  for (const comment of program.comments) {
    const { anchor, slot } = placeOf(comment, { root, text });
    const slots = found.get(anchor.node) ?? { leading: [], trailing: [], after: [], head: [] };
    found.set(anchor.node, slots);
    slots[slot].push(comment);
  }
  return (node) => found.get(node) ?? nothing;
}

// ------------------------------------------------------------------------------------------------ anchors

/** The anchors directly inside a node, in order of their position. */
function anchorsIn(parent: AnyNode): Anchor[] {
  if (parent.kind === 'TemplateLiteral') return [];
  const anchors = children(parent).flatMap((child, index): Anchor[] => {
    const inner = anchorsIn(child);
    if (!isAnchor(parent, child)) return inner;
    const midLine = sourceKinds.has(child.kind) || isFirstStep(parent, index);
    return [{ node: child, start: child.span.start, end: child.span.end, inner, midLine }];
  });
  return anchors.sort((a, b) => a.start - b.start);
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
    if (previous && !text.slice(previous.end, start).includes('\n')) return { anchor: previous, slot: 'trailing' };
    if (!previous && isBlock(parent.node)) return { anchor: parent, slot: 'head' };
  } else if (previous) {
    const ending = endOfBlock(previous, columnOf(text, start), text);
    if (ending) return { anchor: ending, slot: 'after' };
  }
  if (next) return leading(next, around);
  if (previous) return { anchor: previous, slot: 'after' };
  return parent === root ? { anchor: root, slot: 'after' } : leading(parent, around.slice(0, -1));
}

/** Before an anchor, or before the first one around it that begins a line. */
function leading(anchor: Anchor, around: readonly Anchor[]): Place {
  const place = anchor.midLine ? (around.findLast((outer) => !outer.midLine) ?? anchor) : anchor;
  return { anchor: place, slot: 'leading' };
}

function containing(anchor: Anchor, start: number, end: number): Anchor | undefined {
  const inner = anchor.inner[lastIndexStarting(anchor.inner, start)];
  return inner && inner.start <= start && inner.end >= end ? inner : undefined;
}

/** The last line of a block that a comment behind the block still belongs to by its indentation. */
function endOfBlock(previous: Anchor, column: number, text: string): Anchor | undefined {
  let ending: Anchor | undefined;
  for (let inner = lastLine(previous); inner && columnOf(text, inner.start) <= column; inner = lastLine(inner)) ending = inner;
  return ending;
}

function lastLine(anchor: Anchor): Anchor | undefined {
  const last = anchor.inner.at(-1);
  return isBlock(anchor.node) && last && (lineKinds.has(last.node.kind) || anchor.node.kind === 'ConfigDeclaration') ? last : undefined;
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
