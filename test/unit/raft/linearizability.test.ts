import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLinearizable, type Invocation, type RegisterOperation } from '../../../chaos/linearizability/checker.ts';

function called(calledAt: number, returnedAt: number | undefined, operation: RegisterOperation, key = 'a'): Invocation {
  return { key, operation, calledAt, returnedAt };
}
const write = (value: number): RegisterOperation => ({ kind: 'write', value });
const read = (result: number): RegisterOperation => ({ kind: 'read', result });
const swap = (expected: number, value: number, result: boolean | undefined): RegisterOperation => ({
  kind: 'compareAndSet',
  expected,
  value,
  result,
});
const replace = (value: number, result: boolean | undefined): RegisterOperation => ({ kind: 'replace', value, result });

describe('the checker of linearizability', () => {
  it.each<[string, Invocation[]]>([
    ['nothing happened', []],
    ['one after another', [called(0, 1, write(1)), called(2, 3, read(1)), called(4, 5, write(2)), called(6, 7, read(2))]],
    ['a read beside a write sees the old value', [called(0, 10, write(1)), called(1, 2, read(0))]],
    ['a read beside a write sees the new value', [called(0, 10, write(1)), called(1, 2, read(1))]],
    ['two reads beside a write see old, then new', [called(0, 10, write(1)), called(1, 2, read(0)), called(3, 4, read(1))]],
    ['an unanswered write happens late', [called(0, undefined, write(1)), called(5, 6, read(0)), called(7, 8, read(1))]],
    ['an unanswered write never happens', [called(0, undefined, write(1)), called(5, 6, read(0)), called(7, 8, read(0))]],
    ['a swap that finds another value', [called(0, 1, write(1)), called(2, 3, swap(2, 3, false)), called(4, 5, read(1))]],
    ['an unanswered swap that happened', [called(0, 1, write(1)), called(2, undefined, swap(1, 3, undefined)), called(4, 5, read(3))]],
    ['writes at once in either order', [called(0, 9, write(1)), called(0, 9, write(2)), called(10, 11, read(1)), called(12, 13, read(1))]],
    ['a replacement of what is not there', [called(0, 1, replace(2, false)), called(2, 3, read(0))]],
    ['a replacement', [called(0, 1, write(1)), called(2, 3, replace(2, true)), called(4, 5, read(2))]],
    ['keys apart from each other', [called(0, 1, write(1), 'a'), called(2, 3, read(0), 'b'), called(4, 5, read(1), 'a')]],
  ])('accepts: %s', (_, history) => {
    expect(checkLinearizable(history)).toEqual({ kind: 'linearizable' });
  });

  it.each<[string, Invocation[]]>([
    ['a stale read', [called(0, 1, write(1)), called(2, 3, read(0))]],
    ['a value that nobody wrote', [called(0, 1, read(7))]],
    ['new, then old, while a write is on its way', [called(0, 10, write(1)), called(1, 2, read(1)), called(3, 4, read(0))]],
    ['a lost write', [called(0, 1, write(1)), called(2, 3, write(2)), called(4, 5, read(1))]],
    ['an unanswered write that comes and goes', [called(0, undefined, write(1)), called(5, 6, read(1)), called(7, 8, read(0))]],
    ['a swap that happens twice', [called(0, 1, swap(0, 1, true)), called(2, 3, write(0)), called(4, 5, read(1))]],
    ['a replacement that says yes and found nothing', [called(0, 1, replace(2, true))]],
    ['a replacement that says no and should say yes', [called(0, 1, write(1)), called(2, 3, replace(2, false))]],
    ['a swap that says no and should say yes', [called(0, 1, swap(0, 1, false))]],
    ['two swaps from one value', [called(0, 9, swap(0, 1, true)), called(0, 9, swap(0, 2, true))]],
    ['a read before what it sees was asked for', [called(0, 1, read(1)), called(2, 3, write(1))]],
    [
      'two readers that disagree about the order',
      [called(0, 1, write(1)), called(2, 20, write(2)), called(2, 20, write(3)), called(21, 22, read(2)), called(23, 24, read(3))],
    ],
  ])('refuses: %s', (_, history) => {
    expect(checkLinearizable(history)).toEqual({ kind: 'violation', key: 'a' });
  });

  it('says that it does not know when there is too much to try', () => {
    const writes = Array.from({ length: 12 }, (_, at) => called(0, 100, write(at + 1)));
    expect(checkLinearizable([...writes, called(101, 102, read(99))], 1_000)).toEqual({ kind: 'unknown', key: 'a' });
  });

  it('decides like trying all orders', () => {
    const operation = fc.oneof(
      fc.integer({ min: 1, max: 3 }).map(write),
      fc.integer({ min: 0, max: 3 }).map(read),
      fc
        .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 3 }), fc.boolean())
        .map(([from, to, result]) => swap(from, to, result)),
      fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([to, result]) => replace(to, result)),
    );
    const invocation = fc
      .tuple(operation, fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 6 }), fc.boolean())
      .map(([found, at, length, isOpen]) => called(at, isOpen && found.kind !== 'read' ? undefined : at + length, found));
    fc.assert(
      fc.property(fc.array(invocation, { maxLength: 6 }), (history) => {
        expect(checkLinearizable(history).kind).toBe(hasOrder(history, 0) ? 'linearizable' : 'violation');
      }),
      { numRuns: 3_000 },
    );
  });
});

/** The definition, word by word: some order of all that was answered and some of the rest, which nobody's time contradicts. */
function hasOrder(left: readonly Invocation[], value: number): boolean {
  if (left.every(({ returnedAt }) => returnedAt === undefined)) return true;
  const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt ?? Infinity));
  return left.some((found) => {
    if (found.calledAt > firstReturn) return false;
    const next = after(found, value);
    return (
      next !== undefined &&
      hasOrder(
        left.filter((other) => other !== found),
        next,
      )
    );
  });
}

function after({ operation, returnedAt }: Invocation, value: number): number | undefined {
  if (operation.kind === 'read') return operation.result === value ? value : undefined;
  if (operation.kind === 'write') return operation.value;
  const fits = operation.kind === 'replace' ? value !== 0 : operation.expected === value;
  if (returnedAt !== undefined && fits !== operation.result) return undefined;
  return fits ? operation.value : value;
}
