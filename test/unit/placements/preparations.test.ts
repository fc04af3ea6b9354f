import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { Preparations } from '../../../worker/placements/preparations.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

function preparations(): { readonly host: SimulatedHost; readonly all: Preparations; at: (ms: number) => void } {
  let nowMs = 0;
  const host = new SimulatedHost();
  return { host, all: new Preparations(host, () => nowMs), at: (ms) => (nowMs = ms) };
}

it('what is prepared is taken once, by whoever wants the same program', async () => {
  const { host, all } = preparations();
  await Promise.all([all.prepare('p', 'one'), all.prepare('p', 'one')]);
  expect(host.warmed.size).toBe(1);
  expect(await all.take('p', 'another')).toBeUndefined();
  expect(await all.take('q', 'one')).toBeUndefined();
  expect(await all.take('p', 'one')).toBeDefined();
  expect(await all.take('p', 'one')).toBeUndefined();
});

it('what nobody comes for is left: after a minute, for another program, beyond sixteen, and at the end', async () => {
  const { host, all, at } = preparations();
  const left = async (): Promise<number> => {
    await new Promise(setImmediate);
    return host.warmed.size;
  };
  await all.prepare('p', 'one');
  await all.prepare('p', 'another');
  expect(await left()).toBe(1);
  at(59_999);
  all.look();
  expect(await left()).toBe(1);
  at(60_000);
  all.look();
  expect(await left()).toBe(0);
  for (let number = 0; number < 20; number++) await all.prepare(`p${number}`, 'one');
  expect(await left()).toBe(16);
  expect([await all.take('p3', 'one'), (await all.take('p4', 'one')) === undefined]).toEqual([undefined, false]);
  all.close();
  expect(await left()).toBe(1); // Which was taken.
});

it('what cannot run is refused to whoever prepares it, and is no reason not to try it later', async () => {
  const { host, all } = preparations();
  host.refuses = true;
  await expect(all.prepare('p', 'one')).rejects.toThrow(CepError);
  expect(await all.take('p', 'one')).toBeUndefined();
  host.refuses = false;
  await all.prepare('p', 'one');
  expect(await all.take('p', 'one')).toBeDefined();
});
