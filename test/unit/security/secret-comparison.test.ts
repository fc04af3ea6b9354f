import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { TenantRegistry } from '../../../worker/runtime/tenants/tenant-registry.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Names of what nobody may learn piece by piece, from the time that a comparison takes. */
const secretName = /(api_?key|server_?key|master_?key|presented|secret|token|password|digest|signature|hmac)$/i;
const equality = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** Comparisons of two secrets by an operator that stops at the first difference; `line: text` of each. */
function comparisonsIn(text: string): string[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && equality.has(node.operatorToken.kind)) {
      const isSecret = [node.left, node.right].some((side) => secretName.test(lastName(side)));
      const isPlain = [node.left, node.right].some(isKnown);
      if (isSecret && !isPlain) found.push(`${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function lastName(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text.replace('#', '') : '';
}

/** A value that everybody knows: nothing can be learned about it. */
function isKnown(node: ts.Expression): boolean {
  return (
    ts.isLiteralExpression(node) ||
    node.kind === ts.SyntaxKind.NullKeyword ||
    node.kind === ts.SyntaxKind.TrueKeyword ||
    node.kind === ts.SyntaxKind.FalseKeyword ||
    (ts.isIdentifier(node) && node.text === 'undefined')
  );
}

/** Digests of requests and of files, told by whom they are compared for: no secrets. */
const harmless = ['worker/runtime/created-answers.ts', 'worker/runtime/pipelines/idempotency-window.ts', 'cli/event-files/event-lines.ts'];

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'worker/engine' || path === 'shared/language' ? [] : sources(path);
    return path.endsWith('.ts') && !harmless.includes(path) ? [path] : [];
  });
}

describe('a secret', () => {
  it.each(['a.apiKey === given', 'key.digest != other', 'if (secret !== x) {}', 'this.#token == t', 'x === options.signature'])(
    'is seen to be compared in %s',
    (text) => {
      expect(comparisonsIn(text)).toHaveLength(1);
    },
  );

  it.each(['apiKey === undefined', 'secret !== null', "typeof token === 'string'", 'x.secret === true', 'tokens.length === 3'])(
    'is not in %s',
    (text) => {
      expect(comparisonsIn(text)).toEqual([]);
    },
  );

  it('is never compared by an operator', () => {
    const found = ['shared', 'worker', 'cli']
      .flatMap(sources)
      .flatMap((path) => comparisonsIn(readFileSync(join(root, path), 'utf8')).map((line) => `${path}:${line}`));
    expect(found).toEqual([]);
  });
});

describe('keys of a server and of tenants', () => {
  it('of any length are compared as digests of one length', async () => {
    const registry = new TenantRegistry(null, 'server-key');
    const { apiKey, id } = await registry.create({ name: 'acme' });
    expect(registry.authenticate('server-key')).toEqual({ tenantId: 'default', role: 'admin' });
    expect(registry.authenticate(apiKey)).toEqual({ tenantId: id, role: 'tenant' });
    for (const key of ['s', 'server-ke', 'server-key ', `${apiKey}x`, apiKey.slice(0, -1), 'x'.repeat(10_000), '\u0000', 'ключ']) {
      expect(() => registry.authenticate(key)).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
    }
  });
});
