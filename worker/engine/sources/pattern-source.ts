import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import { MatchAttributes } from '../evaluate/match-id.ts';
import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { PatternMatcher } from '../patterns/matcher.ts';
import { Chain, type MakeLink } from '../streams/chain.ts';
import { originsOf } from '../streams/routes.ts';
import { EventOrder } from './event-order.ts';
import type { Source } from './source.ts';

/** A pattern at the head of a stream: the origins of its candidates, and the order in which it sees them. */
export class PatternSource implements Source {
  readonly fingerprint: string;
  readonly #matcher: PatternMatcher;
  readonly #order: EventOrder;
  /** Origins by the number under which the rows of each wait. */
  readonly #origins: readonly string[];

  constructor(plan: PatternPlan, environment: OperatorEnvironment, next: Next, makeLink: MakeLink) {
    this.fingerprint = plan.fingerprint;
    this.#origins = [...originsOf([...plan.steps, ...plan.cancels].map((step) => step.input)).keys()];
    this.#matcher = new PatternMatcher(plan, environment, (match) => next.process(identified(match, plan)), {
      tap: tapsOf(plan.steps, makeLink),
    });
    this.#order = new EventOrder(environment, {
      receive: (row, lane) => this.#matcher.receive(row, this.#origins[lane] as string),
      deadline: () => this.#matcher.deadline(),
      advance: (watermark) => this.#matcher.advance(watermark),
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
    return [this.#order.save(), this.#matcher.save()];
  }

  load(saved: Value): void {
    const [order, matcher] = saved as ValueArray;
    this.#order.load(order as Value);
    this.#matcher.load(matcher as Value);
  }

  runsActive(): number {
    return this.#matcher.activeRuns;
  }
}

/** The match with its `match_id`. */
function identified(match: Row, plan: PatternPlan): Row {
  return { ...match, attributes: new MatchAttributes(match.attributes, plan, match.causes) };
}

/** `.print .log .tap` of steps: they see the step's event when a run takes it. */
function tapsOf(steps: readonly StepPlan[], makeLink: MakeLink): (step: StepPlan, row: Row) => void {
  const end: Next = { process: () => undefined, endWindow: () => undefined };
  const chains = new Map(steps.filter((step) => step.taps.length > 0).map((step) => [step, new Chain(step.taps, end, makeLink)]));
  return (step, row) => chains.get(step)?.process(row);
}
