import { posix } from 'node:path';
import ts from 'typescript';

/** One TypeScript source, parsed, with what it imports. */
export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path from the root for one of our files, undefined for a package. */
  readonly target: string | undefined;
  readonly line: number;
  /** True when nothing of it is left at run time. */
  readonly typeOnly: boolean;
}

export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  visit(tree, (node) => {
    const found = specifierOf(node);
    if (!found) return;
    const specifier = found.specifier.text;
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
    imports.push({ specifier, target, line: lineOf(tree, node), typeOnly: found.typeOnly });
  });
  return { path, tree, imports };
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** 1-based. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

interface FoundSpecifier {
  readonly specifier: ts.StringLiteralLike;
  readonly typeOnly: boolean;
}

function specifierOf(node: ts.Node): FoundSpecifier | undefined {
  if (ts.isImportDeclaration(node)) return literal(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
  if (ts.isExportDeclaration(node)) return literal(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? literal(node.argument.literal, true) : undefined;
  if (ts.isCallExpression(node) && isImportOrRequire(node.expression)) return literal(node.arguments[0], false);
  return undefined;
}

function isImportOrRequire(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function literal(node: ts.Node | undefined, typeOnly: boolean): FoundSpecifier | undefined {
  return node && ts.isStringLiteralLike(node) ? { specifier: node, typeOnly } : undefined;
}
