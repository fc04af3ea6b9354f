import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askInTurn } from '../../../coordinator/checkpoints/ask-in-turn.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks members 1 to `size`, whose answers come when the test gives them. */
function asking(size: number, count: number) {
  const asked = new Map<number, { readonly signal: AbortSignal; readonly answer: (given: number | undefined) => void }>();
  const result = askInTurn<number, number>({
    ...{ among: Array.from({ length: size }, (_, at) => at + 1), count, silenceMsMax: 2_000, msMax: 20_000 },
    ask: (peer, signal) => {
      return new Promise((answer) => {
        asked.set(peer, { signal, answer });
        signal.addEventListener('abort', () => answer(undefined));
      });
    },
  });
  const gives = async (peer: number, given: number | undefined): Promise<void> => {
    asked.get(peer)?.answer(given);
    await vi.advanceTimersByTimeAsync(0);
  };
  const givenUp = (): number[] => [...asked].filter(([, { signal }]) => signal.aborted).map(([peer]) => peer);
  return { result, gives, givenUp, asked: () => [...asked.keys()] };
}

describe('members that are asked until enough have answered', () => {
  it('asks no more than it needs, and another one for each that refuses', async () => {
    const { result, gives, givenUp, asked } = asking(5, 2);
    expect(asked()).toEqual([1, 2]);
    await gives(1, undefined);
    expect(asked()).toEqual([1, 2, 3]);
    await gives(3, 3);
    await gives(2, 2);
    expect(await result).toEqual([3, 2]);
    expect([asked(), givenUp()]).toEqual([[1, 2, 3], []]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('asks another one beside one that is silent, once, and takes whichever answers first', async () => {
    const { result, gives, givenUp, asked } = asking(5, 1);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(asked()).toEqual([1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked()).toEqual([1, 2]);
    await gives(1, undefined);
    expect(asked()).toEqual([1, 2]);
    await gives(2, undefined);
    expect(asked()).toEqual([1, 2, 3]);
    await vi.advanceTimersByTimeAsync(2_000);
    await gives(3, 3);
    expect(await result).toEqual([3]);
    expect(givenUp()).toEqual([4]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toEqual([1, 2, 3, 4]);
  });

  it('ends when its time is over, with those that have answered', async () => {
    const { result, gives, givenUp } = asking(3, 2);
    await gives(2, 2);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await result).toEqual([2]);
    expect(givenUp()).toEqual([1, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends at once when all have refused, and when none is needed or there', async () => {
    const { result, gives } = asking(2, 2);
    await gives(1, undefined);
    await gives(2, undefined);
    expect(await result).toEqual([]);
    expect(await asking(2, 0).result).toEqual([]);
    expect(await asking(0, 2).result).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
