import { expect, it } from 'vitest';
import { retryAfterMs } from '../../../worker/connectors/http.ts';

const date = 'Tue, 15 Nov 1994 08:12:31 GMT';

it.each([
  ['seconds', { 'retry-after': '60' }, 60_000],
  ['a date, by the clock of whoever answers', { 'retry-after': 'Tue, 15 Nov 1994 08:12:41 GMT', date }, 10_000],
  ['a date that is over', { 'retry-after': 'Tue, 15 Nov 1994 08:12:01 GMT', date }, 0],
  ['a date of nobody knows which clock', { 'retry-after': date }, undefined],
  ['neither', { 'retry-after': 'soon', date }, undefined],
  ['a time before now', { 'retry-after': '-1', date }, undefined],
  ['nothing', {}, undefined],
])('of when to come again is read: %s', (_, headers, ms) => {
  expect(retryAfterMs(headers)).toBe(ms);
});
