import ts from 'typescript';
import { lineOf, type Source, visit } from './source.ts';

/** The folder whose files connect; every other asks them to. */
const doors = 'shared/outbound/';

/** The console runs in browsers, which let it ask its own server alone: the content policy of its pages says so. */
const inBrowsers = 'cli/console/';

/** Modules that connect outward, with the names in them that do not. */
const harmlessNames: Readonly<Record<string, readonly string[]>> = {
  http: ['METHODS', 'STATUS_CODES', 'createServer'],
  https: ['createServer'],
  http2: ['createServer', 'createSecureServer'],
  net: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'createServer'],
  tls: ['createSecureContext', 'createServer'],
  dns: [],
  'dns/promises': [],
  dgram: [],
  undici: ['errors'],
};

const outboundGlobals = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']);

/** Places that reach outward past the door, each as `<file>:<line>: <what>: <rule>`. */
export function outboundViolations(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !path.startsWith(doors) && !path.startsWith(inBrowsers))
    .flatMap(({ path, tree }) => uses(path, tree));
}

function uses(path: string, tree: ts.SourceFile): string[] {
  const found: string[] = [];
  const report = (node: ts.Node, what: string): void => {
    found.push(`${path}:${lineOf(tree, node)}: ${what}: what connects outward goes through a door of ${doors}`);
  };
  visit(tree, (node) => {
    if (ts.isImportDeclaration(node)) for (const name of namesImported(node)) report(node, `imports ${name}`);
    else if (ts.isExportDeclaration(node) && !node.isTypeOnly && harmless(node.moduleSpecifier)) report(node, 'exports such a module');
    else if (ts.isCallExpression(node) && isLoading(node.expression) && harmless(node.arguments[0])) report(node, 'loads such a module');
    else if (ts.isIdentifier(node) && outboundGlobals.has(node.text) && isUsed(node)) report(node, `uses ${node.text}`);
  });
  return found;
}

/** What a module that connects has and does not connect; undefined for every other module. */
function harmless(specifier: ts.Node | undefined): readonly string[] | undefined {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  return harmlessNames[specifier.text.replace(/^node:/, '')];
}

function namesImported({ moduleSpecifier, importClause }: ts.ImportDeclaration): string[] {
  const allowed = harmless(moduleSpecifier);
  if (allowed === undefined || importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const names = importClause?.namedBindings;
  if (importClause?.name !== undefined || names === undefined || ts.isNamespaceImport(names))
    return [`all of ${moduleSpecifier.getText()}`];
  return names.elements
    .filter((element) => !element.isTypeOnly)
    .map((element) => (element.propertyName ?? element.name).text)
    .filter((name) => !allowed.includes(name))
    .map((name) => `${name} of ${moduleSpecifier.getText()}`);
}

function isLoading(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || /(^|\.)(require|getBuiltinModule)$/.test(callee.getText());
}

/** Not a name in a type, nor a member or a property of that name: `globalThis.fetch` is the global. */
function isUsed(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return parent.expression.getText() === 'globalThis';
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent);
}
