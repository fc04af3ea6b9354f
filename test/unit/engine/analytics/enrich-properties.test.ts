import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Lookups, type Outcome, type Visitor } from '../../../../worker/engine/analytics/lookups.ts';
import type { Answered, LookupRequest, Result, ScoreRequest } from '../../../../worker/engine/engine.ts';
import { AskingRun, failed, found } from './asking-run.ts';

const program = `event Tick:
    k: str?
    v: int
    at: timestamp

connector Names = http (url: "http://localhost:1")

stream S = Tick.enrich(Names, key: k, fields: [name], cache_ttl: 5s, fallback: "?").emit(k, v, name, s: enrich_status)
stream W = S.window(4s).aggregate(n: count(), last: last(name)).emit(n, last)
stream P = S as a -> S as b where b.name == a.name .within(6s).emit(a: a.v, b: b.v)
stream Two = Tick.where(v % 2 == 0).enrich(Names, key: k, fields: [name]).window(3s).enrich(Names, key: v, fields: [other]).order_by(v desc).limit(2).emit(v, name, other)
`;

const ticks = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 2_500 }), k: fc.constantFrom('a', 'b', 'c', null) }), { maxLength: 25 });
/** Which of the open questions is answered next, and when a restart comes: consumed one by one, then 0. */
const choices = fc.array(fc.nat(1_000), { maxLength: 80 });

/** Depends on what is asked alone; some keys are never found. */
function answerTo(request: LookupRequest): Answered {
  const result: Result = request.key === 'c' || request.key === 7 ? failed : found({ name: `n${request.key}`, other: 1 });
  return { result, latencyMs: null };
}

/** Outputs by stream: streams that do not follow one another come in an order of their own. */
function byStream(outputs: readonly string[]): Record<string, string[]> {
  const streams: Record<string, string[]> = {};
  for (const text of outputs) {
    const name = text.split('@')[0] as string;
    streams[name] = [...(streams[name] ?? []), text];
  }
  return streams;
}

function pushAll(run: AskingRun, rows: readonly { gap: number; k: string | null }[], between: () => void): void {
  let time = 0;
  rows.forEach(({ gap, k }, v) => {
    time += gap;
    run.push('Tick', time, { k, v });
    between();
  });
  run.engine.end();
}

it('gives each stream the same results, whenever and in whatever order answers come', () => {
  fc.assert(
    fc.property(ticks, choices, fc.boolean(), (rows, picks, restarts) => {
      const atOnce = new AskingRun(program, { atOnce: (question) => answerTo(question as LookupRequest) });
      pushAll(atOnce, rows, () => undefined);
      const later = new AskingRun(program);
      let at = 0;
      const pick = (): number => picks[at++] ?? 0;
      const answerOne = (): void => {
        const position = pick() % later.open.length;
        later.answer(position, answerTo(later.open[position] as LookupRequest).result);
      };
      pushAll(later, rows, () => {
        while (later.open.length > 0 && pick() % 3 > 0) answerOne();
        if (restarts && pick() % 5 === 1) later.restart();
      });
      while (later.open.length > 0) answerOne();
      expect(byStream(later.outputs)).toEqual(byStream(atOnce.outputs));
      expect(later.engine.counters().questionsOpen).toBe(0);
    }),
    { numRuns: 60 },
  );
});

class Row implements Visitor {
  readonly time: number;
  outcome: Outcome | null = null;
  constructor(time: number) {
    this.time = time;
  }
  settle(outcome: Outcome): void {
    this.outcome = outcome;
  }
}

interface Want {
  readonly key: string;
  readonly time: number;
}

const ENTRIES = 2;
const TTL = 10;

/** Whether the look-up for the row at this position finds something. */
type Found = (position: number) => boolean;

/** One row after the other, a map in order of use: what the cache means. */
function naive(wants: readonly Want[], isFound: Found): string[] {
  const kept = new Map<string, { time: number; value: string | null }>();
  return wants.map(({ key, time }, position) => {
    const known = kept.get(key);
    kept.delete(key);
    if (known !== undefined && known.value !== null && time - known.time < TTL) {
      kept.set(key, known);
      return `cached ${known.value}`;
    }
    const value = isFound(position) ? `${key}${position}` : null;
    kept.set(key, { time, value });
    if (kept.size > ENTRIES) kept.delete(kept.keys().next().value as string);
    return value === null ? 'error' : `ok ${value}`;
  });
}

