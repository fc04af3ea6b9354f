import { expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { SharedClosureLog } from '../../../../worker/engine/fusion/patterns/shared-closure-log.ts';
import { expectAlike } from '../../../reference/seen.ts';

const DECLARED = ['A', 'B', 'C'].map((name) => `event ${name}:\n    v: int\n`).join('');

/** An A now and then, many Bs, few Cs; `late` of every hundred events come before their time. */
function input(count: number, late: number): InputEvent[] {
  return Array.from({ length: count }, (_, i) => {
    const type = i % 397 === 396 ? 'C' : i % 20 === 0 ? 'A' : 'B';
    return { type, fields: new Map([['v', i]]), fallbackTime: i % 100 < late ? i - 150 : i };
  });
}

const READ = 'count: len(b), last: b.v, first: first(b).v, sum: sum(b.v), before: prev(b).v';

test.each([
  ['of which nothing is read but the last', '', 'count: len(b), last: b.v', 0],
  ['all of which are read', '', READ, 0],
  ['that come late now and then', '', READ, 2],
  ['of which there are too many', '\n    .max_closure(170)', READ, 0],
  ['of which there are too many, and some late', '\n    .max_closure(170)', 'count: len(b), last: b.v', 2],
  ['after which all runs end', '\n    .after_match(skip_past_last)', READ, 0],
])(
  'runs that take events of a closure together see the same as each alone: events %s',
  (_, policy, read, late) => {
    const text = `${DECLARED}stream S = A as a -> B+ as b -> C as c where c.v > a.v + 100\n    .within(300ms)${policy}\n    .emit(a: a.v, ${read})\n`;
    const { plan, diagnostics } = check(new SourceText('closure.vpl', text));
    if (plan === null) throw new Error(diagnostics[0]?.message);
    const events = input(1_600, late);
    expect(expectAlike(plan, events, { cuts: [801], text }).length).toBeGreaterThan(3);
  },
  90_000,
);

test('what all runs have seen is forgotten', () => {
  const run = (began: number) => ({
    state: 0,
    indexKey: null,
    key: null,
    began,
    first: began,
    last: Infinity,
    before: null,
    after: null,
    previous: null,
    next: null,
  });
  const shared = new SharedClosureLog();
  const first = run(1);
  shared.join(first, true, 10);
  for (let event = 0; event < 600; event++) {
    shared.taken++;
    shared.past.push(event, -event);
  }
  Object.assign(first, { seen: 250 });
  shared.trim(first);
  expect(shared.past.slice(0, 2)).toEqual([250, -250]);
  expect(shared.pastFrom).toBe(250);
  expect(shared.past).toHaveLength(700);
});
