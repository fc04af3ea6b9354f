import { describe, expect, it } from 'vitest';
import { boundaryViolations } from './tidy/boundaries.ts';
import { cycleViolations } from './tidy/cycles.ts';
import { outboundViolations } from './tidy/outbound.ts';
import { purityViolations } from './tidy/purity.ts';
import { repositoryFiles, textOf } from './tidy/repository.ts';
import { parseSource, type Source } from './tidy/source.ts';
import { nameViolations, textViolations } from './tidy/text.ts';

const files = repositoryFiles();
const isProduct = (path: string): boolean => /^(shared|worker|coordinator|cli)\/.*\.tsx?$/.test(path) && !path.includes('/generated/');

describe('the repository', () => {
  const sources = files.filter(isProduct).map((path) => parseSource(path, textOf(path) ?? ''));

  it('has sources to look at', () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(10);
  });

  it('keeps the boundaries between its parts', () => {
    expect(boundaryViolations(sources)).toEqual([]);
  });

  it('has no files that import each other in a circle', () => {
    expect(cycleViolations(sources)).toEqual([]);
  });

  it('keeps its pure folders pure', () => {
    expect(purityViolations(sources)).toEqual([]);
  });

  it('connects outward through the door and nowhere else', () => {
    expect(outboundViolations(sources)).toEqual([]);
  });

  it('gives files and folders names that say what is inside, in kebab-case', () => {
    expect(nameViolations(files)).toEqual([]);
  });

  it('names no path of a machine and no host of a registry', () => {
    const registry = hostOf(process.env['npm_config_registry']);
    expect(files.flatMap((path) => textViolations(path, textOf(path) ?? '', registry))).toEqual([]);
  });
});

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).host;
}

