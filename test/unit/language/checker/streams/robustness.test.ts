import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operators } from '../../../../../shared/language/operators/table.ts';
import { checkText } from '../checking.ts';

const examples = new URL('../../../../../examples/', import.meta.url).pathname;
const programs = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.vpl'))
  .map((path) => [path, readFileSync(join(examples, path), 'utf8')] as const);

const pool = [
  ...programs.map(([, text]) => text),
  ...operators.map(({ example }) => example.program),
  'event A:\n    k: int\nstream J = left_join(A as x, stream B = A.where(k > 1)).on(x.k == B.k and x.k > 2).window(5s).fork(a: .limit(1), b: .emit(x.k))\nstream L = J.a.emit()\n',
  'event A:\n    k: int\nstream P = AND(A as a, OR(A+ where k > b.k as b, (A -> NOT A within 5s){2,} )) -> A where k > a.k as c within 1m partition by k\n    .not(A where k == a.k).subsets(limit: 3)\n    .emit(n: count(b), x: first(b).k, c.k)\n',
  'stream T = timer(5s).emit(at: timestamp)\nstream M = merge(T, X.from(K, topic: "t"), stream Y = T.late)\n    .aggregate(n: count() where x > 1, s: sum(a * b))\n    .having(n > 1)\n',
];

const tokens = [...new Set(pool.flatMap((text) => text.match(/[A-Za-z_]\w*|\d+\w*|"[^"]*"|->|=>|[^\s\w]/g) ?? []))];

/** A program with some tokens dropped, doubled, swapped or replaced by others of the pool. */
const mutated = fc
  .record({
    text: fc.constantFrom(...pool),
    edits: fc.array(
      fc.record({ at: fc.nat(), kind: fc.constantFrom('drop', 'double', 'replace', 'insert'), token: fc.constantFrom(...tokens) }),
      { minLength: 1, maxLength: 6 },
    ),
  })
  .map(({ text, edits }) =>
    edits.reduce<readonly string[]>(edited, text.match(/[A-Za-z_]\w*|\d+\w*|"[^"]*"|->|=>|\s+|[^\s\w]/g) ?? []).join(''),
  );

function edited(parts: readonly string[], { at, kind, token }: { at: number; kind: string; token: string }): string[] {
  const index = at % Math.max(1, parts.length);
  const part = parts[index] ?? '';
  const made = { drop: [], double: [part, part], replace: [token], insert: [part, token] }[kind] ?? [part];
  return [...parts.slice(0, index), ...made, ...parts.slice(index + 1)];
}

describe('the check of streams', () => {
  test('gives the examples a plan without errors', () => {
    expect(programs.length).toBeGreaterThan(3);
    for (const [path, text] of programs) {
      const { plan, diagnostics } = checkText(text);
      expect([path, diagnostics.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`)]).toEqual([
        path,
        [],
      ]);
      expect(plan).not.toBeNull();
    }
  });

  test('never throws, and says what is wrong when there is no plan', () => {
    fc.assert(
      fc.property(mutated, (text) => {
        const { plan, diagnostics } = checkText(text);
        return plan !== null || diagnostics.some(({ severity }) => severity === 'error');
      }),
      { numRuns: 300 },
    );
  });

  test('takes as many streams as a compile-time loop can make, each reading the one before it', () => {
    const { plan, diagnostics } = checkText(
      'stream S0 = X.where(v > 0)\nfor i in 1..3000:\n    stream S{i} = Base{i}.where(v > 1).emit()\nfor i in 1..3000:\n    stream Base{i} = S0.where(v > {i})\n',
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan?.streams).toHaveLength(5999);
  });

  test('takes a chain of thousands of streams written last first', () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `stream S${index} = S${index + 1}.where(v > 1)`);
    const { plan, diagnostics } = checkText(`${lines.join('\n')}\nstream S3000 = X.emit()\n`);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan?.streams).toHaveLength(3001);
  });
});
