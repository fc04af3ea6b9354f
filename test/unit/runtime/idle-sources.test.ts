import { expect, it } from 'vitest';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { IdleSources, type SavedIdleSources } from '../../../worker/runtime/threads/idle-sources.ts';

const hourMs = 3_600_000;
const began = 1_700_000_000_000;

const oneSource = 'stream S = A.watermark(idle: 5s).emit(n: n)\n';

/** A program with a source that is idle after 5 s, and for how long it was said to be silent. */
class Told {
  readonly silences: number[] = [];
  readonly #id: string;
  readonly #idle: IdleSources;
  readonly #engine = {
    advance: () => undefined,
    passSilence: (silentMs: ReadonlyMap<string, number>) => {
      const ms = silentMs.get(this.#id);
      if (ms !== undefined) this.silences.push(ms);
    },
  } as Pick<Engine, 'advance' | 'passSilence'> as Engine;

  constructor(saved?: SavedIdleSources, [text, id] = [oneSource, 'input']) {
    this.#id = id;
    const { plan } = check(new SourceText('p.vpl', text));
    this.#idle = new IdleSources(plan as Plan);
    if (saved) this.#idle.load(saved);
  }

  event(arrived: number, type = 'A'): void {
    this.#idle.observe(type, arrived);
  }

  /** A tick every tenth of a second. */
  ticks(from: number, to: number): void {
    for (let now = from; now <= to; now += 100) this.#idle.tick(this.#engine, now);
  }

  save(): SavedIdleSources {
    return this.#idle.save();
  }
}

it('says for how long nothing came, once that is long enough', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(began + 1_000);
  told.ticks(began + 1_100, began + 5_900);
  expect(told.silences).toEqual([]);
  told.ticks(began + 6_000, began + 6_100);
  expect(told.silences).toEqual([5_000, 5_100]);
});

it('takes no clock that is set, forward or back, for silence', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(began + 1_000);
  told.ticks(began + 1_100, began + 3_000);
  // Ahead by an hour, with an event that arrived by the clock of another machine, and back again as a pipeline goes on elsewhere.
  told.ticks(began + hourMs + 3_100, began + hourMs + 4_000);
  told.event(began + 4_000);
  told.ticks(began + hourMs + 4_100, began + hourMs + 6_000);
  const elsewhere = new Told(told.save());
  elsewhere.event(began + 6_000);
  elsewhere.ticks(began + 6_100, began + 8_000);
  expect([told.silences, elsewhere.silences]).toEqual([[], []]);
  elsewhere.ticks(began + 8_100, began + 12_000);
  expect(elsewhere.silences.at(0)).toBe(5_000);
});

it('sees silence where events arrive by a clock that is far ahead of the ticks', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(began + hourMs);
  told.ticks(began + 1_100, began + 16_000);
  expect(told.silences.at(0)).toBe(5_000);
});

it('goes on after a restart with the silence that it had seen, not with the time in which nobody listened', () => {
  const before = new Told();
  before.ticks(began, began + 1_000);
  before.event(began + 1_000);
  before.ticks(began + 1_100, began + 4_000);
  const replayed = new Told(before.save());
  const restarted = new Told(before.save());
  before.ticks(began + 4_100, began + 7_000);
  replayed.ticks(began + 4_100, began + 7_000);
  restarted.ticks(began + hourMs, began + hourMs + 1_900);
  expect(replayed.silences).toEqual(before.silences);
  expect(before.silences[0]).toBe(5_000);
  expect(restarted.silences).toEqual([]);
  restarted.ticks(began + hourMs + 2_000, began + hourMs + 2_000);
  expect(restarted.silences).toEqual([5_000]);
});

it('begins anew with the silence that a build before has put into its clocks itself', () => {
  const told = new Told([
    ['input', began, 50],
    ['$tick', began + 60_000, null],
  ]);
  told.ticks(began + 60_100, began + 64_900);
  expect(told.silences).toEqual([]);
  told.ticks(began + 65_000, began + 65_000);
  expect(told.silences).toEqual([5_000]);
});

