import type { Value } from '../../../shared/events/value.ts';
import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Tracer } from '../engine.ts';
import { MatchAttributes } from '../evaluate/match-id.ts';
import type { Next } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { PatternMatcher } from '../patterns/matcher.ts';
import { relevanceOf } from '../patterns/watch.ts';
import { Chain, type MakeLink } from '../streams/chain.ts';
import { originsOf } from '../streams/routes.ts';
import { keyIn } from '../trace/deciding-values.ts';
import { PatternRecorder } from '../trace/pattern-recorder.ts';
import type { PatternView } from '../trace/pattern-view.ts';
import { refusalsOf } from '../trace/refusals.ts';
import { EventOrder, type Ordered } from './event-order.ts';
import type { Source } from './source.ts';
import type { SourceOptions } from './source-options.ts';

/** A pattern at the head of a stream: the origins of its candidates, and the order in which it sees them. */
export class PatternSource implements Source {
  readonly fingerprint: string;
  readonly #matcher: PatternMatcher;
  readonly #order: EventOrder;
  /** Origins by the number under which the rows of each wait. */
  readonly #origins: readonly string[];

  constructor(plan: PatternPlan, { environment, next, makeLink, observer, recorder, conditions }: Omit<SourceOptions, 'order'>) {
    this.fingerprint = plan.fingerprint;
    const follower = recorder && new PatternRecorder(plan, recorder, conditions);
    this.#origins = [...originsOf([...plan.steps, ...plan.cancels].map((step) => step.input)).keys()];
    const emit = (match: Row): void => {
      follower?.matched(match);
      next.process(identified(match, plan));
    };
    this.#matcher = new PatternMatcher(plan, environment, emit, {
      tap: tapsOf(plan.steps, makeLink),
      observer,
      closed: follower && ((run) => follower.closed(run)),
    });
    observer?.begin({ plan, environment, emit: (forecast) => next.process(identified(forecast, plan)) });
    const matcher: Ordered = {
      receive: (row, lane) => this.#matcher.receive(row, this.#origins[lane] as string),
      deadline: () => this.#matcher.deadline(),
      advance: (watermark) => this.#matcher.advance(watermark),
    };
    const traced =
      environment.tracer === null ? matcher : this.#traced(matcher, { plan, environment, conditions, tracer: environment.tracer });
    this.#order = new EventOrder(environment, follower === null ? traced : this.#followed(traced, follower));
  }

  /** Says before each row why steps refuse it that wait for one of its kind. */
  #traced(matcher: Ordered, { plan, environment, conditions, tracer }: Tracing): Ordered {
    const receive = (row: Row, lane: number): void => {
      const relevance = relevanceOf(plan, this.#origins[lane] as string);
      const key = environment.partition(row);
      const refusals = relevance === null ? [] : refusalsOf(plan, this.#matcher.inspect(), { row, relevance, key }, conditions);
      for (const { step, why } of refusals) {
        tracer.decided({ stream: environment.stream.name, key: keyIn(environment, row), operator: step, verdict: 'BLOCK', why: [why] });
      }
      matcher.receive(row, lane);
    };
    return { receive, deadline: () => matcher.deadline(), advance: (watermark) => matcher.advance(watermark) };
  }

  #followed(matcher: Ordered, follower: PatternRecorder): Ordered {
    return {
      receive: (row, lane) =>
        follower.receive(row, this.#origins[lane] as string, this.#matcher.received + 1, () => matcher.receive(row, lane)),
      deadline: () => matcher.deadline(),
      advance: (watermark) => follower.advance(watermark, () => matcher.advance(watermark)),
    };
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
    return this.#matcher.save(this.#order.save());
  }

  load(saved: Value): void {
    this.#order.load(this.#matcher.load(saved));
  }

  runsActive(): number {
    return this.#matcher.activeRuns;
  }

  inspect(): PatternView {
    return this.#matcher.inspect();
  }
}

interface Tracing extends Pick<SourceOptions, 'environment' | 'conditions'> {
  readonly plan: PatternPlan;
  readonly tracer: Tracer;
}

/** The match with its `match_id`. */
export function identified(match: Row, plan: PatternPlan): Row {
  return { ...match, attributes: new MatchAttributes(match.attributes, plan, match.causes) };
}

/** `.print .log .tap` of steps: they see the step's event when a run takes it. */
function tapsOf(steps: readonly StepPlan[], makeLink: MakeLink): (step: StepPlan, row: Row) => void {
  const end: Next = { process: () => undefined, endWindow: () => undefined };
  const chains = new Map(steps.filter((step) => step.taps.length > 0).map((step) => [step, new Chain(step.taps, end, makeLink)]));
  return (step, row) => chains.get(step)?.process(row);
}
