import { decodeValue, encodeValue } from '../../../../../shared/events/stored-value.ts';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { PatternPlan, TrendAggregatePlan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { ANY } from '../../../../../shared/language/plan/types.ts';
import type { Row } from '../../../../../worker/engine/operators/row.ts';
import { TrendAggregator } from '../../../../../worker/engine/patterns/trends/trend-aggregator.ts';
import { Harness, rowOf, type TestEvent } from '../harness.ts';
import { ORIGIN } from '../pattern-builder.ts';

export function trendPlan(calls: readonly TrendCall[], windowMs: number): TrendAggregatePlan {
  const items = calls.map((_, index) => ({ name: `r${index}`, value: { kind: 'aggregate', type: ANY, index } as const }));
  return { kind: 'trend_aggregate', text: '', fingerprint: '', origin: ORIGIN, windowMs, calls, items };
}

/** The pattern and the trend aggregation of `stream S = <source>`. */
export function trendsOf(source: string): { readonly pattern: PatternPlan; readonly trends: TrendAggregatePlan } {
  const { plan, diagnostics } = check(new SourceText('test.vpl', `stream S = ${source}\n`));
  const stream = plan?.streams[0];
  const [trends] = stream?.operators ?? [];
  if (stream?.source.kind !== 'pattern' || trends?.kind !== 'trend_aggregate')
    throw new Error(JSON.stringify(diagnostics.map(({ code, message }) => [code, message])));
  return { pattern: stream.source.pattern, trends };
}

/** A trend aggregation with a stream around it. */
export class TrendHarness {
  readonly results: Row[] = [];
  readonly #pattern: PatternPlan;
  readonly #plan: TrendAggregatePlan;
  readonly #stream: Harness;
  #trends: TrendAggregator;
  #order = 0;

  constructor(pattern: PatternPlan, plan: TrendAggregatePlan, by?: string) {
    this.#pattern = pattern;
    this.#plan = plan;
    this.#stream = new Harness(pattern, by === undefined ? {} : { by });
    this.#trends = this.#create();
  }

  #create(): TrendAggregator {
    const next = { process: (row: Row) => void this.results.push(row), endWindow: () => undefined };
    return new TrendAggregator(this.#pattern, this.#plan, next, this.#stream.environment);
  }

  get late(): readonly Row[] {
    return this.#stream.late;
  }

  get dropped(): ReadonlyMap<string, number> {
    return this.#stream.dropped;
  }

  get activeRuns(): number {
    return this.#trends.activeRuns;
  }

  push(event: TestEvent): this {
    this.advance(event.time);
    this.#trends.receive(rowOf(event, ++this.#order), `event:${event.type}`);
    return this;
  }

  advance(time: number): this {
    this.#stream.moveTo(time);
    if (this.#trends.deadline() <= time) this.#trends.advance(time);
    return this;
  }

  restart(): this {
    const saved = JSON.stringify(encodeValue(this.#trends.save()));
    this.#trends = this.#create();
    this.#trends.load(decodeValue(JSON.parse(saved)));
    return this;
  }
}
