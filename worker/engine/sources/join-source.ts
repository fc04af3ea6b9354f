import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import { JoinOperator } from '../joins/join.ts';
import type { Next } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Chain } from '../streams/chain.ts';
import { joinKeyText } from '../trace/explain-join.ts';
import type { JoinView } from '../trace/views.ts';
import { EventOrder } from './event-order.ts';
import type { SourceOptions } from './registry.ts';
import type { Source } from './source.ts';

/** A join at the head of a stream: its sides, each with operators of its own, and the order in which it sees their rows. */
export class JoinSource implements Source {
  readonly fingerprint: string;
  readonly #join: JoinOperator;
  readonly #order: EventOrder;
  readonly #sides: readonly Chain[];

  constructor(plan: JoinSourcePlan, { environment, next, makeLink, witness, conditions }: Omit<SourceOptions, 'order' | 'observer'>) {
    this.fingerprint = plan.fingerprint;
    this.#join = new JoinOperator(plan, environment, (row) => next.process(row));
    this.#order = new EventOrder(environment, {
      receive: (row, side) => {
        try {
          witness?.cameToSide(side, row, joinKeyText(plan, side, row, conditions) ?? 'null');
          this.#join.receive(side, row);
        } catch (thrown) {
          environment.fail(evaluationFailure(thrown), row, null);
        }
      },
      deadline: () => this.#join.deadline(),
      advance: (watermark) => this.#join.advance(watermark),
    });
    this.#sides = plan.sides.map(({ input }, side) => {
      const end: Next = { process: (row) => this.#order.receive(row, side), endWindow: () => undefined };
      return new Chain(input.operators, end, makeLink);
    });
  }

  receivers(_origin: string, positions: readonly number[]): readonly ((row: Row) => void)[] {
    return positions.map((side) => (row) => (this.#sides[side] as Chain).process(row));
  }

  deadline(): number {
    return this.#order.deadline();
  }

  advance(watermark: number): void {
    this.#order.advance(watermark);
  }

  save(): Value {
    return [this.#order.save(), this.#join.save()];
  }

  load(saved: Value): void {
    const [order, join] = saved as ValueArray;
    this.#order.load(order as Value);
    this.#join.load(join as Value);
  }

  runsActive(): number {
    return 0;
  }

  inspect(): JoinView {
    return { kind: 'join', waiting: this.#join.waiting() };
  }
}
