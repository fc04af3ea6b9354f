import './session-storage.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Following, followEvents } from '../../../cli/console/service/event-stream.ts';

/** Each answers one request; behind the last nothing answers. */
let answers: (() => Response)[];
let states: string[];
let ending: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  states = [];
  ending = new AbortController();
  vi.stubGlobal('fetch', async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new TypeError('fetch failed');
    return answer();
  });
});

afterEach(() => {
  ending.abort();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const follow = (onEvent: Following['onEvent'] = () => undefined): Promise<void> =>
  followEvents('/logs', {
    signal: ending.signal,
    onEvent,
    onState: (state, problem) => void states.push(problem === undefined ? state : `${state}: ${problem.message}`),
  });

const refusal =
  (status: number, headers: Record<string, string> = {}) =>
  (): Response =>
    new Response(JSON.stringify({ code: 'some_code', error: 'not now' }), { status, headers });
const stream = (): Response => new Response('id: 7\ndata: {"x":1}\n\n');

it('goes on after it was asked to come back later, when that time is over and not before', async () => {
  answers = [refusal(429, { 'retry-after': '20' }), stream];
  const seen: string[] = [];
  void follow(({ data }) => void seen.push(data));
  await vi.advanceTimersByTimeAsync(19_999);
  expect([states, answers.length]).toEqual([['connecting', 'lost: not now'], 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(states.slice(2, 4)).toEqual(['connecting', 'open']);
  expect(seen).toEqual(['{"x":1}']);
});

it.each([502, 503])('goes on after an answer with status %i', async (status) => {
  answers = [refusal(status), stream];
  void follow();
  await vi.advanceTimersByTimeAsync(500);
  expect(states.slice(0, 4)).toEqual(['connecting', 'lost: not now', 'connecting', 'open']);
});

it.each([400, 401, 404])('ends with a refusal with status %i', async (status) => {
  answers = [refusal(status), stream];
  await expect(follow()).rejects.toMatchObject({ status });
  expect(answers).toHaveLength(1);
});