it('caches as if every answer came before the next row, however long answers take', () => {
  const want = fc.record({ key: fc.constantFrom('a', 'b', 'c'), time: fc.integer({ min: 0, max: 40 }) });
  fc.assert(
    fc.property(
      fc.array(want, { maxLength: 30 }),
      choices,
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      (wants, picks, concurrencyMax, seed) => {
        const isFound: Found = (position) => (seed >> (position % 30)) % 2 === 0;
        const open: (() => void)[] = [];
        const rows = wants.map(({ time }) => new Row(time));
        let underWay = 0;
        const lookups = new Lookups<Row>({
          ttlMs: TTL,
          entriesMax: ENTRIES,
          concurrencyMax,
          ask: ({ text, visitors }, settle) => {
            underWay++;
            expect(underWay).toBeLessThanOrEqual(concurrencyMax);
            const position = rows.indexOf(visitors[0] as Row);
            open.push(() => {
              underWay--;
              settle(isFound(position) ? { status: 'ok', value: `${text}${position}` } : { status: 'error', message: 'no' }, null);
            });
          },
        });
        let at = 0;
        const answer = (): void => open.splice((picks[at++] ?? 0) % open.length, 1)[0]?.();
        wants.forEach(({ key }, position) => {
          lookups.want(key, key, rows[position] as Row);
          if (open.length > 0 && (picks[at++] ?? 0) % 2 === 0) answer();
        });
        while (open.length > 0) answer();
        const outcomes = rows.map(({ outcome }) =>
          outcome === null ? 'none' : 'value' in outcome ? `${outcome.status} ${outcome.value}` : outcome.status,
        );
        expect(outcomes).toEqual(naive(wants, isFound));
      },
    ),
    { numRuns: 500 },
  );
});

const windows = ['2s', '3', '4s, sliding: 2s', '4, sliding: 2', 'session: 1s'];
const named = '.enrich(Names, key: k, fields: [name], fallback: "?")';
const behindWindow = [
  `${named}.emit(k, n, name)`,
  `.score(model: "m.onnx", inputs: [n], outputs: [twice]).emit(k, n, twice)`,
  `.where(n > 1)${named}.order_by(n desc).emit(k, n, name)`,
  `.fork(one: ${named}, two: .order_by(n), three: .last()).emit(k, n)`,
  `.fork(one: .fork(two: .where(n > 0)${named})).emit(k, n)`,
];
const aggregated = windows.flatMap((window) =>
  behindWindow.flatMap((behind) =>
    ['', '.partition_by(k)'].map((keys) => `Tick${keys}.window(${window}).aggregate(k: last(k), n: count())${behind}`),
  ),
);

function answerToAny(question: LookupRequest | ScoreRequest): Result {
  if ('rows' in question) return { status: 'ok', value: question.rows.map(([n]) => [2 * Number(n)]) };
  return answerTo(question).result;
}

it.each(aggregated)('gives what comes out of a window the same results in generated code: %s', (stream) => {
  const text = `${program.slice(0, program.indexOf('stream'))}stream S = ${stream}\n`;
  const resultsOf = (rows: readonly { gap: number; k: string | null }[], isFused: boolean): Record<string, string[]> => {
    const run = new AskingRun(text, { engine: { isFused } });
    const answerAll = (): void => {
      while (run.open[0] !== undefined) run.answer(0, answerToAny(run.open[0]));
    };
    pushAll(run, rows, answerAll);
    answerAll();
    return byStream(run.outputs);
  };
  const some = Array.from({ length: 12 }, (_, at) => ({ gap: at % 3 === 0 ? 1_500 : 600, k: 'a' }));
  expect(resultsOf(some, true).S?.length).toBeGreaterThan(1);
  fc.assert(
    fc.property(ticks, (rows) => {
      expect(resultsOf(rows, true)).toEqual(resultsOf(rows, false));
    }),
    { numRuns: 15 },
  );
});
