import type { Value } from '../../../shared/events/value.ts';
import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import { MatchAttributes } from '../evaluate/match-id.ts';
import type { Next } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { PatternMatcher } from '../patterns/matcher.ts';
import { Chain, type MakeLink } from '../streams/chain.ts';
import { originsOf } from '../streams/routes.ts';
import type { PatternView } from '../trace/pattern-view.ts';
import { watchOf } from '../trace/pattern-watch.ts';
import type { HeldRow } from '../trace/views.ts';
import { EventOrder } from './event-order.ts';
import type { Source } from './source.ts';
import type { SourceOptions } from './source-options.ts';

/** A pattern at the head of a stream: the origins of its candidates, and the order in which it sees them. */
export class PatternSource implements Source {
  readonly fingerprint: string;
  readonly #matcher: PatternMatcher;
  readonly #order: EventOrder;
  /** Origins by the number under which the rows of each wait. */
  readonly #origins: readonly string[];

  constructor(plan: PatternPlan, options: Omit<SourceOptions, 'order'>) {
    const { environment, next, makeLink, observer } = options;
    this.fingerprint = plan.fingerprint;
    this.#origins = [...originsOf([...plan.steps, ...plan.cancels].map((step) => step.input)).keys()];
    const watch = watchOf(plan, options, {
      received: () => this.#matcher.received,
      active: () => this.#matcher.activeRuns,
      inspect: () => this.#matcher.inspect(),
    });
    const emit = (match: Row): void => {
      watch?.matched(match);
      next.process(identified(match, plan));
    };
    this.#matcher = new PatternMatcher(plan, environment, emit, {
      tap: tapsOf(plan.steps, makeLink),
      observer,
      closed: watch && ((run, closing) => watch.closed(run, closing)),
      skipped: watch && ((run) => watch.skipped(run)),
    });
    observer?.begin({ plan, emit: (forecast) => next.process(identified(forecast, plan)) });
    this.#order = new EventOrder(environment, {
      receive: (row, lane) => {
        const origin = this.#origins[lane] as string;
        const work = (): void => this.#matcher.receive(row, origin);
        if (watch === null) work();
        else watch.receive(row, origin, work);
      },
      deadline: () => this.#matcher.deadline(),
      advance: (watermark) => {
        const work = (): void => this.#matcher.advance(watermark);
        if (watch === null) work();
        else watch.advance(watermark, work);
      },
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
    return this.#matcher.save(this.#order.save());
  }

  load(saved: Value): void {
    this.#order.load(this.#matcher.load(saved));
  }

  runsActive(): number {
    return this.#matcher.activeRuns;
  }

  held(): readonly HeldRow[] {
    return this.#order.held();
  }

  inspect(): PatternView {
    return this.#matcher.inspect();
  }
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
