import type { Binary, Conditional, Expression, Identifier, OperatorCall, Span, Statement, StreamDeclaration } from '../ast/nodes.ts';
import { withCases, withOperands } from '../ast/operator-chain.ts';

/** A statement of a loop, taken apart once, with what to put where for each value of the variable. */
export interface HoledStatement {
  /** Every `{variable}` replaced by the number: in names and strings as text, in expressions as an int. Parts without are the same objects. */
  readonly fill: (value: number) => Statement;
  /** The same, with what makes the text or number of each literal that had a hole. */
  readonly explained: (value: number) => FilledStatement;
  /** How many parts it has, long texts by their length. */
  readonly parts: number;
}

/** `literals`: by literal of the statement, what stands there for each value of the variable. */
export interface FilledStatement {
  readonly statement: Statement;
  readonly literals: ReadonlyMap<object, (value: number) => unknown>;
}

/** A statement that a loop repeats. */
export interface RepeatedStatement {
  readonly written: Statement;
  readonly explained: HoledStatement['explained'];
}

/** What a statement with its holes filled was made of. */
export interface Repetition extends RepeatedStatement {
  readonly value: number;
}

/** What statements with their holes filled were made of. */
export class Repetitions {
  readonly #others = new WeakMap<Statement, Repetition>();

  note(statement: Statement, body: RepeatedStatement, value: number): void {
    if (!FilledStream.note(statement, body)) this.#others.set(statement, { written: body.written, explained: body.explained, value });
  }

  of(statement: Statement): Repetition | undefined {
    return FilledStream.repetitionOf(statement) ?? this.#others.get(statement);
  }

  writtenOf(statement: Statement): Statement | undefined {
    return FilledStream.writtenOf(statement) ?? this.#others.get(statement)?.written;
  }
}

/** Finds the holes of a statement. */
export function holedStatement(statement: Statement, variable: string): HoledStatement {
  const holes: Holes = { variable, hole: `{${variable}}`, parts: 0, literals: null };
  const fill = (statement.kind === 'StreamDeclaration' && fillingOfStream(statement, holes)) || filling(statement, holes);
  if (fill === null) {
    return { fill: () => statement, explained: () => ({ statement, literals: new Map() }), parts: holes.parts };
  }
  const explained = (value: number): FilledStatement => {
    const literals = new Map<object, (value: number) => unknown>();
    holes.literals = literals;
    const filled = { ...(fill(value) as Statement) };
    holes.literals = null;
    return { statement: filled, literals };
  };
  return { fill: fill as (value: number) => Statement, explained, parts: holes.parts };
}

/** Makes a part for a value; null where nothing changes. */
type Fill = ((value: number) => unknown) | null;

interface Holes {
  readonly variable: string;
  readonly hole: string;
  parts: number;
  /** Gets the literals that are filled, where somebody asks for them. */
  literals: Map<object, (value: number) => unknown> | null;
}

/** A stream of which only the name and the operators have holes: its operators are made when they are first read. Null for any other. */
function fillingOfStream(node: StreamDeclaration, holes: Holes): Fill {
  const before = holes.parts;
  holes.parts++;
  const others = [node.type, node.source].map((part) => filling(part, holes));
  const [name, operators] = [filling(node.name, holes), filling(node.operators, holes)];
  if (name === null || operators === null || others.some((fill) => fill !== null)) {
    holes.parts = before;
    return null;
  }
  return (value) => new FilledStream(node, name(value) as Identifier, value, operators as (value: number) => readonly OperatorCall[]);
}

