import { afterEach, expect, it, vi } from 'vitest';
import { Backoff } from '../../../worker/connectors/backoff.ts';

afterEach(() => vi.restoreAllMocks());

it('waits longer each time, also after what worked for a moment, and begins anew after what lasted', () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const backoff = new Backoff();
  expect([backoff.next(), backoff.next()]).toEqual([250, 500]);
  backoff.lasted(200);
  expect(backoff.next()).toBe(1_000);
  backoff.lasted(60_000);
  expect(backoff.next()).toBe(250);
});
