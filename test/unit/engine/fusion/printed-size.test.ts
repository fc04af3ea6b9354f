import { afterEach, describe, expect, test, vi } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { printProgram } from '../../../../worker/engine/fusion/fuse.ts';
import { objectsOf, TextBudget } from '../../../../worker/engine/fusion/text-budget.ts';
import { expectAlike, seenOf } from '../../../reference/seen.ts';
import { inputEvent } from '../support/engine-run.ts';

const EVENT = 'event E:\n    id: str\n    v: float\n    w: float\n';

/** Streams `S1` to `Sn`, each made of the one before it, and the alerts of the last. */
function levels(count: number, level: (at: number) => string): string {
  const streams = Array.from({ length: count }, (_, i) => level(i + 1));
  return `${EVENT}stream S0 = E\n${streams.join('\n')}\nstream Alerts = S${count}.emit(v: v)\n`;
}

/** Programs that lead to one place in many ways, or are long. */
const shapes: Readonly<Record<string, (size: number) => string>> = {
  merges: (size) => levels(size, (i) => `stream S${i} = merge(S${i - 1}.where(v > ${i}), S${i - 1}.where(v <= ${i}))`),
  'merges of rows of two forms': (size) =>
    levels(size, (i) => `stream S${i} = merge(S${i - 1}.where(v > ${i}).select(v, w), S${i - 1}.where(v <= ${i}).select(w, v: v + 0.5))`),
  'merges of rows that may lack a field': (size) =>
    levels(size, (i) => `stream S${i} = merge(S${i - 1}.where(v > ${i}).select(v, w: null), S${i - 1}.where(v <= ${i}).select(v, w))`),
  diamonds: (size) =>
    levels(
      size,
      (i) => `stream A${i} = S${i - 1}.where(v > ${i})\nstream B${i} = S${i - 1}.where(v <= ${i})\nstream S${i} = merge(A${i}, B${i})`,
    ),
  chain: (size) => levels(size, (i) => `stream S${i} = S${i - 1}.where(v != ${i})`),
  windows: (size) => levels(size, (i) => `stream S${i} = S${i - 1}.window(1s).aggregate(v: sum(v), w: max(w))`),
  joins: (size) =>
    levels(
      size,
      (i) => `stream S${i} = join(S${i - 1}.where(v > ${i}) as a, S${i - 1} as b).on(a.v == b.v).window(1m).select(v: a.v, w: b.w)`,
    ),
  patterns: (size) => levels(size, (i) => `stream S${i} = S${i - 1} as a -> S${i - 1} as b within 1m .emit(v: a.v, w: b.w)`),
  readers: (size) =>
    levels(
      1,
      () => `stream S1 = S0.where(v > 1)\n${Array.from({ length: size }, (_, i) => `stream R${i} = S1.emit(x${i}: v + ${i})`).join('\n')}`,
    ),
  rules: (size) =>
    levels(
      1,
      () =>
        `stream S1 = S0.where(v > 1)\n${Array.from({ length: size }, (_, i) => `stream R${i} = S1.where(v > ${i} and w + v > 3).emit(x: v)`).join('\n')}`,
    ),
  'one rule among readers, level by level': (size) =>
    levels(
      size,
      (i) =>
        `${Array.from({ length: 8 }, (_, k) => `stream R${i}_${k} = S${i - 1}.where(v + w > ${k}).emit(x: v)`).join('\n')}\nstream S${i} = S${i - 1}.where(v > ${i})`,
    ),
};

/** Characters of generated code for each object of the plan: all shapes stay below, so none comes near to the budget. */
const PER_OBJECT = 120;

function planOf(program: string): Plan {
  const { plan, diagnostics } = check(new SourceText('shape.vpl', program));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return plan as Plan;
}

const events = Array.from({ length: 40 }, (_, at) => inputEvent('E', at * 500, { id: 'a', v: ((at * 7) % 40) + 0.5, w: at % 5 }));

describe.each(Object.entries(shapes))('the generated code of %s', (_, shape) => {
  test.each([4, 8, 16])('is bounded by the plan: size %i', (size) => {
    const plan = planOf(shape(size));
    const { length } = printProgram(plan).module.text;
    expect(length / objectsOf(plan)).toBeLessThan(PER_OBJECT);
  });

  test('gives what operators give that take rows one by one', () => {
    const plan = planOf(shape(4));
    const seen = expectAlike(plan, events);
    expect(seen.length).toBeGreaterThan(0);
  });
});

test('the code of a program that is long but simple is in proportion to it', () => {
  const plan = planOf(shapes['rules']?.(400) as string);
  expect(printProgram(plan).module.text.length / objectsOf(plan)).toBeLessThan(PER_OBJECT);
});

describe('the budget of a program', () => {
  afterEach(() => void vi.restoreAllMocks());

  test('counts each operator that is decided, and is spent beyond a multiple of the plan', () => {
    const spend = vi.spyOn(TextBudget.prototype, 'spend');
    const plan = planOf(shapes['chain']?.(50) as string);
    printProgram(plan);
    expect(spend.mock.calls.length).toBeGreaterThanOrEqual(50);
    const budget = new TextBudget(plan);
    let spent = 0;
    for (; !budget.isSpent; spent++) budget.spend();
    expect(spent).toBeGreaterThan(4 * objectsOf(plan));
    expect(spent).toBeLessThan(5_000);
  });

  test('leaves what is over it to operators that take rows', () => {
    const plan = planOf(shapes['chain']?.(4) as string);
    const before = seenOf(plan, events);
    vi.spyOn(TextBudget.prototype, 'isSpent', 'get').mockReturnValue(true);
    const { physicalPlan } = printProgram(plan);
    expect(JSON.stringify(physicalPlan)).toContain('would become too long');
    expect(seenOf(plan, events)).toEqual(before);
  });
});

describe('what is too deep to be printed takes rows', () => {
  test.each([
    ['5,000 streams', 3, levels(5_000, (i) => `stream S${i} = S${i - 1}.where(v != ${i})`)],
    ['200 windows', 2, levels(200, (i) => `stream S${i} = S${i - 1}.window(1s).aggregate(v: sum(v), w: max(w))`)],
    ['990 conditions', 3, `${EVENT}stream Alerts = E${Array.from({ length: 990 }, (_, i) => `.where(v != ${i})`).join('')}.emit(v: v)\n`],
  ])('%s one behind the other', (_, alerts, program) => {
    const seen = seenOf(planOf(program), events.slice(0, 3));
    expect(seen).toHaveLength(alerts);
    expect(seen.join()).not.toContain('stack');
  });
});