describe('the boundary check', () => {
  const violations = (path: string, text: string): string[] => boundaryViolations([parseSource(path, text)]);

  it.each([
    ['shared/a.ts', "\nimport { x } from '../worker/x.ts';", 'shared depends on nothing of ours'],
    ['worker/server/a.ts', "\nimport type { X } from '../../coordinator/x.ts';", 'worker and coordinator meet over shared/protocol'],
    ['coordinator/a.ts', "\nexport * from '../worker/x.ts';", 'worker and coordinator meet over shared/protocol'],
    ['worker/engine/a.ts', "\nconst x = await import('../runtime/x.ts');", 'the engine imports neither runtime'],
    ['worker/engine/windows/a.ts', "\nlet x: import('../../connectors/x.ts').X;", 'the engine imports neither runtime'],
    ['cli/a.ts', "\nimport { x } from '../test/x.ts';", 'the product does not depend on its tests'],
    ['cli/console/a.tsx', "\nimport { x } from '../../worker/server/x.ts';", 'the console runs in browsers'],
    ['cli/a.ts', "\nimport { x } from './console/x.ts';", 'what runs in browsers is no part of the command line'],
  ])('names the line, the import and the rule in %s', (path, text, rule) => {
    const [specifier] = /\.\.?\/[^']*/.exec(text) ?? [];
    expect(violations(path, text)).toEqual([expect.stringContaining(`${path}:2: imports '${specifier}': ${rule}`)]);
  });

  it('lets each part use what is below it', () => {
    expect(violations('worker/runtime/a.ts', "import { x } from '../engine/x.ts'; import { y } from '../../shared/y.ts';")).toEqual([]);
  });
});

describe('the cycle check', () => {
  const importing = (...edges: readonly string[]): Source[] =>
    edges.map((edge) => {
      const [path, ...targets] = edge.split(' ') as [string, ...string[]];
      return parseSource(`cli/${path}.ts`, targets.map((target) => `import type { X } from './${target}.ts';`).join('\n'));
    });

  it('names all files of a circle, whether they import values or types', () => {
    expect(cycleViolations(importing('a b', 'b c e', 'c a', 'd a', 'e'))).toEqual([
      'cli/a.ts -> cli/b.ts -> cli/c.ts: these files import each other: move what both read to a file of its own',
    ]);
  });

  it('tells circles apart that lead to each other', () => {
    expect(cycleViolations(importing('a b', 'b a c', 'c d', 'd c'))).toHaveLength(2);
  });

  it('finds nothing where imports lead one way', () => {
    expect(cycleViolations(importing('a b c', 'b d', 'c d', 'd'))).toEqual([]);
  });
});

describe('the purity check', () => {
  const violations = (text: string, path = 'worker/engine/a.ts'): string[] => purityViolations([parseSource(path, text)]);

  it.each([
    ["import { readFile } from 'node:fs';", "imports 'node:fs'"],
    ["import chokidar from 'chokidar';", "imports 'chokidar'"],
    ['const t = Date.now();', 'uses Date.now'],
    ['const t = new Date();', 'uses new Date()'],
    ['const r = Math.random();', 'uses Math.random'],
    ['setTimeout(f, 1);', 'uses setTimeout'],
    ['const t = performance.now();', 'uses performance'],
    ['async function f() {}', 'uses async'],
    ['declare function f(): Promise<void>;', 'uses Promise'],
  ])('refuses %s', (text, expected) => {
    expect(violations(text)).toEqual([expect.stringContaining(`worker/engine/a.ts:1: ${expected}`)]);
  });

  it.each([
    'const t = new Date(5).getTime() + Date.UTC(2026, 0);',
    '// Math.random(), setTimeout()\nconst text = "Date.now() and Promise";',
    'interface Operator { process: number }\nexport const f = (o: Operator) => o.process;',
    "import { RE2JS } from 're2js';",
    "import type { Script } from 'node:vm';",
  ])('allows %s', (text) => {
    expect(violations(text)).toEqual([]);
  });

  it('looks at pure folders only', () => {
    expect(violations("import { readFile } from 'node:fs/promises'; setTimeout(f, Date.now());", 'worker/server/a.ts')).toEqual([]);
  });

  it('lets the file that loads compiled programs use node:vm, and no other', () => {
    expect(violations("import vm from 'node:vm';", 'worker/engine/compile/load.ts')).toEqual([]);
    expect(violations("import vm from 'node:vm';", 'worker/engine/compile/other.ts')).toHaveLength(1);
  });

  it('follows imports out of the pure folders, but not those of types', () => {
    const impure = parseSource('shared/files/text.ts', "import { readFile } from 'node:fs';");
    const load = (statement: string): Source[] => [parseSource('worker/engine/a.ts', statement), impure];
    expect(purityViolations(load("import { read } from '../../shared/files/text.ts';"))).toEqual([
      expect.stringContaining("shared/files/text.ts:1: imports 'node:fs': loaded by a pure folder"),
    ]);
    expect(purityViolations(load("import type { Text } from '../../shared/files/text.ts';"))).toEqual([]);
  });
});

describe('the outbound check', () => {
  const violations = (text: string, path = 'worker/connectors/a.ts'): string[] => outboundViolations([parseSource(path, text)]);

  it.each([
    ["import { Agent } from 'undici';", "imports Agent of 'undici'"],
    ["import { errors, Pool as P } from 'undici';", "imports Pool of 'undici'"],
    ["import undici from 'undici';", "imports all of 'undici'"],
    ["import * as net from 'node:net';", "imports all of 'node:net'"],
    ["import 'node:http';", "imports all of 'node:http'"],
    ["import { connect } from 'net';", "imports connect of 'net'"],
    ["import { request } from 'node:https';", "imports request of 'node:https'"],
    ["import { lookup } from 'node:dns/promises';", "imports lookup of 'node:dns/promises'"],
    ["export * from 'node:net';", 'exports such a module'],
    ["const http = await import('node:http');", 'loads such a module'],
    ["const http = require('http');", 'loads such a module'],
    ["const http = process.getBuiltinModule('node:http');", 'loads such a module'],
    ['await fetch(url);', 'uses fetch'],
    ['await globalThis.fetch(url);', 'uses fetch'],
    ['const ask = fetch;', 'uses fetch'],
    ['new WebSocket(url);', 'uses WebSocket'],
  ])('refuses %s', (text, expected) => {
    expect(violations(text)).toEqual([expect.stringContaining(`worker/connectors/a.ts:1: ${expected}`)]);
  });

  it.each([
    "import type { Dispatcher } from 'undici';",
    "import { type Dispatcher, errors } from 'undici';",
    "import { isIP, type Socket } from 'node:net';",
    "import { STATUS_CODES } from 'node:http';",
    'cache.fetch(key);',
    'let socket: WebSocket;',
  ])('allows %s', (text) => {
    expect(violations(text)).toEqual([]);
  });

  it('lets the doors connect', () => {
    expect(violations("import { connect } from 'node:net';", 'shared/outbound/a.ts')).toEqual([]);
  });
});

describe('the check of names and texts', () => {
  it('refuses names that say nothing and names that are not kebab-case', () => {
    expect(nameViolations(['a/utils/b.ts', 'a/helper.ts', 'a/fooBar.ts', 'README.md', '.ci/run', 'a/b-c.test.ts'])).toEqual([
      expect.stringMatching(/^a\/utils: /),
      expect.stringMatching(/^a\/helper\.ts: /),
      expect.stringMatching(/^a\/fooBar\.ts: /),
    ]);
  });

  it('refuses paths of a machine', () => {
    const slash = '/';
    expect(textViolations('a.md', `fine\nsee ${slash}work/x`)).toEqual(['a.md:2: no absolute path of a machine']);
    expect(textViolations('a.md', 'see ./work/x and homework/root/x')).toEqual([]);
  });

  it('refuses hosts of registries, the one in use included', () => {
    expect(textViolations('a', `https://registry${'.'}example.org/x`)).toHaveLength(1);
    expect(textViolations('a', 'from packages.example.org', 'packages.example.org')).toHaveLength(1);
    expect(textViolations('a', 'the registry of connectors.')).toEqual([]);
  });
});
