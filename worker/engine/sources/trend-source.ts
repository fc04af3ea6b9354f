import type { Value } from '../../../shared/events/value.ts';
import type { PatternPlan, TrendAggregatePlan } from '../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { TrendAggregator } from '../patterns/trends/trend-aggregator.ts';
import { anyValue, record } from '../state/codec.ts';
import { originsOf } from '../streams/routes.ts';
import { EventOrder, savedOrder } from './event-order.ts';
import type { Source } from './source.ts';

const savedState = record({ order: savedOrder, trends: anyValue });

/** A pattern with `.trend_aggregate(..)` at the head of a stream: results of windows in place of matches. */
export class TrendSource implements Source {
  readonly fingerprint: string;
  readonly #trends: TrendAggregator;
  readonly #order: EventOrder;
  /** Origins by the number under which the rows of each wait. */
  readonly #origins: readonly string[];

  constructor(pattern: PatternPlan, plan: TrendAggregatePlan, next: Next, environment: OperatorEnvironment) {
    this.fingerprint = `${pattern.fingerprint}:${plan.fingerprint}`;
    this.#origins = [...originsOf(pattern.steps.map((step) => step.input)).keys()];
    this.#trends = new TrendAggregator(pattern, plan, next, environment);
    this.#order = new EventOrder(environment, {
      receive: (row, lane) => this.#trends.receive(row, this.#origins[lane] as string),
      deadline: () => this.#trends.deadline(),
      advance: (watermark) => this.#trends.advance(watermark),
    });
  }

  /** A row is seen once, however many steps read its origin. */
  receivers(origin: string): readonly ((row: Row) => void)[] {
    const lane = this.#origins.indexOf(origin);
    return [(row) => this.#order.receive(row, lane)];
  }

  deadline(): number {
    return this.#order.deadline();
  }

  advance(watermark: number): void {
    this.#order.advance(watermark);
  }

  save(): Value {
    return savedState.save({ order: this.#order.save(), trends: this.#trends.save() });
  }

  load(saved: Value): void {
    const { order, trends } = savedState.load(saved);
    this.#order.load(order);
    this.#trends.load(trends);
  }

  runsActive(): number {
    return this.#trends.activeRuns;
  }
}
