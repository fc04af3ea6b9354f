import { expect, test } from 'vitest';
import { expectAlike } from '../../../reference/seen.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent } from '../support/engine-run.ts';

const declarations = `event A:
    id: int
    v: int?
    s: str

fn deep(x: int) -> int:
    return deep(x + 1) + 1
`;

const programs: Readonly<Record<string, string>> = {
  'of a match that fails': 'stream S = A as a -> A as b within 5s .where((a.v ?? 0) > deep(b.id)).emit(id: a.id)',
  'of a closure whose match fails': 'stream S = A as a -> A{2,} as b -> A as c within 9s .where(last(b).v > deep(a.id)).emit(n: sum(b.v))',
};

const events = Array.from({ length: 12 }, (_, at) => inputEvent('A', at * 400, { id: at, v: at % 3, s: 'x' }));

test.each(Object.entries(programs))('fields of an event stand as they are declared, before and after a restore: those %s', (_, text) => {
  const plan = planOf(`${declarations}\n${text}`);
  const seen = expectAlike(plan, events, { cuts: [1, 2, 3, 7], text });
  expect(seen.join('\n')).toContain('{"a_id":0,"a_v":0,"a_s":"x"');
});
