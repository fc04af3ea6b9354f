import { expect, it } from 'vitest';
import { noCounters } from '../../../worker/runtime/pipelines/growing-counters.ts';
import { PipelineTally } from '../../../worker/runtime/pipelines/pipeline-tally.ts';
import type { CountersReply } from '../../../worker/runtime/threads/messages.ts';

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

it('has no series of streams that a reload took away, and all of those that stay', () => {
  const tally = new PipelineTally();
  const streams = (...names: string[]): CountersReply =>
    ({ ...noCounters, streams: names.map((name) => ({ name, runsDropped: {}, taps: {} })) }) as unknown as CountersReply;
  const output = (stream: string): void => tally.output(stream, 'Out', { seconds: 1, count: 1 });
  tally.counters = streams('Stays', 'First');
  for (const stream of ['Stays', 'First', 'First.late']) output(stream);
  tally.countFrom(streams('Stays', 'Second'))();
  tally.counters = streams('Stays', 'Second');
  for (const stream of ['Stays', 'Second']) output(stream);
  const { outputsByStream, latencyByStream } = tally.scrape();
  expect(outputsByStream).toEqual({ Stays: { Out: 2 }, 'First.late': { Out: 1 }, Second: { Out: 1 } });
  expect(Object.keys(latencyByStream)).toEqual(['Stays', 'First.late', 'Second']);
  tally.countFrom(streams('Stays', 'First'))();
  output('First');
  expect(tally.scrape().outputsByStream).toMatchObject({ First: { Out: 2 } });
  for (let n = 0; n <= 101; n++) tally.countFrom(streams(`W${n}`))();
  tally.countFrom(streams('First', 'W50'))();
  output('First');
  expect(tally.scrape().outputsByStream).toMatchObject({ First: { Out: 1 } });
});
