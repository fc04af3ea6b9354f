import type { Value } from '../../../shared/events/value.ts';
import type { EventsSource as EventsSourcePlan } from '../../../shared/language/plan/plan.ts';
import type { Next } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Chain, type MakeLink } from '../streams/chain.ts';
import type { Source } from './source.ts';

/** One input, or a union in order of arrival: each with operators of its own that work row by row. */
export class EventsSource implements Source {
  readonly fingerprint = 'events';
  readonly #inputs: readonly Chain[];

  constructor(plan: EventsSourcePlan, next: Next, makeLink: MakeLink) {
    this.#inputs = plan.inputs.map((input) => new Chain(input.operators, next, makeLink));
  }

  receivers(_origin: string, positions: readonly number[]): readonly ((row: Row) => void)[] {
    return positions.map((position) => (row) => (this.#inputs[position] as Chain).process(row));
  }

  deadline(): number {
    return Infinity;
  }

  advance(): void {
    // Nothing here waits for time.
  }

  save(): Value {
    return null;
  }

  load(): void {
    // Nothing is kept.
  }
}
