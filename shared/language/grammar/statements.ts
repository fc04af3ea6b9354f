/**
 * Builds statements from the tree of logical lines: reads each line with the rule that its first word and its block ask
 * for, and puts blocks together. A line with an error costs only itself; its block is read on for further errors.
 */
import type {
  Argument,
  Expression,
  FieldDeclaration,
  FunctionStatement,
  IfDeclaration,
  IfStatement,
  MapEntry,
  Span,
  Statement,
  StreamDeclaration,
  TestStep,
} from '../ast/nodes.ts';
import { blockDepthMax, type Line } from './layout.ts';
import type { LineReader, Piece, Readings } from './line-reader.ts';
import { ahead, type Holes, patterns } from './lookahead.ts';
import { explainStatement } from './syntax-error.ts';

const word = /[A-Za-z_][A-Za-z0-9_]*/y;

type Branch<S> = { readonly condition: Expression | undefined; readonly body: readonly S[]; readonly end: number };

/** The head of a compound statement and the lines of its body. */
interface Compound {
  readonly head: Piece;
  readonly body: readonly Line[];
  readonly line: Line;
}

export class StatementReader {
  readonly #reader: LineReader;
  /** Streams of blocks of which several could be read together. */
  readonly #streams = new Map<Line, StreamDeclaration>();
  #depth = 0;

  constructor(reader: LineReader) {
    this.#reader = reader;
  }

  declarations(lines: readonly Line[], holes: Holes): Statement[] {
    const streams = lines.filter((line) => !line.broken && this.#firstWord(line) === 'stream' && !this.#isAssignment(line));
    if (streams.length > 1) this.#reader.readStreams(streams, holes, (line, stream) => this.#streams.set(line, stream));
    return this.#block(lines, (line, next) => this.#declaration(line, next, holes));
  }

  // ---------------------------------------------------------------- lines

  /** Reads each line of a block. `read` may take further lines (`elif`, `else`) through `next`. */
  #block<T>(lines: readonly Line[], read: (line: Line, next: NextLine) => readonly T[] | T | undefined): T[] {
    const found: T[] = [];
    if (++this.#depth > blockDepthMax) {
      const first = lines[0];
      if (first) this.#reader.report({ start: first.start, end: first.end }, `blocks are nested more than ${blockDepthMax} deep`);
    } else {
      const next = new NextLine(lines, (line) => this.#firstWord(line));
      for (let line = next.take(); line && !this.#reader.isFull; line = next.take()) {
        for (const item of this.#line(line, next, read)) found.push(item);
      }
    }
    this.#depth--;
    return found;
  }

  #line<T>(line: Line, next: NextLine, read: (line: Line, next: NextLine) => readonly T[] | T | undefined): readonly T[] {
    const before = this.#reader.errors.length;
    const result = read(line, next);
    const [stray] = line.stray;
    if (stray && !line.broken && this.#reader.errors.length === before) this.#refuseStray(stray);
    if (result === undefined) return [];
    return (Array.isArray(result) ? result : [result]) as readonly T[];
  }

  #refuseStray(line: Line): void {
    const { message, hint } = explainStatement(this.#reader.text, line.start, 'stray');
    this.#reader.report({ start: line.start, end: line.start + 1 }, message, hint);
  }

  #firstWord(line: Piece): string {
    word.lastIndex = line.start;
    return word.exec(this.#reader.text)?.[0] ?? '';
  }

  #isAssignment(line: Line): boolean {
    return ahead(patterns.assignment, this.#reader.text, line.start);
  }

  #read<R extends keyof Readings>(rule: R, line: Line, holes: Holes): Readings[R] | undefined {
    return line.broken ? undefined : this.#reader.read(rule, line, holes);
  }

  #readHead<R extends keyof Readings>(rule: R, { head, line }: Compound, holes: Holes): Readings[R] | undefined {
    return line.broken ? undefined : this.#reader.read(rule, head, holes);
  }

