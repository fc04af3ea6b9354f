import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UNRESOLVED } from '../../../../shared/language/checker/expressions/fold.ts';
import { CODES } from '../../../../shared/language/diagnostics/codes.ts';
import { aggregates } from '../../../../shared/language/functions/aggregates/index.ts';
import { functions } from '../../../../shared/language/functions/index.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { checkText } from './checking.ts';

/** Programs that use most of the language. */
function corpus(): string[] {
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.vpl'))
    .map((name) => readFileSync(join('examples', name), 'utf8'));
  const snippets = Object.values(CODES).flatMap(({ example, fix }) => [example, fix].filter((text) => text !== null));
  return [...examples, ...snippets];
}

/** Places of a plan that refer to nothing: what a checked program must not have. */
function danglingParts(plan: Plan): string[] {
  const found: string[] = [];
  const counts = { function: plan.functions.length, global: plan.globals.length, stream: plan.streams.length };
  const visit = (value: unknown, path: string): void => {
    if (value === UNRESOLVED) found.push(`${path}: unresolved`);
    if (value === null || typeof value !== 'object') return;
    const node = value as Record<string, unknown>;
    for (const [key, count] of Object.entries(counts)) {
      const index = node[key];
      if (typeof index === 'number' && !(index >= 0 && index < count)) found.push(`${path}: ${key} ${index}`);
    }
    if (node['kind'] === 'call' && !functions.has(String(node['function']))) found.push(`${path}: function ${node['function']}`);
    if (node['kind'] === 'closure' && !aggregates.has(String(node['function']))) found.push(`${path}: aggregate ${node['function']}`);
    for (const [key, child] of Object.entries(node)) if (key !== 'origin') visit(child, `${path}.${key}`);
  };
  visit(plan, 'plan');
  return found;
}

function localsBeyondFrame(plan: Plan): string[] {
  return plan.functions.flatMap(({ name, body, locals }) =>
    [...JSON.stringify(body).matchAll(/"slot":(\d+)/g)].filter(([, slot]) => Number(slot) >= locals).map(([text]) => `${name}: ${text}`),
  );
}

const WORDS = [
  'where',
  'as',
  'a',
  'b.x',
  '->',
  'NOT',
  '+',
  '(',
  ')',
  '[0]',
  '.',
  ':',
  '5m',
  '"s"',
  'null',
  'count(b)',
  'x => x',
  '{i}',
  'sum(x)',
  '==',
  '\n',
  'emit',
  'first(b)',
  ':=',
];

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat({ max: 12 }),
  word: fc.constantFrom('', ...WORDS),
});

function edited(text: string, edits: readonly { at: number; length: number; word: string }[]): string {
  return edits.reduce((now, { at, length, word }) => {
    const start = Math.floor(at * now.length);
    return now.slice(0, start) + word + now.slice(start + length);
  }, text);
}

describe('any text', () => {
  const programs = corpus();

  test('never makes the checker throw, and what it accepts refers to nothing that is not there', () => {
    fc.assert(
      fc.property(fc.constantFrom(...programs), fc.array(edit, { minLength: 1, maxLength: 4 }), (program, edits) => {
        const { plan, diagnostics } = checkText(edited(program, edits));
        expect(plan === null).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        if (plan) expect([...danglingParts(plan), ...localsBeyondFrame(plan)]).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('that is accepted as it stands has a plan without loose ends', () => {
    const plans = programs.flatMap((program) => checkText(program).plan ?? []);
    expect(plans.length).toBeGreaterThan(50);
    for (const plan of plans) expect([...danglingParts(plan), ...localsBeyondFrame(plan)]).toEqual([]);
  });

  test('may be as deep as the parser reads it', () => {
    const chain = (length: number, link: string) => `event A: x: int\nlet y = ${Array.from({ length }, () => '1').join(link)}`;
    for (const link of [' + ', ' ?? ', ' == 1 and 1 == ', '..']) expect(() => checkText(chain(900, link))).not.toThrow();
    const parens = `let y = ${'('.repeat(200)}1${')'.repeat(200)}`;
    expect(() => checkText(parens)).not.toThrow();
    const members = `event A: x: any\nstream S = A.where(x${'.a'.repeat(900)} == 1).emit()`;
    expect(checkText(members).plan).not.toBeNull();
  });
});
