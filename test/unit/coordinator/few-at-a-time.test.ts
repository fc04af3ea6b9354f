import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FewAtATime } from '../../../coordinator/checkpoints/few-at-a-time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bounds = { silenceMsMax: 10_000, waitMsMax: 30_000 } as const;

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
    const turns = new FewAtATime({ ...bounds, most: 2, what: 'it' });
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
    const turns = new FewAtATime({ ...bounds, most: 1, what: 'the folder' });
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

  it('is not refused for others before it while these end, slowly', async () => {
    const turns = new FewAtATime({ ...bounds, most: 2, what: 'the folder' });
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('done'), 60));
    const answers = Promise.allSettled(Array.from({ length: 500 }, () => turns.run(slow)));
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await answers).filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('is refused once something has ended and nothing does so any more, and when its turn takes too long all the same', async () => {
    const turns = new FewAtATime({ ...bounds, most: 1, what: 'the folder' });
    const [quick, hung] = [work(), work()];
    void turns.run(quick.run);
    void turns.run(hung.run);
    const refused = expect(turns.run(work().run)).rejects.toThrow('the folder does not answer');
    await vi.advanceTimersByTimeAsync(9_000);
    quick.end('quick');
    await vi.advanceTimersByTimeAsync(9_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    hung.end('late');
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('done'), 9_000));
    const answers = Promise.allSettled(Array.from({ length: 6 }, () => turns.run(slow)));
    await vi.advanceTimersByTimeAsync(40_000);
    const message = expect.stringMatching(/^the folder is too slow: .* no turn came for 30 s$/);
    expect((await answers).map((one) => (one.status === 'rejected' ? one.reason : one.value))).toEqual([
      ...['done', 'done', 'done', 'done'],
      ...[expect.objectContaining({ message }), expect.objectContaining({ message })],
    ]);
  });
});
