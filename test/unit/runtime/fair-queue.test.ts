import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairQueue } from '../../../worker/runtime/tenants/fair-queue.ts';
import { HeldRefusals } from '../../../worker/runtime/tenants/held-refusals.ts';
import { TimeBudget } from '../../../worker/runtime/tenants/time-budget.ts';

describe('a queue of work of many owners', () => {
  const order: string[] = [];
  const ends = new Map<string, () => void>();

  beforeEach(() => {
    vi.useFakeTimers();
    order.length = 0;
    ends.clear();
  });
  afterEach(() => vi.useRealTimers());

  const newQueue = (places: number, waitingMax = 1_000): FairQueue => new FairQueue({ what: 'work', places, waitingMax, waitMsMax: 1_000 });

  /** A piece of work that is under way until `end` is called with its name. */
  const add = (queue: FairQueue, owner: string, name: string): Promise<string> =>
    queue.run(owner, () => {
      order.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };

  it('gives each owner its turn, however much one of them has asked for', async () => {
    const queue = newQueue(1);
    for (let n = 0; n < 500; n++) void add(queue, 'greedy', `g${n}`);
    for (const owner of ['ann', 'ben']) for (let n = 0; n < 2; n++) void add(queue, owner, `${owner}${n}`);
    for (let n = 0; n < 8; n++) await end(order[n] as string);
    expect(order).toEqual(['g0', 'g1', 'ann0', 'ben0', 'g2', 'ann1', 'ben1', 'g3', 'g4']);
  });

  it('has one piece of each owner under way, so that places stay free for others', async () => {
    const queue = newQueue(2);
    for (let n = 0; n < 3; n++) void add(queue, 'greedy', `g${n}`);
    expect(order).toEqual(['g0']);
    void add(queue, 'ann', 'ann0');
    void add(queue, 'ben', 'ben0');
    expect(order).toEqual(['g0', 'ann0']);
    await end('ann0');
    expect(order).toEqual(['g0', 'ann0', 'ben0']);
    await end('g0');
    expect(order).toEqual(['g0', 'ann0', 'ben0', 'g1']);
  });

  it('frees the place of a piece that takes long, and does not begin another of its owner', async () => {
    const queue = newQueue(1);
    let leave = (): void => undefined;
    const long = queue.run('greedy', (free) => {
      leave = free;
      return new Promise<string>((resolve) => ends.set('long', () => resolve('long')));
    });
    for (const owner of ['greedy', 'ann', 'ben']) void add(queue, owner, owner);
    expect(order).toEqual([]);
    leave();
    leave();
    expect(order).toEqual(['ann']);
    await end('ann');
    await end('ben');
    expect(order).toEqual(['ann', 'ben']);
    await end('long');
    await expect(long).resolves.toBe('long');
    expect(order).toEqual(['ann', 'ben', 'greedy']);
  });

  it('goes on behind a piece that fails, and says what became of each', async () => {
    const queue = newQueue(1);
    const failing = queue.run('ann', () => Promise.reject(new Error('broken')));
    const next = add(queue, 'ann', 'next');
    await expect(failing).rejects.toThrow('broken');
    await end('next');
    await expect(next).resolves.toBe('next');
  });

  it('refuses the owner that has too much waiting, and nobody else', async () => {
    const queue = newQueue(1, 2);
    for (let n = 0; n < 3; n++) void add(queue, 'greedy', `g${n}`);
    await expect(add(queue, 'greedy', 'g3')).rejects.toMatchObject({ code: 'queue_full', retryAfterSeconds: 1 });
    void add(queue, 'ann', 'ann0');
    await end('g0');
    await end('g1');
    expect(order).toEqual(['g0', 'g1', 'ann0']);
  });

  it('refuses what has waited too long with a code that says to come again, and never begins it', async () => {
    const queue = newQueue(1);
    void add(queue, 'greedy', 'g0');
    const waited = expect(add(queue, 'ann', 'ann0')).rejects.toMatchObject({ code: 'not_ready', retryAfterSeconds: 5 });
    await vi.advanceTimersByTimeAsync(1_000);
    await waited;
    await end('g0');
    expect(order).toEqual(['g0']);
  });

  it('gives an owner its share of the time and no more, however free the places are', async () => {
    const share = { part: 0.25, savedMsMax: 100, isUnbounded: (owner: string) => owner === 'server' };
    const queue = new FairQueue({ what: 'work', places: 4, waitingMax: 1_000, waitMsMax: 60_000, share });
    const begun = new Map<string, number>();
    const work = (owner: string, ms: number): Promise<void> =>
      queue.run(owner, () => {
        begun.set(owner, (begun.get(owner) ?? 0) + 1);
        return new Promise((resolve) => setTimeout(resolve, ms));
      });
    for (let n = 0; n < 500; n++) for (const owner of ['greedy', 'server']) void work(owner, 10);
    await vi.advanceTimersByTimeAsync(4_000);
    // A quarter of 4 s, and what was saved up: 110 pieces of 10 ms; without a bound 400.
    expect(begun.get('greedy')).toBeGreaterThan(100);
    expect(begun.get('greedy')).toBeLessThan(115);
    expect(begun.get('server')).toBeGreaterThan(390);
    void work('ann', 10);
    await vi.advanceTimersByTimeAsync(0);
    expect(begun.get('ann')).toBe(1);
  });

  it('counts against the share only what needed a place', async () => {
    const share = { part: 0.25, savedMsMax: 100, isUnbounded: () => false };
    const queue = new FairQueue({ what: 'work', places: 1, waitingMax: 10, waitMsMax: 60_000, share });
    void queue.run('ann', async (leave) => {
      leave();
      await new Promise((resolve) => setTimeout(resolve, 10_000));
    });
    await vi.advanceTimersByTimeAsync(10_000);
    void add(queue, 'ann', 'next');
    expect(order).toEqual(['next']);
  });
});

describe('a piece of work that nobody waits for any more', () => {
  it('is never begun, and leaves its turn to the next', async () => {
    const queue = new FairQueue({ what: 'work', places: 1, waitingMax: 3, waitMsMax: 60_000 });
    const order: string[] = [];
    let end = (): void => undefined;
    const add = (owner: string, name: string, signal?: AbortSignal): Promise<string> => {
      const action = (): Promise<string> => {
        order.push(name);
        return name === 'first' ? new Promise((resolve) => (end = () => resolve(name))) : Promise.resolve(name);
      };
      return queue.run(owner, action, signal === undefined ? {} : { signal });
    };
    const gone = new AbortController();
    const first = add('ann', 'first', gone.signal);
    const waiting = ['ann', 'ann', 'ben'].map((owner) =>
      expect(add(owner, 'dropped', gone.signal)).rejects.toMatchObject({ code: 'not_ready' }),
    );
    const next = [add('ann', 'ann'), add('ben', 'ben')];
    gone.abort();
    await Promise.all([...waiting, expect(add('ben', 'late', gone.signal)).rejects.toMatchObject({ code: 'not_ready' })]);
    end();
    expect(await Promise.all([first, ...next])).toEqual(['first', 'ann', 'ben']);
    expect(order.toSorted()).toEqual(['ann', 'ben', 'first']);
  });
});

describe('a queue that is closed', () => {
  it('refuses what waits and what comes, and ends what is under way', async () => {
    const queue = new FairQueue({ what: 'work', places: 1, waitingMax: 3, waitMsMax: 60_000 });
    let end = (): void => undefined;
    const first = queue.run('ann', () => new Promise((resolve) => (end = () => resolve('done'))));
    const refused = ['ann', 'ben'].map((owner) =>
      expect(queue.run(owner, async () => 'begun')).rejects.toMatchObject({ code: 'not_ready', message: expect.stringContaining('stops') }),
    );
    queue.close();
    refused.push(expect(queue.run('cat', async () => 'begun')).rejects.toMatchObject({ code: 'not_ready' }));
    await Promise.all(refused);
    end();
    expect(await first).toBe('done');
  });
});

describe('a budget of time', () => {
  it('lets work be begun while some is left, and says how long to wait when none is', () => {
    const budget = new TimeBudget(10_000);
    budget.require('work', 0);
    budget.spend(9_999, 0);
    budget.require('work', 0);
    budget.spend(5_000, 0);
    expect(() => budget.require('work', 0)).toThrow(expect.objectContaining({ code: 'quota_exceeded', retryAfterSeconds: 30 }));
    expect(() => budget.require('work', 29_500)).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
    budget.require('work', 31_000);
  });

  it('saves up for a minute and no longer', () => {
    const budget = new TimeBudget(10_000);
    budget.spend(0, 0);
    budget.spend(10_001, 1e9);
    expect(() => budget.require('work', 1e9)).toThrow('used up');
  });
});

describe('refusals that take their time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());
  const refusal = new Error('too much');

  /** How many of these refusals come before any time has gone by, and how many within a second. */
  const answered = async (holds: readonly Promise<never>[]): Promise<readonly [atOnce: number, inTime: number]> => {
    let count = 0;
    for (const hold of holds) hold.catch((error) => (count += Number(error === refusal)));
    await vi.advanceTimersByTimeAsync(0);
    const atOnce = count;
    await vi.advanceTimersByTimeAsync(1_000);
    return [atOnce, count];
  };

  it('hold up who asks again at once, up to a number and an amount of memory for each tenant', async () => {
    const refusals = new HeldRefusals();
    const many = (tenant: string, count: number, bytes: number) =>
      Array.from({ length: count }, () => refusals.hold(tenant, refusal, { bytes }));
    expect(await answered([...many('greedy', 101, 0), ...many('ann', 1, 0)])).toEqual([1, 102]);
    expect(await answered(many('greedy', 5, 5_000_000))).toEqual([2, 5]);
    expect(await answered(many('greedy', 2, 30_000_000))).toEqual([1, 2]);
    expect(await answered(many('greedy', 100, 0))).toEqual([0, 100]);
  });

  it('are over when nobody waits any more', async () => {
    const refusals = new HeldRefusals();
    const gone = new AbortController();
    const holds = [1, 2].map(() => refusals.hold('ann', refusal, { bytes: 0, waiting: { signal: gone.signal } }));
    gone.abort();
    expect(await answered([...holds, refusals.hold('ann', refusal, { bytes: 0, waiting: { signal: gone.signal } })])).toEqual([3, 3]);
  });
});
