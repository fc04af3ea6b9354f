import { describe, expect, it } from 'vitest';
import { whyNotByLines } from '../../../../cli/simulation/threads/line-division.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';

const head = `event A:
    id: str
    n: int

connector Log = console()

`;

function reason(program: string): string | null {
  const { plan, diagnostics } = check(new SourceText('rules.vpl', head + program), {});
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return whyNotByLines(plan);
}

describe('a program can be divided by lines', () => {
  it.each([
    ['that filters and emits', 'stream X = A.where(n > 3).emit(id: id)'],
    ['that prints, logs, counts and delivers', 'stream X = A.print(n).log(level: "info", message: id).tap(counter: "c").to(Log)'],
    ['whose streams read each other', 'stream X = A.where(n > 3).emit(id: id)\n\nstream Y = X.emit(id: id)'],
    ['that merges', 'stream X = merge(A.where(n > 3), A.where(n < 1)).emit(id: id)'],
  ])('%s', (_, program) => {
    expect(reason(program)).toBeNull();
  });
});

describe('a program cannot be divided by lines', () => {
  it.each([
    [
      'that has a window',
      'stream X = A.window(3).aggregate(s: sum(n)).emit(s: s)',
      'stream X remembers events: .window(3).aggregate(s: sum(n))',
    ],
    ['that limits', 'stream X = A.limit(3).emit(id: id)', 'stream X remembers events: .limit(3)'],
    ['that looks for a pattern', 'stream X = A as a -> A as b .within(5s) .emit(id: a.id)', 'stream X is a pattern'],
    ['that joins', 'stream X = join(A as a, A as b).on(a.id == b.id).window(5s).emit(id: a.id)', 'stream X is a join'],
    ['that has a watermark', 'stream X = A.watermark(out_of_order: 5s).emit(id: id)', 'stream X has a time of its own'],
  ])('%s', (_, program, expected) => {
    expect(reason(program)).toBe(expected);
  });
});
