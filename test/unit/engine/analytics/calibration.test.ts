import { describe, expect, it } from 'vitest';
import type { OutputEvent } from '../../../../shared/events/event.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent } from '../support/engine-run.ts';
import { random } from './random.ts';

const HORIZONS_S = [1, 2, 4] as const;
const TYPES = ['A', 'B', 'C'] as const;

/** What comes behind two events: shares of A, B and C. The second matters more than the first, and both matter. */
const BEHIND: Readonly<Record<string, readonly [number, number, number]>> = {
  AA: [0.1, 0.8, 0.1],
  AB: [0.1, 0.1, 0.8],
  AC: [0.6, 0.2, 0.2],
  BA: [0.7, 0.1, 0.2],
  BB: [0.2, 0.2, 0.6],
  BC: [0.1, 0.1, 0.8],
  CA: [0.2, 0.7, 0.1],
  CB: [0.8, 0.1, 0.1],
  CC: [0.3, 0.4, 0.3],
};

interface Event {
  readonly type: string;
  readonly time: number;
}

/** A Markov chain of order two with gaps spread as in a Poisson process, one event per second on average. */
function stream(count: number, seed: number): Event[] {
  const next = random(seed);
  const events: Event[] = [];
  let [before, last] = ['A', 'B'];
  let time = 0;
  for (let n = 0; n < count; n++) {
    time += Math.round(-Math.log(1 - next()) * 1000);
    const shares = BEHIND[`${before}${last}`] as readonly number[];
    const pick = next();
    const type = TYPES[pick < (shares[0] as number) ? 0 : pick < (shares[0] as number) + (shares[1] as number) ? 1 : 2];
    events.push({ type, time });
    [before, last] = [last, type];
  }
  return events;
}

interface Judged {
  readonly probability: number;
  readonly lower: number;
  readonly upper: number;
  readonly isRight: boolean;
  /** What the law of the stream says. */
  readonly truth: number;
}

function forecasts(events: readonly Event[], horizonS: number, options = ''): Judged[] {
  const horizonMs = horizonS * 1000;
  const program = `stream F = A as a -> B as b -> C as c .within(30s).forecast(confidence: 0, horizon: ${horizonS}s, warmup: 500, max_depth: 3${options})
    .emit(id: a.id, f: is_forecast, p: forecast_probability, lower: forecast_lower, upper: forecast_upper, state: forecast_state)\n`;
  const outputs: OutputEvent[] = [];
  const engine = createEngine(planOf(program), { output: (event) => outputs.push(event) });
  for (const [id, { type, time }] of events.entries()) engine.push(inputEvent(type, time, { id }));
  const completed = new Map(outputs.filter(({ fields }) => fields.get('f') === false).map(({ fields, time }) => [fields.get('id'), time]));
  const positions = new Map(events.map(({ time }, at) => [time, at]));
  const end = (events.at(-1) as Event).time;
  return outputs
    .filter(({ fields, time }) => fields.get('f') === true && time + horizonMs < end)
    .map(({ fields, time }) => ({
      probability: fields.get('p') as number,
      lower: fields.get('lower') as number,
      upper: fields.get('upper') as number,
      isRight: (completed.get(fields.get('id') as number) ?? Infinity) <= time + horizonMs,
      truth: truthAt(events, positions.get(time) as number, fields.get('state') === 'a' ? 'B' : 'C', horizonS),
    }));
}

/** The probability that the steps from `wanted` on come within the horizon: events spread as in a Poisson process of rate 1/s. */
function truthAt(events: readonly Event[], at: number, wanted: 'B' | 'C', horizonS: number): number {
  const most = 25;
  let paths = new Map([[`${events[at - 1]?.type}${events[at]?.type}${wanted}`, 1]]);
  let done = 0;
  let weight = Math.exp(-horizonS);
  let truth = 0;
  for (let n = 0; n < most; n++) {
    truth += weight * done;
    weight *= horizonS / (n + 1);
    const next = new Map<string, number>();
    for (const [path, share] of paths) {
      TYPES.forEach((type, index) => {
        const moved = share * ((BEHIND[path.slice(0, 2)] as readonly number[])[index] as number);
        const needed = type === path[2] ? (type === 'B' ? 'C' : '') : path[2];
        if (needed === '') done += moved;
        else next.set(`${path[1]}${type}${needed}`, (next.get(`${path[1]}${type}${needed}`) ?? 0) + moved);
      });
    }
    paths = next;
  }
  return truth;
}

const brier = (judged: readonly Judged[], of: (one: Judged) => number): number =>
  judged.reduce((sum, one) => sum + (of(one) - Number(one.isRight)) ** 2, 0) / judged.length;

function reliability(judged: readonly Judged[]): { bin: string; count: number; said: number; came: number }[] {
  return Array.from({ length: 10 }, (_, bin) => {
    const inBin = judged.filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === bin);
    const said = inBin.reduce((sum, { probability }) => sum + probability, 0) / inBin.length;
    const came = inBin.filter(({ isRight }) => isRight).length / inBin.length;
    return { bin: `${bin / 10}-${(bin + 1) / 10}`, count: inBin.length, said, came };
  });
}

describe('forecasts over a stream whose law is known', () => {
  const judged = HORIZONS_S.flatMap((horizonS) => forecasts(stream(8_000, 6 + horizonS), horizonS));
  const table = reliability(judged);
  const meanError = judged.reduce((sum, { probability, truth }) => sum + Math.abs(probability - truth), 0) / judged.length;
  const rate = judged.filter(({ isRight }) => isRight).length / judged.length;

  it('come true as often as they say, in every tenth of probability', () => {
    const wrong = table.filter(({ count, said, came }) => count >= 100 && Math.abs(said - came) > 0.06);
    if (process.env['SHOW_CALIBRATION'] !== undefined) {
      const score = brier(judged, ({ probability }) => probability);
      const best = brier(judged, ({ truth }) => truth);
      process.stdout.write(
        `${JSON.stringify({ forecasts: judged.length, score, best, meanFrequency: rate * (1 - rate), meanError, table }, null, 1)}\n`,
      );
    }
    expect(judged.length).toBeGreaterThan(3_000);
    expect(table.filter(({ count }) => count >= 100).length).toBeGreaterThan(4);
    expect(wrong).toEqual([]);
  });

  it('are as sharp as the law allows', () => {
    expect(meanError).toBeLessThan(0.03);
    const score = brier(judged, ({ probability }) => probability);
    expect(score).toBeLessThan(brier(judged, ({ truth }) => truth) + 0.005);
    expect(score).toBeLessThan(0.8 * rate * (1 - rate));
  });

  it('have bounds that hold the frequency, conformal ones too', () => {
    const conformal = forecasts(stream(8_000, 20), 2, ', conformal: true').slice(-2_000);
    for (const one of conformal) expect(one.lower).toBeLessThanOrEqual(one.upper);
    const inside = reliability(conformal).filter(({ count }) => count >= 100);
    for (const { bin, came } of inside) {
      const last = conformal
        .filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === Math.round(Number(bin.split('-')[0]) * 10))
        .at(-1) as Judged;
      expect(Math.abs((last.lower + last.upper) / 2 - came)).toBeLessThan(0.1);
    }
    expect(inside.length).toBeGreaterThan(2);
  });
});
