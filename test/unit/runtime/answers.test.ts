import { expect, it, vi } from 'vitest';
import type { Answer, LookupRequest } from '../../../worker/engine/engine.ts';
import { Answers } from '../../../worker/runtime/answers.ts';

const request = (id: number, timeoutMs = 50): LookupRequest => ({ id, stream: 'S', connector: 'C', key: id, fields: [], timeoutMs });

it('turns what is found, what fails and what takes too long into one answer each', async () => {
  vi.useFakeTimers();
  try {
    const delivered: Answer[] = [];
    const aborted: boolean[] = [];
    const answers = new Answers({
      lookup: async ({ id }, signal) => {
        if (id === 1) return 'found';
        if (id === 2) throw new Error('404');
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted.push(signal.aborted);
            reject(new Error('aborted'));
          }),
        );
      },
      deliver: (answer) => delivered.push(answer),
      now: () => 0,
    });
    for (const id of [1, 2, 3]) expect(answers.host.lookup?.(request(id))).toBeUndefined();
    expect(answers.open).toBe(3);
    await vi.advanceTimersByTimeAsync(60);
    await answers.settled();
    expect(delivered.sort((a, b) => a.id - b.id)).toEqual([
      { id: 1, result: { status: 'ok', value: 'found' }, latencyMs: 0 },
      { id: 2, result: { status: 'error', message: '404' }, latencyMs: 0 },
      { id: 3, result: { status: 'timeout' }, latencyMs: 0 },
    ]);
    expect([aborted, answers.open]).toEqual([[true], 0]);
  } finally {
    vi.useRealTimers();
  }
});

it('offers only the kinds of questions that can be answered', () => {
  expect(Object.keys(new Answers({ deliver: () => undefined }).host)).toEqual([]);
  expect(Object.keys(new Answers({ score: async () => [], deliver: () => undefined }).host)).toEqual(['score']);
});
