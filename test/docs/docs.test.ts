import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ways } from '../reference/ways.ts';
import { alertsOf, checkExample, examplesOf } from './example.ts';
import { type Page, readPage } from './page.ts';
import { filesOf, playSession, withoutMeasurements } from './session.ts';

const root = join(import.meta.dirname, '../..');

function pagesIn(folder: string): Page[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .sort()
    .map((path) => pageAt(join(folder, path)));
}

function pageAt(path: string): Page {
  return readPage(path, readFileSync(join(root, path), 'utf8'));
}

const docs = pagesIn('docs');
const pages = [...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map(pageAt), ...docs, ...pagesIn('examples')];
const examples = pages.flatMap(examplesOf);

/** Examples that say what is right and not yet what happens, by name, with the reason. Each must still fail. */
const known: Readonly<Record<string, string>> = {};

describe.each(examples.map((example) => [example.name, example] as const))('%s', (name, example) => {
  const reason = known[name];
  const test = reason === undefined ? it : it.fails;
  const because = reason === undefined ? '' : ` (known failure: ${reason})`;

  it('has the diagnostics that it is marked with', () => {
    const codes = checkExample(example).diagnostics.map(({ code }) => code);
    expect([...new Set(codes)].sort()).toEqual(example.codes);
  });

  if (example.runs.length > 0) {
    test(`gives the alerts that the page shows${because}`, () => {
      for (const run of example.runs) {
        for (const [way, options] of ways) expect(alertsOf(example, run, options), way).toBe(run.outputs.text);
      }
    });
  }

  if (example.sessions.length > 0) {
    test(`makes the commands print what the page shows${because}`, async () => {
      for (const { text } of example.sessions) expect(await playSession(text, filesOf(example))).toBe(withoutMeasurements(text));
    });
  }
});

describe('the documentation', () => {
  it('has examples', () => {
    expect(examples.filter(({ runs }) => runs.length > 0).length).toBeGreaterThan(40);
    expect(examples.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(known)));
  });

  it('has no dead links', () => {
    const byPath = new Map(pages.map((page) => [page.path, page]));
    const dead = pages.flatMap(({ path, links }) =>
      links
        .filter(({ target }) => !/^[a-z]+:/.test(target))
        .filter(({ target }) => !leads(byPath, path, target))
        .map(({ target, line }) => `${path}:${line}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it('can be reached page by page from its index', () => {
    const targets = docs.flatMap(({ path, links }) => links.map(({ target }) => join(dirname(path), target.replace(/#.*/, ''))));
    expect(docs.map(({ path }) => path).filter((path) => path !== 'docs/README.md' && !targets.includes(path))).toEqual([]);
  });
});

/** Whether a link leads to a file of the repository, and where it names a heading of a page, to one that is there. */
function leads(byPath: ReadonlyMap<string, Page>, from: string, target: string): boolean {
  const [file = '', heading] = target.split('#');
  const path = file === '' ? from : relative(root, join(root, dirname(from), file));
  if (heading === undefined || heading === '') return existsSync(join(root, path));
  return byPath.get(path)?.anchors.has(heading) ?? false;
}
