import { expect, it } from 'vitest';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { reload } from '../../../worker/engine/reload.ts';
import { planOf } from '../../scenarios/run-program.ts';

const EVENTS = 'event A:\n    k: str\n    v: float\n\n';
const COUNTED = 'stream Counted = A\n    .partition_by(k)\n    .window(3)\n    .aggregate(total: sum(v))\n    .emit(total: total)\n\n';
const PAIRS = 'stream Pairs = A as a -> A where v > a.v as b\n    .within(10s)\n    .emit(from: a.v, to: b.v)\n\n';

function running(text: string) {
  const outputs: OutputEvent[] = [];
  const host = { output: (event: OutputEvent) => outputs.push(event) };
  let engine = createEngine(planOf(text), host);
  return {
    outputs,
    push: (v: number, time: number) =>
      engine.push({
        type: 'A',
        fields: new Map<string, string | number>([
          ['k', 'x'],
          ['v', v],
        ]),
        fallbackTime: time,
      }),
    reload: (next: string) => {
      const { engine: replaced, report } = reload(engine, planOf(next), host);
      engine = replaced;
      return report;
    },
    counts: (stream: string) => engine.counters().streams.get(stream),
    seen: () => outputs.map((event) => `${event.stream} ${JSON.stringify(Object.fromEntries(event.fields))}`),
  };
}

it('keeps windows and runs of streams that did not change, whatever stands around them', () => {
  const program = running(EVENTS + COUNTED + PAIRS);
  program.push(2, 0);
  program.push(1, 1);
  const report = program.reload(`# moved and joined by another\n${EVENTS}stream All = A.emit(v: v)\n\n${PAIRS}${COUNTED}`);
  program.push(3, 2);
  expect(report).toEqual({ preserved: ['Pairs', 'Counted'], changed: [], reset: [], lostState: [], added: ['All'], removed: [] });
  expect(program.seen()).toEqual(['All {"v":3}', 'Pairs {"from":2,"to":3}', 'Pairs {"from":1,"to":3}', 'Counted {"total":6}']);
});

it('starts a changed operator afresh and says so', () => {
  const program = running(EVENTS + COUNTED);
  program.push(2, 0);
  program.push(1, 1);
  const report = program.reload(EVENTS + COUNTED.replace('sum(v)', 'max(v)'));
  program.push(3, 2);
  expect([...report.changed, ...report.reset]).toEqual(['Counted']);
  expect(report.preserved).toEqual([]);
  expect(program.seen()).toEqual([]);
});

it('leaves the running program alone when the new one cannot start', () => {
  const program = running(EVENTS + COUNTED);
  program.push(2, 0);
  program.push(1, 1);
  expect(() =>
    program.reload(`${EVENTS}fn f(x: any) -> any:\n    return x + 1\n\nlet bad = f("a")\n\nstream S = A.where(v > bad).emit(v: v)\n`),
  ).toThrow(/cannot be evaluated/);
  program.push(3, 2);
  expect(program.seen()).toEqual(['Counted {"total":6}']);
});

it('begins a var anew that has another type now, and goes on with one that has not', () => {
  const counting = (start: string, next: string): string =>
    `${EVENTS}var seen = 0\nvar last = ${start}\nfn next(v: float):\n    seen := seen + 1\n    last := ${next}\n    return last\nstream S = A.emit(n: next(v), seen: seen)\n`;
  const program = running(counting('0', 'last + 1'));
  program.push(2, 0);
  program.reload(counting('""', 'last + "x"'));
  program.push(2, 1);
  expect(program.seen()).toEqual(['S {"n":1,"seen":1}', 'S {"n":"x","seen":2}']);
});

const LOOP = 'for i in 0..4:\n    for j in 0..4:\n        ';
const RULES = `${EVENTS}${LOOP}stream R{i}{j} = A.where(k != "{i}-{j}" and v > 1.0).select(k: k, v: v)\n`;
const names = Array.from({ length: 16 }, (_, at) => `R${at >> 2}${at & 3}`);

it('keeps the counts of rules that a loop makes, and goes on', () => {
  const program = running(RULES);
  program.push(2, 0);
  const before = structuredClone(names.map(program.counts));
  const report = program.reload(`${RULES}\nstream One = A.where(v > 2.0).emit(v: v)\n`);
  expect(report).toEqual({ preserved: names, changed: [], reset: [], lostState: [], added: ['One'], removed: [] });
  expect(names.map(program.counts)).toEqual(before);
  program.push(3, 1);
  expect(names.map((name) => program.counts(name)?.eventsOut)).toEqual(names.map(() => 2));
  expect(program.seen()).toEqual(['One {"v":3}']);
});

it('says which rules of a loop mean something else', () => {
  const program = running(RULES);
  program.push(2, 0);
  const turned = program.reload(RULES.replace('R{i}{j}', 'R{j}{i}'));
  const mirrored = names.filter((name) => name[1] === name[2]);
  expect([...turned.preserved].sort()).toEqual(mirrored);
  expect([...turned.changed].sort()).toEqual(names.filter((name) => !mirrored.includes(name)));
  expect(program.reload(RULES.replace('R{i}{j}', 'R{j}{i}').replace('1.0', '2.0')).preserved).toEqual([]);
  expect(names.map((name) => program.counts(name)?.eventsIn)).toEqual(names.map(() => 1));
});
