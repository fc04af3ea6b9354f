import { expect, it, vi } from 'vitest';
import { Replica } from '../../../../coordinator/cluster/replica.ts';

it('has reached a place in the log where no command stands, once it is told', async () => {
  const replica = new Replica();
  const soon = replica.reached(4, 60_000);
  const settled = vi.fn();
  void soon.then(settled);
  replica.passed(3);
  await Promise.resolve();
  expect(settled).not.toHaveBeenCalled();
  replica.passed(4);
  expect(await soon).toBe(true);
  expect(await replica.reached(4, 0)).toBe(true);
  expect(await replica.reached(5, 0)).toBe(false);
});
