import { expect, it } from 'vitest';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';

const program = `event A:
    k: str
    n: int
    text: str

stream Large = A.where(n > 5).partition_by(k).emit(n: n)

stream Pairs = A where n > 5 as a -> A where n < a.n and text == "no" as b .partition_by(k).within(1m).emit(n: b.n)
`;

function explained(explainedValuesMax?: number): Engine {
  const room = explainedValuesMax === undefined ? {} : { explainedValuesMax };
  return createEngine(planOf(program), { output: () => undefined }, { explain: true, ...room });
}

function push(engine: Engine, key: string, length: number, { type = 'A', n = 3 } = {}): void {
  const fields = new Map<string, string | number>([
    ['k', key],
    ['n', n],
    ['text', 'x'.repeat(length)],
  ]);
  engine.push({ type, fields, timestamp: 1, fallbackTime: 1 });
}

const attempts = (engine: Engine, key: string): number => engine.explain('Large', key).attempts.length;

it('what is remembered to explain streams has a room: the key that was used longest ago goes first', () => {
  const [bounded, free] = [explained(400), explained()];
  for (const engine of [bounded, free]) for (let n = 0; n < 50; n++) push(engine, `k${n}`, 160);
  expect([attempts(free, 'k0'), attempts(free, 'k49')]).toEqual([1, 1]);
  expect([attempts(bounded, 'k0'), attempts(bounded, 'k49')]).toEqual([0, 1]);
  expect(bounded.explain('Large', 'k0').nothing).toMatch(/^no event with key "k0" is remembered: there was no room for more keys; /);
  push(bounded, 'k0', 160);
  expect(attempts(bounded, 'k0')).toBe(1);
});

it('a long event takes the room of many, and what comes then is remembered', () => {
  const engine = explained(400);
  push(engine, 'short', 1);
  expect(attempts(engine, 'short')).toBe(1);
  push(engine, 'long', 16_000);
  push(engine, 'next', 1);
  expect([attempts(engine, 'short'), attempts(engine, 'long'), attempts(engine, 'next')]).toEqual([0, 0, 1]);
});

it.each([true, false])('a match and a run take the room of all their events, fused: %s', (isFused) => {
  const keys = ['k0', 'k1', 'k2', 'k3', 'k4'];
  const known = (explainedValuesMax: number): readonly string[] => {
    const text =
      'stream M = A where n < 5 as a -> B+ as b -> A where n > 5 as c .within(1m).partition_by(k).where(len(b) < 9).emit(n: len(b))\n';
    const engine = createEngine(planOf(text), { output: () => undefined }, { explain: true, explainedValuesMax, isFused });
    for (const k of keys) {
      push(engine, k, 1);
      for (let n = 0; n < 100; n++) push(engine, k, n < 60 ? 1_600 : 1, { type: 'B' });
      push(engine, k, 1, { n: 9 });
    }
    return keys.filter((key) => engine.explain('M', key).nothing === null);
  };
  expect(known(Infinity)).toEqual(keys);
  expect(known(10_000)).toEqual(['k4']);
});
