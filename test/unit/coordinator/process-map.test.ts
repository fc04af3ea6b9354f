import { expect, it } from 'vitest';
import { ProcessMap } from '../../../coordinator/liveness/process-map.ts';

it('tells processes of one worker apart, counts them, and keeps those that are named', () => {
  const map = new ProcessMap<number>();
  const [old, young, other] = [
    { id: 'a', incarnation: '1' },
    { id: 'a', incarnation: '2' },
    { id: 'b', incarnation: '1' },
  ] as const;
  for (const [at, process] of [old, young, other, young].entries()) map.set(process, at);
  expect([map.size, map.get(old), map.get(young), map.get(other)]).toEqual([3, 0, 3, 2]);
  expect([...map.entries()]).toEqual([
    [old, 0],
    [young, 3],
    [other, 2],
  ]);
  map.delete(other);
  map.delete(other);
  expect([map.size, map.get(other)]).toEqual([2, undefined]);
  map.keep([young, other]);
  expect([map.size, map.get(old), map.get(young)]).toEqual([1, undefined, 3]);
});
