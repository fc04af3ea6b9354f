import { limits } from '../../limits.ts';
import type {
  Argument,
  AssignmentStatement,
  BindingDeclaration,
  BreakStatement,
  ConnectorDeclaration,
  ContextDeclaration,
  ContinueStatement,
  EmitStatement,
  Expression,
  ExpressionStatement,
  FieldDeclaration,
  Identifier,
  ImportDeclaration,
  ParameterDeclaration,
  PatternDeclaration,
  ReturnStatement,
  Span,
  StreamDeclaration,
  StringLiteral,
  TestAdvance,
  TestEvent,
  TestExpectation,
  TypeExpression,
} from '../ast/nodes.ts';
import type { Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import { tooDeepAt } from './depth.ts';
import { SyntaxError as GrammarError, parse as parseLine } from './generated/parser.js';
import type { Holes } from './lookahead.ts';
import { LineError, type Notes } from './notes.ts';
import { explainSyntaxError } from './syntax-error.ts';

/** What each start rule of the grammar gives. */
export interface Readings {
  EventHead: { readonly name: Identifier; readonly parent: Identifier | null };
  TypeHead: { readonly name: Identifier; readonly alias: TypeExpression | null };
  Binding: BindingDeclaration;
  Assignment: AssignmentStatement;
  FunctionHead: { readonly name: Identifier; readonly parameters: readonly ParameterDeclaration[]; readonly result: TypeExpression | null };
  ConnectorLine: ConnectorDeclaration;
  ContextLine: ContextDeclaration;
  ConfigHead: { readonly name: Identifier; readonly entries: readonly Argument[] };
  ConfigLine: readonly Argument[];
  ConfigSection: Identifier;
  PatternLine: PatternDeclaration;
  StreamLine: StreamDeclaration;
  StreamLines: readonly StreamDeclaration[];
  ImportLine: ImportDeclaration;
  ForHead: { readonly variable: Identifier; readonly values: Expression };
  IfHead: Expression;
  WhileHead: Expression;
  ElseHead: unknown;
  TestHead: StringLiteral;
  FieldLine: readonly FieldDeclaration[];
  ReturnLine: ReturnStatement;
  BreakLine: BreakStatement;
  ContinueLine: ContinueStatement;
  EmitLine: EmitStatement;
  ExpressionLine: ExpressionStatement;
  LoneExpression: Expression;
  TestEventLine: TestEvent;
  TestAdvanceLine: TestAdvance;
  TestExpectationLine: TestExpectation;
}

export interface Piece {
  readonly start: number;
  readonly end: number;
  /** Offsets of dots that begin a stream operator whatever stands before them. */
  readonly operatorDots?: readonly number[];
}

/** So many lines are read together: one with an error among them makes the others be read again. */
const linesTogetherMax = 64;

/** Errors of one file beyond this number are left out. */
export const errorsMax = 500;
/** Errors of one logical line beyond this number are left out: they tend to have one cause. */
const errorsPerLineMax = 5;

/** Reads pieces of the blanked text with the generated parser and collects the errors; never throws. */
export class LineReader {
  readonly errors: Diagnostic[] = [];
  readonly text: string;
  readonly #source: SourceText;

  constructor(source: SourceText, text: string) {
    this.#source = source;
    this.text = text;
  }

  get isFull(): boolean {
    return this.errors.length >= errorsMax;
  }

  report(span: Span, message: string, hint?: string): void {
    if (this.isFull) return;
    const problem = { severity: 'error', code: 'E000', message, source: this.#source, span } as const;
    this.errors.push(hint === undefined ? problem : { ...problem, hint });
  }

  /** Gives the streams of these lines to `found`, as far as lines without errors stand together; nothing is reported. */
  readStreams<P extends Piece>(pieces: readonly P[], holes: Holes, found: (piece: P, stream: StreamDeclaration) => void): void {
    for (let from = 0; from < pieces.length; from += linesTogetherMax) {
      const together = pieces.slice(from, from + linesTogetherMax);
      this.#readTogether(together, holes)?.forEach((stream, at) => {
        const piece = together[at] as P;
        if (!tooDeepIn(stream, piece)) found(piece, stream);
      });
    }
  }

  #readTogether(pieces: readonly Piece[], holes: Holes): readonly StreamDeclaration[] | undefined {
    const input = pieces.map((piece) => this.#markOperators(piece)).join('\x02');
    const starts = pieces.map(({ start }) => start);
    const refuse = (): never => {
      throw new LineError({ start: 0, end: 0 }, '');
    };
    const notes = { report: refuse, fail: refuse };
    try {
      return parseLine(input, { startRule: 'StreamLines', base: starts[0], starts, holes, notes, peg$silentFails: 1 } as {
        startRule: 'StreamLines';
      }) as readonly StreamDeclaration[];
    } catch (error) {
      if (error instanceof LineError || error instanceof GrammarError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** The node of a piece, or undefined when it has an error that ends its reading (which is then reported). */
  read<R extends keyof Readings>(rule: R, piece: Piece, holes: Holes): Readings[R] | undefined {
    const input = rule === 'StreamLine' || rule === 'PatternLine' ? this.#markOperators(piece) : this.text.slice(piece.start, piece.end);
    try {
      const reading = this.#parse(rule, input, { base: piece.start, holes, notes: this.#notes() });
      const deep = tooDeepIn(reading, piece);
      if (!deep) return reading;
      this.report(
        deep,
        `this is nested more than ${limits.programTreeDepthMax} deep`,
        'give its inner parts names of their own: `const`, `let` or `fn`',
      );
    } catch (error) {
      this.#explain(error, { rule, piece, input });
    }
    return undefined;
  }

  /** What the grammar reads; a text with an error is read again so that the error says what was expected. */
  #parse<R extends keyof Readings>(startRule: R, input: string, given: { base: number; holes: Holes; notes: Notes }): Readings[R] {
    const parse = (silentFails: number): Readings[R] =>
      parseLine(input, { startRule, ...given, peg$silentFails: silentFails } as { startRule: R }) as Readings[R];
    try {
      return parse(1);
    } catch (error) {
      if (error instanceof GrammarError) return parse(0);
      throw error;
    }
  }

  /** Only streams and patterns have operators outside brackets; in a function `xs.first()` is a method call. */
  #markOperators({ start, end, operatorDots }: Piece): string {
    if (!operatorDots || operatorDots.length === 0) return this.text.slice(start, end);
    const pieces: string[] = [];
    let copied = start;
    for (const dot of operatorDots) {
      pieces.push(this.text.slice(copied, dot));
      copied = dot + 1;
    }
    return [...pieces, this.text.slice(copied, end)].join('\x01');
  }

  #notes(): Notes {
    const said = new Set<string>();
    return {
      report: (span, message, hint) => {
        if (said.size >= errorsPerLineMax) return;
        const key = `${span.start} ${message}`;
        if (said.has(key)) return;
        said.add(key);
        this.report(span, message, hint);
      },
      fail: (span, message, hint) => {
        throw new LineError(span, message, hint);
      },
    };
  }

  #explain(error: unknown, { rule, piece, input }: { rule: string; piece: Piece; input: string }): void {
    if (error instanceof LineError) this.report(error.span, error.message, error.hint);
    else if (error instanceof GrammarError) {
      const text = input.replaceAll('\x01', '.');
      const { at, length, message, hint } = explainSyntaxError({
        rule,
        text,
        at: error.location.start.offset,
        expected: error.expected ?? [],
      });
      this.report({ start: piece.start + at, end: piece.start + at + length }, message, hint);
    } else if (error instanceof RangeError) {
      this.report(
        { start: piece.start, end: piece.end },
        'this is nested too deep',
        'give its inner parts names of their own: `const`, `let` or `fn`',
      );
    } else throw error;
  }
}

/** Where a piece nests too deep; a short one cannot. */
function tooDeepIn(reading: unknown, { start, end }: Piece): Span | undefined {
  return end - start > limits.programTreeDepthMax ? tooDeepAt(reading) : undefined;
}