  /** Cuts a line at its first colon outside brackets: what follows on the line is the block in one line. */
  #compound(line: Line): Compound {
    const colon = line.colons[0];
    if (colon === undefined) return { head: { start: line.start, end: line.end }, body: [], line };
    const head = { start: line.start, end: colon + 1 };
    if (colon === line.end - 1) return { head, body: line.children, line };
    return { head, body: [this.#rest(line, colon + 1, line.end)], line };
  }

  /** The part of a line from `start` to `end` as a line of its own; the last part keeps the line's block. */
  #rest(line: Line, start: number, end: number): Line {
    const { from, to } = this.#trim(start, end);
    const within = (at: number): boolean => at >= from && at < to;
    const isLast = end === line.end;
    return {
      ...line,
      start: from,
      end: to,
      colons: line.colons.filter(within),
      semicolons: line.semicolons.filter(within),
      operatorDots: line.operatorDots.filter(within),
      opensBlock: isLast && line.opensBlock,
      children: isLast ? line.children : [],
      stray: isLast ? line.stray : [],
    };
  }

  #trim(start: number, end: number): { from: number; to: number } {
    const text = this.#reader.text;
    let from = start;
    let to = end;
    while (from < to && /\s/.test(text[from] as string)) from++;
    while (to > from && /\s/.test(text[to - 1] as string)) to--;
    return { from, to };
  }

  #splitAtSemicolons(line: Line): Line[] {
    if (line.semicolons.length === 0) return [line];
    const ends = [...line.semicolons, line.end];
    const parts = ends.map((end, index) => {
      const { from, to } = this.#trim(index === 0 ? line.start : (ends[index - 1] as number) + 1, end);
      return { ...line, start: from, end: to, colons: [], semicolons: [], operatorDots: [] };
    });
    return parts.filter((part) => part.start < part.end);
  }

  #requireBlock({ head, body, line }: Compound): void {
    if (body.length > 0 || line.broken) return;
    const at = head.end;
    this.#reader.report(
      { start: at, end: at + 1 },
      'expected an indented block',
      'indent the lines that belong to it, or write one statement behind the `:`',
    );
  }

  #unknown(line: Line, place: Parameters<typeof explainStatement>[2]): undefined {
    if (line.broken) return undefined;
    const { message, hint, length } = explainStatement(this.#reader.text, line.start, place);
    this.#reader.report({ start: line.start, end: line.start + length }, message, hint);
    return undefined;
  }

  // ---------------------------------------------------------------- declarations

  #declaration(line: Line, next: NextLine, holes: Holes): Statement | undefined {
    if (this.#isAssignment(line)) return this.#read('Assignment', line, holes);
    const read = this.#declarations[this.#firstWord(line)];
    return read ? read(line, holes, next) : this.#unknown(line, 'declaration');
  }

  readonly #declarations: Readonly<Record<string, (line: Line, holes: Holes, next: NextLine) => Statement | undefined>> = {
    __proto__: null as never,
    event: (line, holes) => this.#event(line, holes),
    type: (line, holes) => this.#type(line, holes),
    const: (line, holes) => this.#read('Binding', line, holes),
    let: (line, holes) => this.#read('Binding', line, holes),
    var: (line, holes) => this.#read('Binding', line, holes),
    fn: (line, holes) => this.#function(line, holes),
    connector: (line, holes) => this.#read('ConnectorLine', line, holes),
    context: (line, holes) => this.#read('ContextLine', line, holes),
    config: (line, holes) => this.#config(line, holes),
    pattern: (line, holes) => this.#read('PatternLine', line, holes),
    stream: (line, holes) => this.#streams.get(line) ?? this.#read('StreamLine', line, holes),
    import: (line, holes) => this.#read('ImportLine', line, holes),
    for: (line, holes) => this.#for(line, holes),
    if: (line, holes, next) => this.#ifDeclaration(line, holes, next),
    test: (line, holes) => this.#test(line, holes),
  };

  #event(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('EventHead', compound, holes);
    const fields = this.#fields(compound.body, holes);
    return head && { kind: 'EventDeclaration', span: blockSpan(compound, fields), ...head, fields };
  }

  #type(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('TypeHead', compound, holes);
    const fields = this.#fields(compound.body, holes);
    return head && { kind: 'TypeDeclaration', span: blockSpan(compound, fields), ...head, fields };
  }

  #fields(lines: readonly Line[], holes: Holes): FieldDeclaration[] {
    return this.#block(lines, (line) => this.#read('FieldLine', line, holes));
  }

  #function(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('FunctionHead', compound, holes);
    if (head) this.#requireBlock(compound);
    const body = this.#functionBody(compound.body, holes);
    return head && { kind: 'FunctionDeclaration', span: blockSpan(compound, body), ...head, body };
  }

  #config(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('ConfigHead', compound, holes);
    const entries = [...(head?.entries ?? []), ...this.#configEntries(compound.body, holes)];
    return head && { kind: 'ConfigDeclaration', span: blockSpan(compound, entries), name: head.name, entries };
  }

  #configEntries(lines: readonly Line[], holes: Holes): Argument[] {
    return this.#block(lines, (line) => (line.opensBlock ? this.#configSection(line, holes) : this.#read('ConfigLine', line, holes)));
  }

  /** `name:` with deeper lines: a map. */
  #configSection(line: Line, holes: Holes): Argument | undefined {
    const name = this.#read('ConfigSection', line, holes);
    const inner = this.#configEntries(line.children, holes);
    if (!name) return undefined;
    const end = inner.at(-1)?.span.end ?? line.end;
    const entries = inner.map(asMapEntry);
    const value = { kind: 'MapLiteral', span: { start: inner[0]?.span.start ?? line.end, end }, entries } as const;
    return { kind: 'Argument', span: { start: line.start, end }, name, value, order: null };
  }

  #for(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('ForHead', compound, holes);
    if (head) this.#requireBlock(compound);
    const inner = new Set([...(holes ?? []), ...(head ? [head.variable.text] : [])]);
    const body = this.declarations(compound.body, inner);
    return head && { kind: 'ForDeclaration', span: blockSpan(compound, body), variable: head.variable, range: head.values, body };
  }

  #ifDeclaration(line: Line, holes: Holes, next: NextLine): IfDeclaration | undefined {
    const { branches, otherwise, span } = this.#branches(line, next, holes, (body) => this.declarations(body, holes));
    return branches && { kind: 'IfDeclaration', span, branches, otherwise: otherwise ?? [] };
  }

  // ---------------------------------------------------------------- branches

  #branches<S extends { readonly span: Span }>(
    line: Line,
    next: NextLine,
    holes: Holes,
    readBody: (lines: readonly Line[]) => S[],
  ): { branches: IfBranches<S> | undefined; otherwise: S[] | null; span: Span } {
    const branches = [this.#branch(line, holes, readBody)];
    for (let elif = next.takeWord('elif'); elif; elif = next.takeWord('elif')) branches.push(this.#branch(elif, holes, readBody));
    const last = next.takeWord('else');
    const otherwise = last ? this.#elseBranch(last, holes, readBody) : null;
    const end = otherwise?.end ?? branches.at(-1)?.end ?? line.end;
    return { branches: complete(branches), otherwise: otherwise?.body ?? null, span: { start: line.start, end } };
  }

  #branch<S extends { readonly span: Span }>(line: Line, holes: Holes, readBody: (lines: readonly Line[]) => S[]): Branch<S> {
    const compound = this.#compound(line);
    const condition = this.#readHead('IfHead', compound, holes);
    if (condition) this.#requireBlock(compound);
    const body = readBody(compound.body);
    return { condition, body, end: blockSpan(compound, body).end };
  }

  #elseBranch<S extends { readonly span: Span }>(
    line: Line,
    holes: Holes,
    readBody: (lines: readonly Line[]) => S[],
  ): { body: S[]; end: number } {
    const compound = this.#compound(line);
    if (this.#readHead('ElseHead', compound, holes)) this.#requireBlock(compound);
    const body = readBody(compound.body);
    return { body, end: blockSpan(compound, body).end };
  }

  // ---------------------------------------------------------------- functions

  #functionBody(lines: readonly Line[], holes: Holes): FunctionStatement[] {
    return this.#block(lines, (line, next) => this.#functionLine(line, next, holes));
  }

  #functionLine(line: Line, next: NextLine, holes: Holes): FunctionStatement[] {
    const compound = line.colons.length > 0 ? this.#functionCompounds[this.#firstWord(line)] : undefined;
    if (compound && !this.#isAssignment(line)) return asList(compound(line, holes, next));
    return this.#splitAtSemicolons(line).flatMap((part) => asList(this.#functionStatement(part, holes)));
  }

  readonly #functionCompounds: Readonly<Record<string, (line: Line, holes: Holes, next: NextLine) => FunctionStatement | undefined>> = {
    __proto__: null as never,
    if: (line, holes, next) => this.#ifStatement(line, holes, next),
    for: (line, holes) => this.#forStatement(line, holes),
    while: (line, holes) => this.#whileStatement(line, holes),
    elif: (line) => this.#unknown(line, 'function'),
    else: (line) => this.#unknown(line, 'function'),
  };

  #ifStatement(line: Line, holes: Holes, next: NextLine): IfStatement | undefined {
    const { branches, otherwise, span } = this.#branches(line, next, holes, (body) => this.#functionBody(body, holes));
    return branches && { kind: 'IfStatement', span, branches, otherwise };
  }

  #forStatement(line: Line, holes: Holes): FunctionStatement | undefined {
    const compound = this.#compound(line);
    const head = this.#readHead('ForHead', compound, holes);
    if (head) this.#requireBlock(compound);
    const body = this.#functionBody(compound.body, holes);
    return head && { kind: 'ForStatement', span: blockSpan(compound, body), variable: head.variable, iterable: head.values, body };
  }

  #whileStatement(line: Line, holes: Holes): FunctionStatement | undefined {
    const compound = this.#compound(line);
    const condition = this.#readHead('WhileHead', compound, holes);
    if (condition) this.#requireBlock(compound);
    const body = this.#functionBody(compound.body, holes);
    return condition && { kind: 'WhileStatement', span: blockSpan(compound, body), condition, body };
  }

  #functionStatement(line: Line, holes: Holes): FunctionStatement | undefined {
    if (this.#isAssignment(line)) return this.#read('Assignment', line, holes);
    if (ahead(patterns.binding, this.#reader.text, line.start)) return this.#read('Binding', line, holes);
    const text = this.#reader.text.slice(line.start, line.end);
    if (/^return(?!\w)(?!\s*[.(])/.test(text) || /^return\s*\(/.test(text)) return this.#read('ReturnLine', line, holes);
    if (text === 'break') return this.#read('BreakLine', line, holes);
    if (text === 'continue') return this.#read('ContinueLine', line, holes);
    if (/^emit\s+[A-Za-z_`]/.test(text)) return this.#read('EmitLine', line, holes);
    const known = explainStatement(this.#reader.text, line.start, 'function');
    return known.certain ? this.#unknown(line, 'function') : this.#read('ExpressionLine', line, holes);
  }

  // ---------------------------------------------------------------- tests

  #test(line: Line, holes: Holes): Statement | undefined {
    const compound = this.#compound(line);
    const name = this.#readHead('TestHead', compound, holes);
    const steps = this.#block(compound.body, (step) => this.#testStep(step, holes));
    return name && { kind: 'TestDeclaration', span: blockSpan(compound, steps), name, steps };
  }

  #testStep(line: Line, holes: Holes): TestStep | undefined {
    switch (this.#firstWord(line)) {
      case 'at':
        return this.#read('TestEventLine', line, holes);
      case 'advance':
        return this.#read('TestAdvanceLine', line, holes);
      case 'expect':
        return this.#read('TestExpectationLine', line, holes);
      default:
        return this.#unknown(line, 'test');
    }
  }
}

type IfBranches<S> = readonly { readonly condition: Expression; readonly body: readonly S[] }[];

/** The branches, when every condition could be read. */
function complete<S>(branches: readonly Branch<S>[]): IfBranches<S> | undefined {
  const read = branches.flatMap(({ condition, body }) => (condition ? [{ condition, body }] : []));
  return read.length === branches.length ? read : undefined;
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function asMapEntry({ name, value, span }: Argument): MapEntry {
  return { kind: 'MapEntry', span, key: name?.text ?? '', quoted: name?.quoted ?? false, value: value as Expression };
}

function blockSpan({ head, line }: Compound, body: readonly { readonly span: Span }[]): Span {
  return { start: line.start, end: Math.max(head.end, body.at(-1)?.span.end ?? 0) };
}

/** The lines of a block in turn. */
class NextLine {
  readonly #lines: readonly Line[];
  readonly #firstWord: (line: Line) => string;
  #index = 0;

  constructor(lines: readonly Line[], firstWord: (line: Line) => string) {
    this.#lines = lines;
    this.#firstWord = firstWord;
  }

  take(): Line | undefined {
    return this.#lines[this.#index++];
  }

  /** The next line when it begins with this word. */
  takeWord(expected: string): Line | undefined {
    const line = this.#lines[this.#index];
    if (!line || this.#firstWord(line) !== expected) return undefined;
    this.#index++;
    return line;
  }
}
