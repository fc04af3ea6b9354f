import type { OperatorDescriptor } from './descriptor.ts';

const tick = 'event Tick:\n    symbol: str\n    price: float\n\n';

/** Trends, forecasts, look-ups and models. */
export const analyticsOperators: readonly OperatorDescriptor[] = [
  {
    name: 'trend_aggregate',
    family: 'analytics',
    places: ['pattern'],
    parameters: [],
    rest: { kind: 'aggregate', form: 'named', min: 1, summary: '`name: count_trends()` and its like' },
    summary: 'Aggregates over all trends of a Kleene pattern without enumerating them',
    description:
      'Replaces matching: one result per partition and window (`.window(D)` before it, else the `within` of the pattern as a tumbling window). ' +
      '`count_trends() count_events(b) sum_trends(b.f) avg_trends(b.f) min_trends(b.f) max_trends(b.f)`. Counts beyond 2^53 are decimal strings.',
    example: {
      program: `${tick}stream Trends = Tick+\n    .window(1m)\n    .trend_aggregate(trends: count_trends())\n    .emit(trends)\n`,
      events: '@0 Tick { symbol: "A", price: 1 }\n@1s Tick { symbol: "A", price: 2 }\n@2s Tick { symbol: "A", price: 3 }\n',
      outputs: ['Trends { trends: 7 }'],
    },
  },
  {
    name: 'forecast',
    family: 'analytics',
    places: ['pattern'],
    parameters: [
      { name: 'confidence', kind: 'ratio', default: '0.5', summary: 'the probability from which a forecast is given' },
      { name: 'horizon', kind: 'duration', summary: 'how far ahead; by default the `within` of the pattern, else 1m' },
      { name: 'warmup', kind: 'count', default: '100', summary: 'events to learn from before the first forecast' },
      { name: 'max_depth', kind: 'count', default: '5', summary: 'depth of the prediction suffix tree' },
      { name: 'mode', kind: 'word', words: ['fast', 'balanced', 'accurate'], summary: 'presets of warm-up and depth: 50/3, 100/3, 200/5' },
      { name: 'hawkes', kind: 'flag', default: 'false', summary: 'self-exciting rates' },
      { name: 'conformal', kind: 'flag', default: 'false', summary: 'bounds by conformal prediction' },
    ],
    summary: 'Forecasts the completion of runs',
    description:
      'A prediction suffix tree learned online gives the probability that a run completes within the horizon. Matches are not replaced: a forecast has ' +
      '`is_forecast = true`. Readable: `forecast_probability forecast_time forecast_state forecast_context_depth forecast_lower forecast_upper forecast_confidence`.',
    example: {
      program:
        'event A:\n    k: int\n\nevent B:\n    k: int\n\nstream Ahead = A as a -> B\n    .within(1m)\n    .forecast(confidence: 0.9, horizon: 30s)\n    .emit(a: a.k)\n',
      events: 'A { k: 1 }\nB { k: 2 }\n',
      outputs: ['Ahead { a: 1 }'],
    },
  },
  {
    name: 'enrich',
    family: 'analytics',
    places: ['stream'],
    parameters: [
      { name: 'connector', kind: 'connector', positional: true, required: true, summary: 'an http, redis or database connector' },
      { name: 'key', kind: 'expression', required: true, summary: 'what is looked up' },
      { name: 'fields', kind: 'names', summary: 'fields of the answer that are added (W032 without them: all, of type any)' },
      { name: 'cache_ttl', kind: 'duration', summary: 'how long an answer is kept' },
      { name: 'timeout', kind: 'duration', default: '5s', summary: 'how long a look-up may take' },
      {
        name: 'fallback',
        kind: 'expression',
        summary: 'stands for the answer when the look-up fails; without it the failure goes to on_error',
      },
    ],
    summary: 'Adds fields looked up by key',
    description:
      'Bounded concurrency; results keep the order of the input. `enrich_status` is ok, cached, fallback, error or timeout; `enrich_latency_ms` is 0 when cached.',
    example: {
      program: `${tick}connector Names = http (url: "http://localhost:8080")\n\nstream Named = Tick\n    .enrich(Names, key: symbol, fields: [company], fallback: {company: "unknown"})\n    .emit(symbol, company)\n`,
      events: 'Tick { symbol: "A", price: 1 }\n',
      outputs: ['Named { symbol: "A", company: "unknown" }'],
    },
  },
  {
    name: 'score',
    family: 'analytics',
    places: ['stream'],
    parameters: [
      { name: 'model', kind: 'text', positional: true, required: true, summary: 'path of an ONNX model' },
      { name: 'inputs', kind: 'expressions', required: true, summary: 'inputs of the model, in its order' },
      { name: 'outputs', kind: 'names', required: true, summary: 'fields that the outputs become' },
      { name: 'batch_size', kind: 'count', summary: 'a hint' },
      { name: 'gpu', kind: 'flag', summary: 'a hint' },
      { name: 'device_id', kind: 'constant', summary: 'a hint' },
    ],
    summary: 'Adds the outputs of a model',
    description: 'Batches what is waiting. A missing runtime or model is an error when the program is loaded, naming what to install.',
    example: {
      program: `${tick}stream Scored = Tick\n    .where(price > 1000)\n    .score(model: "fraud.onnx", inputs: [price], outputs: [risk])\n    .emit(symbol, risk)\n`,
      events: 'Tick { symbol: "A", price: 1 }\n',
      outputs: [],
    },
  },
];
