import { expect, it } from 'vitest';
import { noCounters } from '../../../worker/runtime/pipelines/growing-counters.ts';
import { PipelineTally } from '../../../worker/runtime/pipelines/pipeline-tally.ts';

it('types that no stream reads may have any name', () => {
  const tally = new PipelineTally();
  const unread = { constructor: 1, ['__proto__']: 2, Readign: 3 };
  tally.counters = { ...noCounters, unreadTypes: unread, nearestTypes: { Readign: 'Reading' } };
  const expected = [
    { type: 'constructor', events: 1, nearest: null },
    { type: '__proto__', events: 2, nearest: null },
    { type: 'Readign', events: 3, nearest: 'Reading' },
  ];
  expect(tally.metrics().unreadTypes).toEqual(expected);
  expect(tally.scrape().unreadTypes).toEqual(expected);
});
