import ts from 'typescript';
import { importViolation } from './boundaries.ts';
import { type Import, lineOf, type Source, visit } from './source.ts';

const pureFolders = [
  'shared/language/',
  'worker/engine/',
  'coordinator/raft/core/',
  'coordinator/raft/storage/',
  'coordinator/raft/sessions/',
  'coordinator/raft/transport/',
  'coordinator/state/',
  'coordinator/placement/',
];

/** Packages without input, output, clock or randomness. */
const purePackages = new Set(['re2js', 'typebox', 'typebox/compile', 'typebox/value']);

/** Node's modules that one file of the pure folders needs. */
const exceptions: Readonly<Record<string, string>> = { 'worker/engine/compile/load.ts': 'node:vm' };

const impureGlobals = new Set([
  'Promise',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'performance',
  'process',
  'fetch',
  'console',
]);

/** What makes a pure file depend on more than its arguments, each as `<file>:<line>: <what>: <rule>`. */
export function purityViolations(sources: readonly Source[]): string[] {
  const pure = sources.filter(({ path }) => isPure(path));
  return [...pure.flatMap(impureUses), ...reachable(pure, sources).flatMap(impureImports)];
}

function isPure(path: string): boolean {
  return pureFolders.some((folder) => path.startsWith(folder));
}

/** The pure files and everything of ours that is loaded with them: an impure import hides just as well one file away. */
function reachable(from: readonly Source[], all: readonly Source[]): Source[] {
  const byPath = new Map(all.map((source) => [source.path, source]));
  const found = new Set(from);
  for (const { imports } of found) {
    for (const { target, typeOnly } of imports) {
      const next = typeOnly || target === undefined ? undefined : byPath.get(target);
      if (next) found.add(next);
    }
  }
  return [...found];
}

function impureImports({ path, imports }: Source): string[] {
  const rule = isPure(path)
    ? 'pure folders import no node:* and no package but pure ones'
    : 'loaded by a pure folder, so it imports no node:* and no package but pure ones';
  return imports.filter((found) => isImpureImport(path, found)).map((found) => importViolation(path, found, rule));
}

function isImpureImport(path: string, { specifier, target, typeOnly }: Import): boolean {
  return target === undefined && !typeOnly && !purePackages.has(specifier) && exceptions[path] !== specifier;
}

function impureUses({ path, tree }: Source): string[] {
  const declared = declaredNames(tree);
  const found: string[] = [];
  visit(tree, (node) => {
    const use = impureUse(node, declared);
    if (use !== undefined)
      found.push(`${path}:${lineOf(tree, node)}: uses ${use}: pure folders have no clock, randomness, timers or promises`);
  });
  return found;
}

function impureUse(node: ts.Node, declared: ReadonlySet<string>): string | undefined {
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return 'async';
  if (ts.isAwaitExpression(node)) return 'await';
  if (ts.isPropertyAccessExpression(node)) {
    const text = `${node.expression.getText()}.${node.name.text}`;
    return text === 'Date.now' || text === 'Math.random' ? text : undefined;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date')
    return (node.arguments ?? []).length === 0 ? 'new Date()' : undefined;
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  return ts.isIdentifier(node) && impureGlobals.has(node.text) && !declared.has(node.text) && !isMemberName(node) ? node.text : undefined;
}

/** Names that the file declares itself, so that they are not the globals of that name. */
function declaredNames(tree: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  visit(tree, (node) => {
    const isDeclaration =
      ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isParameter(node) || ts.isImportSpecifier(node);
    if (isDeclaration && node.name && ts.isIdentifier(node.name)) names.add(node.name.text);
  });
  return names;
}

/** True for `x.name`, `{ name: .. }` and the like, where the name is not a variable. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  return (ts.isPropertyAssignment(parent) || ts.isClassElement(parent) || ts.isTypeElement(parent)) && parent.name === node;
}
