import './session-storage.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askList, askPages, listedMax } from '../../../cli/console/service/paging.ts';

interface Numbers {
  readonly numbers: readonly number[];
  readonly time: number;
  readonly total: number;
  readonly pagination: { readonly has_more: boolean };
}

let total: number;
let asked: string[];
const { signal } = new AbortController();

/** The numbers from 0 on, in pages as the API has them. */
beforeEach(() => {
  asked = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    const query = new URL(path, 'http://server').searchParams;
    const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
    const numbers = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) => offset + at);
    const inObject = { numbers, time: asked.length, total, pagination: { has_more: offset + numbers.length < total } };
    return new Response(JSON.stringify(path.startsWith('/list') ? numbers : inObject));
  });
});

afterEach(() => vi.unstubAllGlobals());

it.each([0, 3, 1_000, 2_500])('gives all of %i entries', async (count) => {
  total = count;
  const all = Array.from({ length: count }, (_, at) => at);
  expect(await askList('/list', signal)).toEqual(all);
  asked = [];
  const { numbers, time } = await askPages<Numbers>('/numbers', 'numbers', signal);
  expect([numbers, time, asked.length]).toEqual([all, 1, Math.max(1, Math.ceil(count / 1_000))]);
});

it('goes on behind a page that holds fewer than were asked for', async () => {
  const entries = ['a', 'b', 'c', 'd', 'e'];
  vi.stubGlobal('fetch', async (path: string) => {
    const offset = Number(new URL(path, 'http://server').searchParams.get('offset'));
    return new Response(JSON.stringify(entries.slice(offset, offset + 2)), { headers: { 'x-total-count': '5' } });
  });
  expect(await askList('/list', signal)).toEqual(entries);
});

it('ends at a bound, and keeps the number that there are', async () => {
  total = listedMax + 1;
  expect(await askList('/list', signal)).toHaveLength(listedMax);
  const answer = await askPages<Numbers>('/numbers', 'numbers', signal);
  expect([answer.numbers.length, answer.total]).toEqual([listedMax, total]);
});
