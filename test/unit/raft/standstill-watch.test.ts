import { expect, it } from 'vitest';
import { StandstillWatch } from '../../../coordinator/raft/driver/standstill-watch.ts';

/** Times at which another should lead, of a thread that is silent for a minute; looked at once a second. */
function silentAt(watch: StandstillWatch, fromMs = 0): number[] {
  return Array.from({ length: 60 }, (_, second) => fromMs + (second + 1) * 1_000).filter((now) => watch.passed(1_000, now) !== undefined);
}

it('says that another should lead after ten elections without a word, until this node hands over', () => {
  const watch = new StandstillWatch(1_000);
  for (let now = 0; now < 9_000; now += 1_000) expect(watch.passed(1_000, now)).toBeUndefined();
  watch.heard();
  expect(silentAt(watch, 9_000)[0]).toBe(19_000);
  expect(watch.passed(1_000, 70_000)).toBe(61_000);
  watch.handsOver(70_000);
  expect(watch.passed(1_000, 129_000)).toBeUndefined();
  expect(watch.passed(1_000, 130_000)).toBe(63_000);
});
