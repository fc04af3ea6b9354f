import { expect } from 'vitest';
import type { Expression, Program, Statement } from '../../../../shared/language/ast/nodes.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../../../shared/language/diagnostics/render.ts';
import { print } from '../../../../shared/language/format/print.ts';
import { parse, parseExpression } from '../../../../shared/language/grammar/parse.ts';

/** The tree of a text without errors. */
export function read(text: string): Program {
  const { program, diagnostics } = parse(new SourceText('test.vpl', text));
  expect(diagnostics.map(renderDiagnostic).join('\n')).toBe('');
  return program;
}

function readStatement(text: string): Statement {
  const [statement] = read(text).statements;
  if (!statement) throw new Error(`no statement in ${text}`);
  return statement;
}

/** A statement of one kind, without looking at its kind first. */
export function readAs<K extends Statement['kind']>(kind: K, text: string): Extract<Statement, { readonly kind: K }> {
  const statement = readStatement(text);
  expect(statement.kind).toBe(kind);
  return statement as Extract<Statement, { readonly kind: K }>;
}

export function readExpression(text: string): Expression {
  const { expression, diagnostics } = parseExpression(new SourceText('test.vpl', text));
  expect(diagnostics.map(renderDiagnostic).join('\n')).toBe('');
  if (!expression) throw new Error(`no expression in ${text}`);
  return expression;
}

/** The text in its one layout, which shows how it was read. */
export function printed(text: string): string {
  return print(read(text)).trimEnd();
}

/** What the user sees of the errors. */
export function errorsOf(text: string): string {
  const { diagnostics } = parse(new SourceText('t.vpl', text));
  expect(diagnostics.every(({ code, severity }) => code === 'E000' && severity === 'error')).toBe(true);
  return diagnostics.map(renderDiagnostic).join('\n');
}

/** `1:5 message (hint)` of each error. */
export function errorLines(text: string): string[] {
  const source = new SourceText('t.vpl', text);
  return parse(source).diagnostics.map(({ span, message, hint }) => {
    const { line, column } = source.position(span.start);
    return `${line}:${column} ${message}${hint === undefined ? '' : ` (${hint})`}`;
  });
}

/** Every operator and call in parentheses: how a text groups. */
export function grouped(text: string): string {
  return group(readExpression(text));
}

function group(node: Expression): string {
  switch (node.kind) {
    case 'Parenthesized':
      return group(node.expression);
    case 'Binary':
      return `(${group(node.left)} ${node.operator} ${group(node.right)})`;
    case 'Unary':
      return `(${node.operator} ${group(node.operand)})`;
    case 'IsNull':
      return `(${group(node.operand)} is${node.negated ? ' not' : ''} null)`;
    case 'Range':
      return `(${group(node.from)}${node.inclusive ? '..=' : '..'}${group(node.to)})`;
    case 'Conditional':
      return `(if ${group(node.condition)} then ${group(node.then)} else ${group(node.otherwise)})`;
    case 'Lambda':
      return `(${node.parameters.map(({ text }) => text).join(', ')} => ${group(node.body)})`;
    case 'Member':
      return `${group(node.object)}${node.optional ? '?.' : '.'}${node.name.text}`;
    case 'Index':
      return `${group(node.object)}[${group(node.index)}]`;
    case 'Slice':
      return `${group(node.object)}[${node.from ? group(node.from) : ''}:${node.to ? group(node.to) : ''}]`;
    case 'Call':
      return `${group(node.callee)}(${node.arguments.map(({ value }) => group(value as Expression)).join(', ')})`;
    case 'Name':
    case 'Hole':
      return node.name;
    case 'NumberLiteral':
    case 'DurationLiteral':
    case 'TimestampLiteral':
      return node.text;
    case 'StringLiteral':
      return JSON.stringify(node.value);
    case 'BoolLiteral':
      return String(node.value);
    default:
      return node.kind;
  }
}
