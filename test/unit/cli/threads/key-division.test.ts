import { describe, expect, it } from 'vitest';
import { type KeyDivision, keyDivision } from '../../../../cli/simulation/threads/keys/key-division.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';

const head = `event A:
    id: str
    user: str
    n: int

event B:
    id: str
    account: str
    n: int

`;

function division(program: string, field?: string): KeyDivision {
  const { plan, diagnostics } = check(new SourceText('rules.vpl', head + program), {});
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return keyDivision(plan, field);
}

const keysOf = (program: string, field?: string): object => Object.fromEntries(division(program, field).keys ?? []);

describe('the keys of a program can be divided', () => {
  it.each([
    ['that has windows', 'stream X = A.partition_by(user).window(3).aggregate(s: sum(n)).emit(s: s)', { A: 'user' }],
    ['that has windows of time', 'stream X = A.partition_by(user).window(3m).aggregate(s: sum(n)).emit(s: s)', { A: 'user' }],
    ['that adds up', 'stream X = A.partition_by(user).aggregate(s: sum(n)).emit(s: s)', { A: 'user' }],
    ['that limits', 'stream X = A.partition_by(id).limit(3).emit(id: id)', { A: 'id' }],
    ['that looks for a pattern', 'stream X = A as a -> A as b .within(5s) .partition_by(id) .emit(id: a.id)', { A: 'id' }],
    [
      'whose steps are equal',
      'stream X = A as a -> B where account == a.user as b .within(5s) .emit(id: a.id)',
      { A: 'user', B: 'account' },
    ],
    ['that joins', 'stream X = join(A, B).on(A.user == B.account and A.id == B.id).window(5s).emit(id: A.id)', { A: 'user', B: 'account' }],
    [
      'whose streams follow each other',
      'stream X = A.partition_by(user).window(3).aggregate(s: sum(n)).emit(who: user, s: s)\n\nstream Y = join(X, B).on(X.who == B.account).window(5s).emit(s: X.s)',
      { A: 'user', B: 'account' },
    ],
    [
      'that has a field in common',
      'stream X = A.partition_by(user, id).limit(3).emit(id: id)\n\nstream Y = A.partition_by(id).limit(1).emit(id: id)',
      { A: 'id' },
    ],
    [
      'some of which remembers nothing',
      'stream X = A.partition_by(user).limit(3).emit(id: id)\n\nstream Y = B.where(n > 3).emit(id: id)',
      { A: 'user', B: null },
    ],
  ])('%s', (_, program, keys) => {
    expect(keysOf(program)).toEqual(keys);
  });

  it('by the field that is asked for', () => {
    const program = 'stream X = A.partition_by(user, id).limit(3).emit(id: id)';
    expect(keysOf(program, 'id')).toEqual({ A: 'id' });
    expect(keysOf(program, 'user')).toEqual({ A: 'user' });
    expect(division(program, 'n').why).toBe('stream X remembers events: .limit(3), but not by `n`');
  });
});

describe('the keys of a program cannot be divided', () => {
  it.each([
    [
      'that has a window of all',
      'stream X = A.window(3).aggregate(s: sum(n)).emit(s: s)',
      'stream X remembers events: .window(3).aggregate(s: sum(n)) of all keys together',
    ],
    [
      'that computes the key',
      'stream X = A.partition_by(n % 7).limit(3).emit(id: id)',
      'stream X remembers events: .limit(3) of all keys together',
    ],
    [
      'that looks for a pattern of all',
      'stream X = A as a -> A as b .within(5s) .emit(id: a.id)',
      'stream X looks for a pattern of all keys together',
    ],
    [
      'whose streams have keys of their own',
      'stream X = A.partition_by(user).limit(3).emit(id: id)\n\nstream Y = A.partition_by(id).limit(3).emit(id: id)',
      'no field tells apart what all streams remember',
    ],
    [
      'that ends with a closure',
      'stream X = A as a -> A+ as b .within(5s) .partition_by(id) .emit(id: a.id)',
      'stream X ends with a closure, which ends with time',
    ],
    [
      'that waits for what must not come',
      'stream X = A as a -> NOT B .within(5s) .partition_by(id) .emit(id: a.id)',
      'stream X waits for what must not come',
    ],
    ['that has a watermark', 'stream X = A.watermark(out_of_order: 5s).emit(id: id)', 'stream X has a time of its own'],
    [
      'whose windows overlap',
      'stream X = A.partition_by(id).window(4s, sliding: 2s).aggregate(s: sum(n)).emit(s: s)',
      'stream X has windows that overlap: .window(4s, sliding: 2s).aggregate(s: sum(n))',
    ],
    [
      'that keeps windows of windows',
      'stream X = A.partition_by(id).window(4s).aggregate(s: sum(n)).emit(id: id, s: s)\n\nstream Y = X.partition_by(id).window(4).aggregate(s: sum(s)).emit(s: s)',
      'stream Y remembers what comes with time: .window(4).aggregate(s: sum(s))',
    ],
    [
      'that changes a variable',
      'var seen = 0\n\nfn count() -> int:\n    seen := seen + 1\n    return seen\n\nstream X = A.partition_by(id).limit(3).emit(n: count())',
      'a function changes a variable of the program',
    ],
  ])('%s', (_, program, why) => {
    expect(division(program).why).toBe(why);
  });
});
