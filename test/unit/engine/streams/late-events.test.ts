import { expect, it } from 'vitest';
import { type WaitingQueue, WaitingQueues } from '../../../../worker/engine/analytics/waiting-queues.ts';
import { LateEvents } from '../../../../worker/engine/streams/late-events.ts';

it('counts each event once as long as something may wait of it, however many are late', () => {
  const waiting = new WaitingQueues();
  const queue = { oldest: 1 };
  waiting.add(queue as unknown as WaitingQueue);
  const late = new LateEvents(waiting);
  const note = (from: number, to: number): void => {
    for (let order = from; order <= to; order++) late.note(order);
  };
  note(1, 2_000);
  note(1, 2_000);
  expect(late.count).toBe(2_000);
  queue.oldest = 1_500;
  note(2_001, 9_000);
  note(1_500, 9_000);
  expect(late.count).toBe(9_000);
});