/** A stream whose operators are made when they are first read. All have one getter: where each has its own, V8 keeps each as a dictionary. */
class FilledStream implements StreamDeclaration {
  static readonly #late: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: FilledStream) {
      this.#operators ??= this.#make(this.#value);
      return this.#operators;
    },
  };
  declare readonly kind: 'StreamDeclaration';
  declare readonly span: Span;
  declare readonly name: Identifier;
  declare readonly type: StreamDeclaration['type'];
  declare readonly source: StreamDeclaration['source'];
  declare readonly operators: readonly OperatorCall[];
  readonly #value: number;
  #repeated: RepeatedStatement | undefined;
  readonly #make: (value: number) => readonly OperatorCall[];
  #operators: readonly OperatorCall[] | undefined;

  constructor(
    { kind, span, type, source }: StreamDeclaration,
    name: Identifier,
    value: number,
    make: (value: number) => readonly OperatorCall[],
  ) {
    this.#value = value;
    this.#make = make;
    this.kind = kind;
    this.span = span;
    this.name = name;
    this.type = type;
    this.source = source;
    Object.defineProperty(this, 'operators', FilledStream.#late);
  }

  /** False for a statement that keeps no account of it. */
  static note(statement: Statement, repeated: RepeatedStatement): boolean {
    if (!(#repeated in statement)) return false;
    statement.#repeated = repeated;
    return true;
  }

  static repetitionOf(statement: Statement): Repetition | undefined {
    if (!(#repeated in statement) || statement.#repeated === undefined) return undefined;
    const { written, explained } = statement.#repeated;
    return { written, explained, value: statement.#value };
  }

  static writtenOf(statement: Statement): Statement | undefined {
    return #repeated in statement ? statement.#repeated?.written : undefined;
  }
}

/** Characters of a text that count as one part. */
const charactersPerPart = 16;

function filling(part: unknown, holes: Holes): Fill {
  if (typeof part === 'string') return fillingOfText(part, holes);
  if (part === null || typeof part !== 'object') return null;
  holes.parts++;
  if (Array.isArray(part)) return fillingOfItems(part, holes);
  const node = part as { readonly kind?: string; readonly span?: Span; readonly name?: unknown };
  const { span } = node;
  if (node.kind === 'Hole' && node.name === holes.variable && span) {
    return (value) => {
      const made = numberAt(span, value);
      holes.literals?.set(made, (other) => other);
      return made;
    };
  }
  if (node.kind === 'TemplateLiteral') return fillingOfTemplate(node as Extract<Expression, { kind: 'TemplateLiteral' }>, holes);
  if (node.kind === 'Binary') return fillingOfChain((rewrite) => withOperands(node as Binary, rewrite), holes);
  if (node.kind === 'Conditional') return fillingOfChain((rewrite) => withCases(node as Conditional, rewrite), holes);
  if (node.kind === 'Identifier') return fillingOfName(node as Identifier, holes);
  return isShadowed(node, holes) ? null : fillingOfMembers(part, holes);
}

function fillingOfText(text: string, holes: Holes): Fill {
  if (!text.includes(holes.hole)) return null;
  holes.parts += Math.ceil(text.length / charactersPerPart);
  const pieces = text.split(holes.hole);
  return (value) => pieces.join(`${value}`);
}

/** Member by member: each stream of a loop has a name of its own, and a spread takes far longer. */
function fillingOfName({ kind, span, text, quoted }: Identifier, holes: Holes): Fill {
  const fill = fillingOfText(text, holes);
  return fill && ((value) => ({ kind, span, text: fill(value), quoted }));
}

function fillingOfItems(items: readonly unknown[], holes: Holes): Fill {
  const fills = items.map((item) => filling(item, holes));
  if (fills.every((fill) => fill === null)) return null;
  return (value) => items.map((item, at) => fills[at]?.(value) ?? item);
}

/** The operands of a chain, or the cases of a conditional, of any number. */
function fillingOfChain(rewriting: (rewrite: (part: Expression) => Expression) => Expression, holes: Holes): Fill {
  const fills: Fill[] = [];
  rewriting((part) => {
    fills.push(filling(part, holes));
    return part;
  });
  if (fills.every((fill) => fill === null)) return null;
  return (value) => {
    let at = 0;
    return rewriting((part) => (fills[at++]?.(value) ?? part) as Expression);
  };
}

function fillingOfMembers(part: object, holes: Holes): Fill {
  const changing: { readonly key: string; readonly fill: NonNullable<Fill> }[] = [];
  for (const [key, member] of Object.entries(part)) {
    const fill = key === 'span' ? null : filling(member, holes);
    if (fill !== null) changing.push({ key, fill });
  }
  if (changing.length === 0) return null;
  const valueFill = changing.find(({ key }) => key === 'value')?.fill;
  return (value) => {
    const changed: Record<string, unknown> = { ...part };
    for (const { key, fill } of changing) changed[key] = fill(value);
    if (valueFill !== undefined) holes.literals?.set(changed, valueFill);
    return changed;
  };
}

/** The text of a template is as it is: `{{i}}` in it is a brace, and its holes are expressions. */
function fillingOfTemplate(node: Extract<Expression, { kind: 'TemplateLiteral' }>, holes: Holes): Fill {
  const fills = node.parts.map((part) => (typeof part === 'string' ? null : filling(part, holes)));
  if (fills.every((fill) => fill === null)) return null;
  return (value) => ({ ...node, parts: node.parts.map((part, at) => fills[at]?.(value) ?? part) });
}

/** A loop inside with a variable of the same name has holes of its own. */
function isShadowed(node: { readonly kind?: string }, { variable }: Holes): boolean {
  return node.kind === 'ForDeclaration' && (node as { variable?: { text?: string } }).variable?.text === variable;
}

function numberAt(span: Span, value: number): Expression {
  return { kind: 'NumberLiteral', span, type: 'int', value, text: `${value}` };
}
