import { decodeValue, encodeValue } from '../../../../../shared/events/stored-value.ts';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { PatternPlan, TrendAggregatePlan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { ANY } from '../../../../../shared/language/plan/types.ts';
import type { Row } from '../../../../../worker/engine/operators/row.ts';
import { formOfRows } from '../../../../../worker/engine/patterns/trends/trend-form.ts';
import { TrendKernel } from '../../../../../worker/engine/patterns/trends/trend-kernel.ts';
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
  #trends: TrendKernel;
  #order = 0;

  constructor(pattern: PatternPlan, plan: TrendAggregatePlan, by?: string) {
    this.#pattern = pattern;
    this.#plan = plan;
    this.#stream = new Harness(pattern, by === undefined ? {} : { by });
    this.#trends = this.#create();
  }

  #create(): TrendKernel {
    const next = { process: (row: Row) => void this.results.push(row), endWindow: () => undefined };
    const { environment } = this.#stream;
    return new TrendKernel(formOfRows(environment.stream, this.#pattern, this.#plan), { environment, next });
  }

  get late(): readonly Row[] {
    return this.#stream.late;
  }

  get dropped(): ReadonlyMap<string, number> {
    return this.#stream.dropped;
  }

  get activeRuns(): number {
    return this.#trends.runsActive();
  }

  push(event: TestEvent): this {
    this.advance(event.time);
    const row = rowOf(event, ++this.#order);
    for (const receive of this.#trends.receivers(`event:${event.type}`)) receive(row);
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
