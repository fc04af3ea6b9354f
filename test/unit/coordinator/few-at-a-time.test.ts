import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FewAtATime } from '../../../coordinator/checkpoints/few-at-a-time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that ends when it is told to. */
function work(): { begun: boolean; end: (text: string) => void; fail: (error: Error) => void; run: () => Promise<string> } {
  const made = {
    begun: false,
    end: (_text: string): void => undefined,
    fail: (_error: Error): void => undefined,
    run: () =>
      new Promise<string>((resolve, reject) => {
        Object.assign(made, { begun: true, end: resolve, fail: reject });
      }),
  };
  return made;
}

describe('work of which little is under way at a time', () => {
  it('begins in the order in which it came, as soon as some of it has ended or failed', async () => {
    const turns = new FewAtATime({ most: 2, waitMsMax: 10_000, what: 'it' });
    const all = Array.from({ length: 4 }, work);
    const [a, b, c, d] = all as [ReturnType<typeof work>, ReturnType<typeof work>, ReturnType<typeof work>, ReturnType<typeof work>];
    const answers = all.map((one) => turns.run(one.run));
    const begun = async (): Promise<boolean[]> => {
      await vi.advanceTimersByTimeAsync(0);
      return all.map((one) => one.begun);
    };
    expect(await begun()).toEqual([true, true, false, false]);
    b.end('b');
    expect(await begun()).toEqual([true, true, true, false]);
    const refused = expect(answers[0]).rejects.toThrow('of a');
    a.fail(new Error('of a'));
    expect(await begun()).toEqual([true, true, true, true]);
    c.end('c');
    d.end('d');
    await refused;
    expect(await Promise.all(answers.slice(1))).toEqual(['b', 'c', 'd']);
  });

  it('is refused when nothing ends, and begins again once something does', async () => {
    const turns = new FewAtATime({ most: 1, waitMsMax: 10_000, what: 'the folder' });
    const hung = work();
    const first = turns.run(hung.run);
    const refused = expect(turns.run(work().run)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'the folder does not answer: as many requests are under way as may be (1), and no turn came for 10 s',
    });
    await vi.advanceTimersByTimeAsync(10_000);
    await refused;
    hung.end('late');
    expect(await first).toBe('late');
    expect(await turns.run(async () => 'next')).toBe('next');
  });
});
