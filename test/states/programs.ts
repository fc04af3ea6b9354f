const TYPES = `event A:
    k: str
    v: float
    at: timestamp
event B:
    k: str
    v: float
`;

/** One program for each kind of state that an engine saves, by name. */
export const stateful: Readonly<Record<string, string>> = {
  'program values': `${TYPES}var total: float = 0.0\nfn add(x):\n    total := total + x\n    return total\nstream S = A.where(add(v) > 3).emit(total: total)`,
  'count windows': `${TYPES}stream S = A.partition_by(k).window(3).aggregate(n: count(), s: sum(v), all: collect(v)).emit()\nstream T = A.window(4, sliding: 1).aggregate(m: median(v)).emit()`,
  'time windows': `${TYPES}stream S = A.partition_by(k).window(10s).aggregate(n: count(), low: min(v), high: max(v), d: count(distinct(k))).emit()\nstream T = A.window(10s, align: first).aggregate(mean: avg(v)).emit()`,
  'windows that overlap': `${TYPES}stream S = A.partition_by(k).window(10s, sliding: 2s).aggregate(mean: avg(v), dev: stddev(v)).emit()\nstream T = A.window(20s, sliding: 5s).aggregate(n: count_distinct(k), f: first(v)).emit()`,
  sessions: `${TYPES}stream S = A.partition_by(k).window(session: 4s).aggregate(n: count(), f: first(v), l: last(v)).emit()`,
  'rows of a window': `${TYPES}stream S = A.window(10s).order_by(v desc).limit(2).emit(v: v)`,
  'early results': `${TYPES}stream S = A.window(20s, early: 3s).aggregate(n: count()).emit()`,
  'running aggregates': `${TYPES}stream S = A.partition_by(k).aggregate(n: count(), s: sum(v), e: ema(v, 3)).emit()`,
  'keys that expire': `${TYPES}stream S = A.partition_by(k, expire: 5s).aggregate(n: count()).emit()\nstream T = A.partition_by(k, expire: 5s).limit(2).emit(k: k, v: v)`,
  'rows held back': `${TYPES}stream Once = A.dedupe(k, within: 8s).emit(k: k)\nstream Distinct = A.distinct(v).emit(v: v)\nstream Paced = A.partition_by(k).throttle(1, per: 4s).emit(v: v)\nstream Few = A.limit(6).emit(v: v)`,
  'branches and a merge': `${TYPES}stream S = A.fork(high: .where(v > 2).limit(4), low: .where(v <= 2).dedupe(k, within: 9s))\nstream T = merge(S.high, B).partition_by(k).window(2).emit(k: k)`,
  joins: `${TYPES}stream S = join(A, B).on(A.k == B.k).window(10s).emit(k: A.k, a: A.v, b: B.v)\nstream T = join(A, B).on(A.k == B.k).window(1).emit(k: A.k, a: A.v, b: B.v)`,
  'outer joins': `${TYPES}stream S = left_join(A, B).on(A.k == B.k).window(5s).emit(k: A.k, b: B.v)\nstream T = full_join(A, B).on(A.v == B.v).window(5s).emit(a: A.k, b: B.k)`,
  'a join of three sides, out of order': `${TYPES}stream S = join(A as a, B as b, B as c).on(a.k == b.k and b.k == c.k).window(6s).watermark(out_of_order: 3s).emit(k: a.k, b: b.v, c: c.v)`,
  'time of a field': `${TYPES}stream S = A.watermark(on: at, out_of_order: 2s).window(5s).aggregate(n: count()).emit()\nstream R = A.where(v > 1).select(k: k, at: at)\nstream T = R.watermark(on: at).window(10s).aggregate(n: count()).emit()`,
  timers: `${TYPES}stream S = timer(4s).emit(now: timestamp)\nstream T = A.where(v > 2).emit(v: v)`,
  sequences: `${TYPES}stream S = A as a -> B as b within 20s .partition_by(k).emit(a: a.v, b: b.v)\nstream T = A as a -> B where v > a.v as b within 20s .emit(a: a.v, b: b.v)`,
  closures: `${TYPES}stream S = A as a -> A+ where v > a.v as more -> B as b within 30s .partition_by(k).emit(a: a.v, n: count(more), b: b.v)`,
  'closures that are read': `${TYPES}stream S = A as a -> A+ as more -> B as b within 30s .partition_by(k).emit(a: a.v, n: count(more), s: sum(more.v), all: collect(more.v), b: b.v)\nstream T = A as a -> A+ as more -> B where v > 4 as b within 60s .watermark(out_of_order: 3s).emit(a: a.v, s: sum(more.v), l: last(more.k), b: b.v)`,
  'closures one by one': `${TYPES}stream S = A as a -> A+ where v > a.v as more .each().within(30s).partition_by(k).emit(a: a.v, n: count(more))\nstream T = A as a -> A+ as more -> B as b .subsets(limit: 20).within(12s).emit(a: a.v, n: count(more), b: b.v)\nstream U = A as a -> A+ as more -> B as b within 30s .increasing(v).after_match(skip_past_last).emit(n: count(more), b: b.v)`,
  absences: `${TYPES}stream S = A as a -> NOT B within 6s .partition_by(k).emit(k: a.k, v: a.v)`,
  'absences in groups': `${TYPES}stream S = A as a -> (NOT B where v > 2 -> A where v > 3 as c){1,2} -> B as b within 30s .emit(a: a.v, n: count(c), b: b.v)\nstream T = A as a -> (A where v > 3 as c -> B where v > 3 as d)? -> NOT B where v < 3 -> A as e within 30s .emit(a: a.v, d: d.v, e: e.v)`,
  'patterns of groups': `${TYPES}stream S = A as a -> (B as b AND A as c) within 20s .emit(a: a.v, b: b.v, c: c.v)\nstream T = A as a -> (B as b OR A as c) within 20s .emit(a: a.v)`,
  'every way to match': `${TYPES}stream S = A as a -> A as b -> B as c within 15s .stam().emit(a: a.v, b: b.v, c: c.v)`,
  'a pattern out of order': `${TYPES}stream S = A as a -> B as b within 20s .watermark(out_of_order: 3s).emit(a: a.v, b: b.v)`,
  trends: `${TYPES}stream S = A as a -> B+ as b .within(10s).partition_by(k).trend_aggregate(n: count_trends()).emit()`,
  forecasts: `${TYPES}stream S = A as a -> A as b -> B as c within 30s .partition_by(k).forecast(confidence: 0.1, warmup: 5, horizon: 20s).emit(p: forecast_probability, f: is_forecast)`,
  'rows that wait for look-ups': `connector Names = http(url: "http://example.com/{key}")\n${TYPES}stream S = A.enrich(Names, key: k, fields: [name], cache_ttl: 6s).emit(k: k, name: name, s: enrich_status)\nstream T = S.window(3).aggregate(n: count(), f: first(name)).emit()`,
  'rows that wait for a model': `${TYPES}stream S = A.score(model: "m.onnx", inputs: [v], outputs: [y], batch_size: 2).emit(v: v, y: y)\nstream T = A.window(5s).score(model: "m.onnx", inputs: [v], outputs: [y]).last().emit(y: y)`,
};

export interface StateEvent {
  readonly type: string;
  /** Epoch ms. */
  readonly time: number;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** Events of two types for a few keys, most of them in order of time; those behind `CUT` come after the restore. */
export const events: readonly StateEvent[] = Array.from({ length: 60 }, (_, at): StateEvent => {
  const time = 1_000 * at - (at % 7 === 5 ? 2_500 : 0) + 1_000_000;
  const k = 'xyz'[(at * 5) % 3 === 1 ? 0 : at % 3] as string;
  const fields = { k, v: ((at * 7) % 11) / 2 };
  return at % 3 === 2 || at % 10 === 9
    ? { type: 'B', time, fields }
    : { type: 'A', time, fields: { ...fields, at: time - (at % 4) * 500 } };
});

export const CUT = 31;