it('hears a binding in events of types that extend its own', () => {
  const text = [
    'connector K = mqtt(url: "mqtt://127.0.0.1")',
    'event Login: n: int',
    'event AdminLogin extends Login: level: int',
    'stream S = Login.from(K, topic: "b").watermark(idle: 5s).emit(n: n)',
    '',
  ].join('\n');
  const told = new Told(undefined, [text, 'K/b']);
  told.ticks(began, began + 1_000);
  told.event(began + 1_000, 'Login');
  told.ticks(began + 1_100, began + 4_000);
  told.event(began + 4_000, 'AdminLogin');
  told.ticks(began + 4_100, began + 8_900);
  expect(told.silences).toEqual([]);
  told.ticks(began + 9_000, began + 9_000);
  expect(told.silences).toEqual([5_000]);
});

it.each<[string, { a: string; more?: string; idleMs: number }]>([
  ['states it', { a: 'A.from(K, topic: "a").watermark(idle: 7s).emit(n: n)', idleMs: 7_000 }],
  [
    'is read by a stream that states none and feeds one that does',
    { a: 'A.from(K, topic: "a").emit(n: n)', more: 'X.watermark(idle: 7s)', idleMs: 7_000 },
  ],
  ['states none, where another source does', { a: 'A.from(K, topic: "a").emit(n: n)', more: 'C.watermark(idle: 7s)', idleMs: 30_000 }],
  [
    'states more, and is read by another stream that states none',
    { a: 'A.from(K, topic: "a").watermark(idle: 1h).emit(n: n)', more: 'A', idleMs: 30_000 },
  ],
  ['states more', { a: 'A.from(K, topic: "a").watermark(idle: 1m).emit(n: n)', more: 'C.watermark(idle: 7s)', idleMs: 60_000 }],
])('is silent after the time that its own streams say: %s', (_, { a, more = 'C', idleMs }) => {
  const text = `connector K = mqtt(url: "mqtt://127.0.0.1")\nstream X = ${a}\nstream Y = ${more}.emit(n: n)\n`;
  const told = new Told(undefined, [text, 'K/a']);
  told.ticks(began, began);
  told.event(began);
  told.ticks(began + 100, began + idleMs - 100);
  expect(told.silences).toEqual([]);
  told.ticks(began + idleMs, began + idleMs);
  expect(told.silences).toEqual([idleMs]);
});

it('leaves the partitions of a broker from which nothing comes, each by itself, also behind a restart', () => {
  const left = new Map<string, number[]>();
  let now = began;
  const engine = {
    advance: () => undefined,
    passSilence: (_, partitions) => {
      for (const name of partitions?.get('K/a') ?? []) left.set(name, [...(left.get(name) ?? []), now - began]);
    },
  } as Pick<Engine, 'advance' | 'passSilence'> as Engine;
  const text = 'connector K = mqtt(url: "mqtt://127.0.0.1")\nstream S = A.from(K, topic: "a").watermark(idle: 5s).emit(n: n)\n';
  const { plan } = check(new SourceText('p.vpl', text));
  let idle = new IdleSources(plan as Plan);
  const ticks = (to: number): void => {
    for (; now <= began + to; now += 100) idle.tick(engine, now);
  };
  ticks(1_000);
  idle.await('K/a', ['0', '1', '2'], began + 1_000);
  ticks(3_000);
  idle.observe('A', began + 3_000, { id: 'K/a', partition: '1' });
  const saved = idle.save();
  idle = new IdleSources(plan as Plan);
  idle.load(saved);
  ticks(5_900);
  expect([...left]).toEqual([]);
  ticks(9_000);
  // As long as another is heard it is said again and again.
  expect(left.get('0')?.slice(0, 2)).toEqual([6_000, 6_100]);
  expect(left.get('2')).toEqual(left.get('0'));
  expect(left.get('1')).toEqual([8_000]);
  expect(left.get('0')?.at(-1)).toBe(8_000);
});
