import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';

const types = 'event A:\n    k: str\n    v: float\nevent B:\n    k: str\n    v: float\n\n';
const ahead = (steps: string): string =>
  `${types}stream Ahead = ${steps} within 1h\n    .partition_by(k)\n    .forecast(confidence: 0.1, warmup: 2)\n    .emit(k: a.k)\n`;
const ticking = `${types}stream Ticking = timer(10s).emit(t: 1)\n`;

function engineOf(source: string): { readonly engine: Engine; readonly outputs: unknown[] } {
  const outputs: unknown[] = [];
  return { engine: createEngine(planOf(source), { output: (output) => outputs.push(output) }), outputs };
}

const START_MS = Date.UTC(2026, 0, 1);

function feed(engine: Engine, from: number, to: number): void {
  for (let n = from; n < to; n++) {
    const fields = new Map<string, string | number>(Object.entries({ k: n % 2 === 0 ? 'x' : 'y', v: n }));
    engine.push({ type: n % 5 === 4 ? 'B' : 'A', fields, timestamp: START_MS + n * 1_000, fallbackTime: 0 });
  }
}

type Path = readonly (string | number)[];

function* leavesIn(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) {
    yield path;
    return;
  }
  if (path.length > 0) yield path;
  for (const [name, item] of Object.entries(value)) yield* leavesIn(item, [...path, Array.isArray(value) ? Number(name) : name]);
}

function withAt(state: unknown, path: Path, replacement: unknown): void {
  const inner = path.slice(0, -1).reduce((at, name) => (at as Record<string | number, unknown>)[name], state);
  (inner as Record<string | number, unknown>)[path.at(-1) as string | number] = structuredClone(replacement);
}

/** Of the first operator of the only stream: [name, source, source's state, [[fingerprint, state], ..], counters]. */
const FORECAST: Path = [1, 'm', 1, 3, 0, 1];

describe('a forecast whose saved state was changed', () => {
  const source = ahead('A as a -> A+ where v > a.v as more -> B as b');
  const { engine: origin } = engineOf(source);
  feed(origin, 0, 12);
  const saved = origin.snapshot();
  const inside = FORECAST.reduce((at: unknown, name) => (at as Record<string | number, unknown>)[name], saved.state);

  it.each([-5, 0.5, 1e308, 2 ** 53, true, 'abc', null, [], [[]], { n: 'NaN' }])(
    'to %j in any one place is refused or works',
    (replacement) => {
      let refused = 0;
      let loaded = 0;
      for (const path of leavesIn(inside)) {
        const state = structuredClone(saved.state);
        withAt(state, [...FORECAST, ...path], replacement);
        const { engine } = engineOf(source);
        try {
          engine.restore({ ...saved, state });
        } catch {
          refused++;
          continue;
        }
        loaded++;
        feed(engine, 12, 24);
        engine.snapshot();
      }
      expect(refused).toBeGreaterThan(loaded);
    },
  );

  it('is that of another pattern: it learns anew', () => {
    const { engine } = engineOf(ahead('A as a -> B as b'));
    const report = engine.restore(saved);
    expect(report).toMatchObject({ preserved: [] });
    expect(() => feed(engine, 12, 40)).not.toThrow();
  });
});

describe('a timer whose next tick was changed', () => {
  it.each([-5, 0, START_MS - 86_400_000 * 365])('to %d ticks on from the time that was saved, in the same rhythm', (nextTick) => {
    const { engine: origin } = engineOf(ticking);
    feed(origin, 0, 12);
    const saved = origin.snapshot();
    const state = structuredClone(saved.state);
    withAt(state, [1, 'm', 1, 2, 1], nextTick);
    const { engine, outputs } = engineOf(ticking);
    engine.restore({ ...saved, state });
    feed(engine, 12, 34);
    expect(outputs.length).toBeGreaterThanOrEqual(2);
    expect(outputs.length).toBeLessThanOrEqual(3);
  });
});
