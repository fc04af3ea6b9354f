import { describe, expect, it } from 'vitest';
import { Blocks, feedOf } from '../../bench/micro/block.ts';
import type { MicroCase } from '../../bench/micro/case.ts';
import { microCases } from '../../bench/micro/cases.ts';
import { contender } from '../../bench/micro/contenders.ts';
import { OutputTotals } from '../../bench/processes/output-totals.ts';

const SMALL = 3_000;

function totalsOf(micro: MicroCase, mode: 'bound' | 'reference' | 'push', events: number): OutputTotals {
  const totals = new OutputTotals();
  const made = contender(mode, micro, totals);
  const block = new Blocks(micro).next(events);
  made?.prepare(block);
  made?.feed(block, 0, events);
  return totals;
}

/** Those that give outputs within few events. */
const cases = microCases.filter(({ name }) => !/100000|tumbling|chain-10000/.test(name));

describe.each(cases)('the bound of $name', (micro) => {
  it('gives what the reference evaluator gives', () => {
    const events = micro.name.endsWith('s-1000') ? SMALL / 5 : SMALL;
    const [bound, reference] = [totalsOf(micro, 'bound', events), totalsOf(micro, 'reference', events)];
    expect(bound.outputs).toBe(reference.outputs);
    expect(bound.sum).toBeCloseTo(reference.sum, 3);
    expect(bound.outputs).toBeGreaterThan(0);
  });
});

describe('events of a case', () => {
  it('are the same however they are cut into blocks', () => {
    for (const micro of microCases) {
      const whole = new Blocks(micro).next(50);
      const blocks = new Blocks(micro);
      const parts = [blocks.next(20), blocks.next(30)];
      expect(parts.flatMap(({ times }) => [...times])).toEqual([...whole.times]);
      expect(parts.flatMap(({ firsts }) => firsts)).toEqual(whole.firsts);
      expect(parts.flatMap(({ seconds }) => seconds)).toEqual(whole.seconds);
    }
  });
});

describe('a feed', () => {
  it('gives each type its columns, from one position up to another', () => {
    const given: unknown[] = [];
    const take = (...values: never[]): void => void given.push(values);
    const feed = feedOf([
      { take, columns: ['firsts', 'seconds'] },
      { take, columns: ['seconds'], constants: [false] },
    ]);
    const block = { types: Uint8Array.of(0, 1, 0), times: Float64Array.of(10, 20, 30), firsts: ['a', 'b', 'c'], seconds: [1, 2, 3] };
    feed(block, 1, 3);
    expect(given).toEqual([
      [20, false, 2],
      [30, 'c', 3],
    ]);
  });
});
