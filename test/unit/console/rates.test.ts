import { expect, it } from 'vitest';
import { History } from '../../../cli/console/service/rates.ts';

const historyOf = (...counts: readonly number[]): History<number> => {
  const history = new History<number>();
  counts.forEach((count, second) => {
    history.add({ timeMs: second * 1_000, counts: count });
  });
  return history;
};
const itself = (count: number): number => count;

it('knows no rate before there are two samples', () => {
  expect([historyOf().rate(itself), historyOf(5).rate(itself)]).toEqual([undefined, undefined]);
});

it('gives counts per second over the last seconds', () => {
  expect(historyOf(0, 10, 20, 30).rate(itself)).toBe(10);
  expect(historyOf(0, 0, 0, 30).rate(itself, 1_000)).toBe(30);
});

it('is 0 where a count went down, as after a restore', () => {
  expect(historyOf(100, 3).rates(itself)).toEqual([0]);
});

it('keeps the newest samples, and takes none twice', () => {
  const history = historyOf(...Array.from({ length: 500 }, (_, at) => at));
  history.add({ timeMs: 499_000, counts: 7 });
  expect([history.samples.length, history.samples.at(-1)?.counts]).toEqual([90, 499]);
});
