import type { Binary, Conditional, Expression, Span, Statement } from '../ast/nodes.ts';
import { withCases, withOperands } from '../ast/operator-chain.ts';

export interface Repetition {
  readonly variable: string;
  readonly value: number;
  /** What an earlier repetition of the same loop found out. */
  readonly known: KnownParts;
  /** Is told how many parts a statement had, long texts by their length. */
  readonly spend: (parts: number) => void;
}

/** Where the holes of a loop are, whatever its variable is. */
export class KnownParts {
  /** Parts without a hole, and how many parts each is made of. */
  readonly still = new Map<object, number>();
  /** Of nodes with holes, the members that have them, and how many parts the others are made of. */
  readonly changing = new Map<object, { readonly keys: readonly string[]; readonly others: number }>();
}

/** A statement with every `{variable}` replaced by a number: in names and strings as text, in expressions as an int. */
export function fillHoles(statement: Statement, repetition: Repetition): Statement {
  const filling = { ...repetition, hole: `{${repetition.variable}}`, spent: 0 };
  const filled = fill(statement, filling) as Statement;
  repetition.spend(filling.spent);
  return filled;
}

interface Filling extends Repetition {
  readonly hole: string;
  spent: number;
}

/** Characters of a text that count as one part. */
const charactersPerPart = 16;

function fill(part: unknown, filling: Filling): unknown {
  if (typeof part === 'string') return fillText(part, filling);
  if (part === null || typeof part !== 'object') return part;
  const { still } = filling.known;
  const parts = still.get(part);
  if (parts !== undefined) {
    filling.spent += parts;
    return part;
  }
  const before = filling.spent++;
  const filled = fillParts(part, filling);
  if (filled === part) still.set(part, filling.spent - before);
  return filled;
}

function fillParts(part: object, filling: Filling): unknown {
  if (Array.isArray(part)) return fillItems(part, filling);
  const node = part as { readonly kind?: string; readonly span?: Span; readonly name?: unknown };
  if (node.kind === 'Hole' && node.name === filling.variable && node.span) return numberAt(node.span, filling.value);
  if (node.kind === 'TemplateLiteral') return fillTemplate(node as Extract<Expression, { kind: 'TemplateLiteral' }>, filling);
  const inner = (one: Expression): Expression => fill(one, filling) as Expression;
  if (node.kind === 'Binary') return withOperands(node as Binary, inner);
  if (node.kind === 'Conditional') return withCases(node as Conditional, inner);
  return isShadowed(node, filling) ? part : fillProperties(part, filling);
}

function fillText(text: string, filling: Filling): string {
  const { hole, value } = filling;
  if (!text.includes(hole)) return text;
  filling.spent += Math.ceil(text.length / charactersPerPart);
  return text.replaceAll(hole, `${value}`);
}

/** Parts without holes stay the same objects, so that a thousand repetitions share them. */
function fillItems(items: readonly unknown[], filling: Filling): readonly unknown[] {
  const filled = items.map((item) => fill(item, filling));
  return filled.every((item, position) => item === items[position]) ? items : filled;
}

function fillProperties(part: object, filling: Filling): object {
  const { changing } = filling.known;
  const known = changing.get(part);
  if (known === undefined) return fillAll(part, filling);
  const changed: Record<string, unknown> = { ...part };
  for (const key of known.keys) changed[key] = fill(changed[key], filling);
  filling.spent += known.others;
  return changed;
}

function fillAll(part: object, filling: Filling): object {
  const changed: Record<string, unknown> = { ...part };
  const keys: string[] = [];
  let others = 0;
  for (const key of Object.keys(part)) {
    if (key === 'span') continue;
    const before = filling.spent;
    const filled = fill(changed[key], filling);
    if (filled === changed[key]) others += filling.spent - before;
    else {
      changed[key] = filled;
      keys.push(key);
    }
  }
  if (keys.length === 0) return part;
  filling.known.changing.set(part, { keys, others });
  return changed;
}

/** The text of a template is as it is: `{{i}}` in it is a brace, and its holes are expressions. */
function fillTemplate(node: Extract<Expression, { kind: 'TemplateLiteral' }>, filling: Filling): Expression {
  const parts = node.parts.map((part) => (typeof part === 'string' ? part : (fill(part, filling) as Expression)));
  return { ...node, parts };
}

/** A loop inside with a variable of the same name has holes of its own. */
function isShadowed(node: { readonly kind?: string }, { variable }: Filling): boolean {
  return node.kind === 'ForDeclaration' && (node as { variable?: { text?: string } }).variable?.text === variable;
}

function numberAt(span: Span, value: number): Expression {
  return { kind: 'NumberLiteral', span, type: 'int', value, text: `${value}` };
}
