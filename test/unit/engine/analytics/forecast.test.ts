import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { EngineSnapshot } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent, outputText, start } from '../support/engine-run.ts';
import { random } from './random.ts';

const fields = 'f: is_forecast, p: round(forecast_probability, 2), t: forecast_time, s: forecast_state, d: forecast_context_depth';
const program = (pattern: string, options: string, emit = fields): string => `stream F = ${pattern}.forecast(${options}).emit(${emit})\n`;

/** A, B, C in turn, one each second, `rounds` times; then these types. */
function turns(text: string, rounds: number, behind: readonly string[] = []): string[] {
  const run = start(planOf(text));
  const types = [...Array.from({ length: rounds }, () => ['A', 'B', 'C']).flat(), ...behind];
  for (const [at, type] of types.entries()) run.push(type, at * 1000, { at });
  return run.outputs;
}

describe('a forecast', () => {
  it('comes when the run is likely enough to complete within the horizon, and leaves the match as it is', () => {
    const text = program('A as a -> B as b -> C as c .within(1m)', 'confidence: 0.9, horizon: 5s, warmup: 30');
    expect(turns(text, 11)).toHaveLength(11 + 2);
    expect(turns(text, 11).slice(-3)).toEqual(
      [
        'F@30000 {"f":true,"p":1,"t":2000,"s":"a","d":5}',
        'F@31000 {"f":true,"p":1,"t":1000,"s":"b","d":5}',
        'F@32000 {"f":false,"p":null,"t":null,"s":null,"d":null}',
      ].map((line) =>
        expect.stringMatching(
          new RegExp(
            `^${line
              .replace(/[{}]/g, '\\$&')
              .replace('"p":1', '"p":(1|0\\.9\\d)')
              .replace(/"t":(\d)000/, '"t":$1\\d\\d\\d(\\.\\d+)?')}$`,
          ),
        ),
      ),
    );
  });

  it('reads what the run holds so far; steps not yet reached are null', () => {
    const text = program(
      'A as a -> B as b -> C as c .within(1m)',
      'confidence: 0.9, horizon: 5s, warmup: 30',
      'f: is_forecast, a: a.at, b: b.at, c: c.at',
    );
    expect(turns(text, 11).slice(-3)).toEqual([
      'F@30000 {"f":true,"a":30,"b":null,"c":null}',
      'F@31000 {"f":true,"a":30,"b":31,"c":null}',
      'F@32000 {"f":false,"a":30,"b":31,"c":32}',
    ]);
  });

  it('is not given before the warm-up is over', () => {
    const forecasts = (warmup: number): number =>
      turns(program('A as a -> C as c .within(1m)', `horizon: 5s, warmup: ${warmup}`), 10).filter((text) => text.includes('"f":true'))
        .length;
    expect([1, 10, 18, 19, 20].map(forecasts)).toEqual([9, 5, 1, 0, 0]);
  });

  it('is not given when the horizon is too short', () => {
    expect(
      turns(program('A as a -> B -> C .within(1m)', 'horizon: 500ms, warmup: 10'), 20).filter((text) => text.includes('"f":true')),
    ).toEqual([]);
  });

  it('is not given when the pattern ends before', () => {
    expect(turns(program('A as a -> B -> C .within(500ms)', 'horizon: 1m, warmup: 10'), 20)).toEqual([]);
  });

  it('comes once for each step that the run takes, and again only when it was below in between', () => {
    const text = program('A as a -> X as x .within(10m)', 'confidence: 0.4, horizon: 10m, warmup: 1', 'at: a.at, f: is_forecast');
    const run = start(planOf(text));
    let time = 0;
    const push = (type: string): void => {
      time += 1000;
      run.push(type, time, { at: time });
    };
    for (let n = 0; n < 20; n++) for (const type of ['A', 'X']) push(type);
    run.taken();
    for (const type of ['A', 'A', 'A']) push(type);
    const taken = run.taken();
    expect(taken.every((one) => one.includes('"f":true'))).toBe(true);
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBe(3);
  });

  it('learns what keys have in common and follows each key on its own', () => {
    const text = `event A:\n    k: str\n\nevent B:\n    k: str\n\nstream F = A as a -> B as b .within(1m).partition_by(k).forecast(confidence: 0.8, horizon: 20s, warmup: 40).emit(k: a.k, f: is_forecast)\n`;
    const run = start(planOf(text));
    for (let n = 0; n < 40; n++) run.push(n % 2 === 0 ? 'A' : 'B', n * 1000, { k: 'one' });
    run.taken();
    run.push('A', 50_000, { k: 'two' });
    expect(run.taken()).toEqual(['F@50000 {"k":"two","f":true}']);
  });

  it('knows of a NOT that only time completes', () => {
    const text = program('A as a -> NOT D within 1500ms', 'confidence: 0.8, horizon: 10s, warmup: 50', 'f: is_forecast, t: forecast_time');
    const outputs = (types: readonly string[]): string[] => {
      const run = start(planOf(text));
      for (const [at, type] of types.entries()) run.push(type, at * 1000);
      return run.outputs;
    };
    const rarely = outputs(Array.from({ length: 100 }, (_, at) => (at % 10 === 9 ? 'D' : 'A')));
    expect(rarely.filter((one) => one.includes('"f":true')).length).toBeGreaterThan(20);
    expect(rarely.filter((one) => one.includes('"f":true')).every((one) => one.endsWith('"t":1500}'))).toBe(true);
    expect(outputs(Array.from({ length: 100 }, (_, at) => (at % 2 === 1 ? 'D' : 'A')))).toEqual([]);
  });

  it('gives bounds around the probability, and says how steady it is', () => {
    const text = program(
      'A as a -> B as b -> C as c .within(1m)',
      'confidence: 0.5, horizon: 5s, warmup: 30',
      'p: forecast_probability, lo: forecast_lower, hi: forecast_upper, steady: forecast_confidence',
    );
    for (const line of turns(text, 60).filter((one) => !one.includes('"p":null'))) {
      const { p, lo, hi, steady } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, number>;
      expect(lo).toBeLessThanOrEqual(p as number);
      expect(hi).toBeGreaterThanOrEqual(p as number);
      expect(steady).toBeLessThanOrEqual(1);
    }
    expect(JSON.parse((turns(text, 60).at(-2) as string).replace(/^[^{]*/, ''))).toMatchObject({ steady: expect.closeTo(1, 1) });
  });

  it('expects more events right behind others when they excite each other', () => {
    const bursts = (options: string): number[] => {
      const run = start(
        planOf(
          program(
            'A as a -> B as b .within(10m)',
            `confidence: 0, horizon: 3s, warmup: 200${options}`,
            'f: is_forecast, p: forecast_probability',
          ),
        ),
      );
      const next = random(3);
      let time = 0;
      for (let n = 0; n < 600; n++) {
        time += n % 20 === 0 ? 60_000 : Math.round(200 + 400 * next());
        run.push(next() < 0.8 ? 'A' : 'B', time, { n });
      }
      return run.outputs.filter((one) => one.includes('"f":true')).map((one) => Number(/"p":([\d.e-]+)/.exec(one)?.[1]));
    };
    const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
    expect(mean(bursts(', hawkes: true'))).toBeGreaterThan(mean(bursts('')) + 0.05);
  });
});

it('goes on from a checkpoint at any point as if nothing had happened', () => {
  const text = program(
    'A as a -> (B OR C) as b -> C+ as c .within(8s)',
    'confidence: 0.3, horizon: 4s, warmup: 20, hawkes: true, conformal: true',
    `${fields}, lo: forecast_lower, hi: forecast_upper, n: count(c), steady: forecast_confidence, id: match_id`,
  );
  const plan = planOf(text.replaceAll('(B OR C) as b', 'B as b'));
  const next = random(11);
  const events = Array.from({ length: 150 }, (_, n) =>
    inputEvent(['A', 'B', 'C'][Math.floor(next() * 3)] as string, n * 700 + Math.floor(next() * 700), { n }),
  );
  const run = (restartEvery: number): string[] => {
    const outputs: string[] = [];
    const create = () => createEngine(plan, { output: (event) => outputs.push(outputText(event)) });
    let engine = create();
    events.forEach((event, at) => {
      if (restartEvery > 0 && at % restartEvery === 0) {
        const saved = JSON.parse(JSON.stringify(engine.snapshot())) as EngineSnapshot;
        engine = create();
        engine.restore(saved);
      }
      engine.push(event);
    });
    engine.end();
    return outputs;
  };
  const straight = run(0);
  expect(straight.filter((one) => one.includes('"f":true')).length).toBeGreaterThan(20);
  expect(run(1)).toEqual(straight);
  expect(run(7)).toEqual(straight);
});
