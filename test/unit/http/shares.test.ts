import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnswerPace } from '../../../shared/http/answer-pace.ts';
import { RequestShares } from '../../../shared/http/request-shares.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the pace of large answers', () => {
  const newPace = (waitingMax = 10): AnswerPace =>
    new AnswerPace({
      ...{ bytesPerSecond: 1_000, burstBytes: 1_000, underWayMax: 2, waitingMax, waitMsMax: 200_000 },
      now: () => performance.now(),
    });
  const never = new AbortController().signal;

  /** Asks for an answer as soon as the one before has come, as often as it can. */
  const ask = async (pace: AnswerPace, client: string, bytes: number, counts: Map<string, number>): Promise<never> => {
    for (;;) {
      const answered = await pace.enter(client, never);
      await new Promise((resolve) => setTimeout(resolve, 1));
      counts.set(client, (counts.get(client) ?? 0) + 1);
      answered(bytes);
    }
  };

  it('gives many connections of one client together what a second allows, and other clients theirs', async () => {
    const pace = newPace();
    const counts = new Map<string, number>();
    for (let n = 0; n < 6; n++) void ask(pace, 'greedy', 500, counts);
    void ask(pace, 'modest', 1, counts);
    await vi.advanceTimersByTimeAsync(20_000);
    // 20 s of 1,000 bytes, and what is given at once.
    expect(counts.get('greedy')).toBeGreaterThanOrEqual(40);
    expect(counts.get('greedy')).toBeLessThanOrEqual(44);
    expect(counts.get('modest')).toBeGreaterThan(10_000);
  });

  it('makes few answers of a client at a time, also before it is known how large they are', async () => {
    const pace = newPace();
    const answered: ((bytes: number) => void)[] = [];
    for (let n = 0; n < 6; n++) void pace.enter('greedy', never).then((told) => answered.push(told));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(answered).toHaveLength(2);
    answered[0]?.(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(answered).toHaveLength(3);
  });

  it('refuses who has waited too long, and lets everybody in at the end of the server', async () => {
    const pace = newPace();
    const told = await pace.enter('greedy', never);
    told(1_000_000);
    const late = expect(pace.enter('greedy', never)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    await vi.advanceTimersByTimeAsync(200_000);
    await late;
    const waiting = [pace.enter('greedy', never), pace.enter('greedy', never), pace.enter('greedy', never)];
    pace.end();
    expect(await Promise.all(waiting)).toHaveLength(3);
    await pace.enter('greedy', never);
  });

  it('refuses what would wait beside too much else, and forgets who hangs up', async () => {
    const pace = newPace(1);
    (await pace.enter('greedy', never))(100_000);
    const gone = new AbortController();
    const waiting = expect(pace.enter('greedy', gone.signal)).rejects.toMatchObject({ code: 'not_ready' });
    await expect(pace.enter('greedy', never)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    gone.abort();
    await waiting;
    let isIn = false;
    void pace.enter('greedy', never).then(() => (isIn = true));
    await vi.advanceTimersByTimeAsync(98_000);
    expect(isIn).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(isIn).toBe(true);
  });
});

describe('shares of requests', () => {
  /** A thread that takes 1 ms for each request of weight 1. */
  const newShares = (): { shares: RequestShares; counts: Map<string, number>; send: (name: string, weight?: number) => void } => {
    const counts = new Map<string, number>();
    let work = 0;
    let lookedAt = performance.now();
    const busyPart = (): number => {
      const part = Math.min(1, work / (performance.now() - lookedAt));
      work = 0;
      lookedAt = performance.now();
      return part;
    };
    const shares = new RequestShares({ now: () => performance.now(), busyPart });
    const begin = (name: string, weight: number): void => {
      work += weight;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    };
    const send = (name: string, weight = 1): void => {
      const turn = shares.enter(name, weight);
      if (turn === undefined) begin(name, weight);
      else
        turn.then(
          () => begin(name, weight),
          () => undefined,
        );
    };
    return { shares, counts, send };
  };
  const every = (ms: number, send: () => void): void => void setInterval(send, ms);

  it('lets a client that is alone use the whole thread', async () => {
    const { counts, send } = newShares();
    every(1, () => send('alone'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(counts.get('alone')).toBe(5_000);
  });

  it('keeps back the client that asks for most while another is there, and gives it all again when it is alone', async () => {
    const { counts, send } = newShares();
    every(1, () => send('greedy'));
    const modest = setInterval(() => send('modest'), 50);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counts.get('modest')).toBe(200);
    const part = (counts.get('greedy') ?? 0) / 10_000;
    expect(part).toBeGreaterThan(0.5);
    expect(part).toBeLessThan(0.75);
    clearInterval(modest);
    // What waited comes first, and then as much as is asked for.
    await vi.advanceTimersByTimeAsync(2_000);
    const before = counts.get('greedy') ?? 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect((counts.get('greedy') ?? 0) - before).toBe(1_000);
  });

  it('never keeps back a client that sends one request after the other', async () => {
    const { shares, send } = newShares();
    every(1, () => send('greedy'));
    let answered = 0;
    const next = (): void => {
      if (shares.enter('sequential', 100) !== undefined) throw new Error('it has to wait');
      setTimeout(() => {
        answered++;
        shares.leave('sequential');
        next();
      }, 2);
    };
    next();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(answered).toBe(2_500);
  });

  it('refuses requests of a client that has hundreds waiting, or waits for long, and lets all in at the end of the server', async () => {
    const shares = new RequestShares({ now: () => performance.now(), busyPart: () => 1 });
    every(10, () => void shares.enter('other', 1));
    for (let n = 0; n < 100; n++) void shares.enter('greedy', 1);
    await vi.advanceTimersByTimeAsync(21);
    const sent = Array.from({ length: 1_200 }, () => shares.enter('greedy', 1_000) ?? Promise.resolve());
    const results = Promise.allSettled(sent);
    await vi.advanceTimersByTimeAsync(40_000);
    const refused = (await results).filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(200);
    expect(new Set(refused.map(({ reason }) => reason.message)).size).toBe(2);
    expect(new Set(refused.map(({ reason }) => reason.code))).toEqual(new Set(['rate_limited']));
    const last = [shares.enter('greedy', 1), shares.enter('greedy', 1)];
    shares.end();
    await Promise.all(last);
    expect(shares.enter('greedy', 1)).toBeUndefined();
  });

  it('goes by what requests cost, not by how many there are', async () => {
    const { counts, send } = newShares();
    every(10, () => send('large', 10));
    every(5, () => send('small'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counts.get('small')).toBe(2_000);
    expect(counts.get('large')).toBeLessThan(750);
  });
});
