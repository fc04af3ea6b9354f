import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilLeft } from '../../../worker/connectors/in-time.ts';
import { LookupTurns } from '../../../worker/connectors/lookups/lookup-turns.ts';

/** What takes so long, and whoever waits for it only so long, ms. */
interface Load {
  readonly answerMs: number;
  readonly timeoutMs: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function leftAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}

describe('turns of look-ups', () => {
  /** As `.enrich` asks: another one whenever one has ended. Gives what became of each, in order. */
  async function ask(turns: LookupTurns, count: number, { answerMs, timeoutMs }: Load): Promise<string[]> {
    const results: string[] = [];
    let next = 0;
    const askNext = async (): Promise<void> => {
      for (let at = next++; at < count; at = next++) {
        const found = turns.run(() => pause(answerMs), leftAfter(timeoutMs));
        results[at] = await found.then(
          () => 'ok',
          (error: Error) => error.message,
        );
      }
    };
    const asking = Promise.all(Array.from({ length: 64 }, askNext));
    await vi.runAllTimersAsync();
    await asking;
    return results;
  }

  const oks = (results: readonly string[]): number => results.filter((result) => result === 'ok').length;

  it('answer as many as the server can, however many more are asked for', async () => {
    const turns = new LookupTurns(4);
    const began = Date.now();
    const results = await ask(turns, 600, { answerMs: 200, timeoutMs: 2_000 });
    // 4 at a time in 200 ms each, but for those that are left while they run.
    const most = ((Date.now() - began) / 200) * 4;
    expect(oks(results)).toBeGreaterThan(0.8 * most);
    expect(results.filter((result) => result === 'no answer in time')).toHaveLength(600 - oks(results));
  });

  it('answer all where a burst can be answered in time, in order', async () => {
    const begun: number[] = [];
    const turns = new LookupTurns(2);
    const asked = Array.from({ length: 20 }, (_, at) =>
      turns.run(() => {
        begun.push(at);
        return pause(100);
      }, leftAfter(1_500)),
    );
    await vi.runAllTimersAsync();
    await Promise.all(asked);
    expect(begun).toEqual(Array.from({ length: 20 }, (_, at) => at));
  });

  it('are not given to what nobody waits for, and are kept by what runs until it ends', async () => {
    const turns = new LookupTurns(1);
    const running = turns.run(() => pause(500), leftAfter(100));
    const left = vi.fn(() => pause(1));
    const waiting = turns.run(left, leftAfter(200));
    const later = vi.fn(() => pause(1));
    const last = turns.run(later, leftAfter(1_000));
    await Promise.all([
      expect(running).rejects.toThrow('no answer in time'),
      expect(waiting).rejects.toThrow('no answer in time'),
      vi.advanceTimersByTimeAsync(499),
    ]);
    expect(later).not.toHaveBeenCalled();
    await vi.runAllTimersAsync();
    await last;
    expect(left).not.toHaveBeenCalled();
  });

  it('are given to nobody any more once they are closed', async () => {
    const turns = new LookupTurns(1);
    const running = turns.run(() => pause(500), leftAfter(1_000));
    const never = vi.fn(() => pause(1));
    const waiting = [turns.run(never, leftAfter(1_000)), turns.run(never, leftAfter(1_000))];
    turns.close();
    waiting.push(turns.run(never, leftAfter(1_000)));
    for (const one of waiting) await expect(one).rejects.toThrow('closed');
    await vi.runAllTimersAsync();
    await running;
    expect(never).not.toHaveBeenCalled();
  });
});

describe('an answer that somebody waits for', () => {
  it('may come while they do, and for so long behind', async () => {
    const found = [
      untilLeft(
        pause(30_000).then(() => 'a'),
        leftAfter(60_000),
        10,
      ),
      untilLeft(
        pause(105).then(() => 'b'),
        leftAfter(100),
        10,
      ),
    ];
    await vi.runAllTimersAsync();
    expect(await Promise.all(found)).toEqual(['a', 'b']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is given up behind that', async () => {
    const given = expect(untilLeft(pause(200), leftAfter(100), 10)).rejects.toThrow('no answer in time');
    const before = expect(untilLeft(pause(200), AbortSignal.abort(), 10)).rejects.toThrow('no answer in time');
    await vi.runAllTimersAsync();
    await Promise.all([given, before]);
  });
});
