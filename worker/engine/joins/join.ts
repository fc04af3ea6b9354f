import { keyOf } from '../../../shared/events/text.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter, plus } from '../time/instants.ts';
import type { WaitingView } from '../trace/views.ts';
import { JoinBuffer, type Waiting } from './join-buffer.ts';
import { areNear, JoinResults } from './join-results.ts';

/** One waiting event of each side; null stands for the arriving row. */
type Chosen = readonly (Waiting | null)[];

/**
 * Joins two or more sides on equal keys. Each arrival meets every waiting event of the other sides with an equal key,
 * within `D` of it (and, of three sides, of each other), for which the residual condition holds; results come in the
 * partners' order of arrival. An event waits until the watermark has passed its time + D (+ allowed lateness); an outer
 * join then gives what found no partner, with the time at which its window ended. Null keys never join.
 */
export class JoinOperator {
  readonly #plan: JoinSourcePlan;
  readonly #environment: OperatorEnvironment;
  readonly #emit: (row: Row) => void;
  readonly #keys: readonly (readonly Evaluate[])[];
  readonly #residual: Evaluate | null;
  readonly #buffers: readonly JoinBuffer[];
  readonly #results: JoinResults;
  readonly #endings = new DeadlineQueue<Waiting>();
  readonly #keepsMs: number;
  #arrivals = 0;
  #held = 0;

  constructor(plan: JoinSourcePlan, environment: OperatorEnvironment, emit: (row: Row) => void) {
    this.#plan = plan;
    this.#environment = environment;
    this.#emit = emit;
    this.#keys = plan.sides.map((side) => side.keys.map((key) => environment.evaluator(key)));
    this.#residual = plan.residual && environment.evaluator(plan.residual);
    this.#buffers = plan.sides.map(() => new JoinBuffer());
    this.#results = new JoinResults(plan);
    this.#keepsMs = plan.withinMs === null ? Infinity : plan.withinMs + environment.stream.time.allowedLatenessMs;
  }

  /** A row of side `side` arrives. */
  receive(side: number, row: Row): void {
    const key = this.#keyOf(side, row);
    const combinations = key === null ? [] : this.#meet(side, key, row);
    const waiting: Waiting = { side, key, row, order: ++this.#arrivals, isMatched: combinations.length > 0, isHeld: false };
    if (key !== null || this.#isOuter(side)) this.#hold(waiting);
    if (waiting.isHeld && this.#isOver(row)) this.#end(waiting);
    for (const combination of combinations) {
      for (const partner of combination) if (partner !== null) partner.isMatched = true;
      this.#emit(
        this.#results.of(
          combination.map((one) => one?.row ?? row),
          row,
        ),
      );
    }
  }

  /** A displaced row may come when what it could wait for has ended. Rows in order of event time never do. */
  #isOver(row: Row): boolean {
    const isDisplaced = this.#environment.stream.time.outOfOrderMs === 0;
    return isDisplaced && this.#endOf(row) <= this.#environment.watermark();
  }

  /** The first watermark at which the row waits no longer. */
  #endOf(row: Row): number {
    return justAfter(plus(row.time, this.#keepsMs));
  }

  /** The events that wait, in order of arrival. */
  waiting(): readonly WaitingView[] {
    const held = [...this.#endings.items()].filter((waiting) => waiting.isHeld).sort((a, b) => a.order - b.order);
    return held.map(({ side, row, isMatched }) => ({ side, row, isMatched, until: plus(row.time, this.#keepsMs) }));
  }

  deadline(): number {
    return this.#endings.next();
  }

  advance(watermark: number): void {
    for (let waiting = this.#endings.popDue(watermark); waiting; waiting = this.#endings.popDue(watermark)) {
      if (waiting.isHeld) this.#end(waiting);
    }
  }

  /** Canonical text of the key; null when a part of it is null. */
  #keyOf(side: number, row: Row): string | null {
    const scope = scopeOf(row);
    const parts = (this.#keys[side] as readonly Evaluate[]).map((key) => key(scope));
    return parts.includes(null) ? null : keyOf(parts);
  }

  /** Every choice of one waiting event from each other side that fits; the arriving side's place is null. */
  #meet(side: number, key: string, row: Row): readonly Chosen[] {
    let chosen: readonly Chosen[] = [[]];
    for (let other = 0; other < this.#buffers.length && chosen.length > 0; other++) {
      chosen = other === side ? chosen.map((one) => [...one, null]) : this.#withPartners(chosen, other, key, row);
    }
    return this.#residual === null ? chosen : chosen.filter((one) => this.#holds(one, row));
  }

  /** Each choice with each waiting event of one more side that is near enough to all of it. */
  #withPartners(chosen: readonly Chosen[], side: number, key: string, row: Row): readonly Chosen[] {
    const extended: Chosen[] = [];
    const partners = (this.#buffers[side] as JoinBuffer).of(key);
    for (const one of chosen) {
      for (const partner of partners) if (this.#isNear(partner, one, row)) extended.push([...one, partner]);
    }
    return extended;
  }

  #isNear(candidate: Waiting, chosen: Chosen, row: Row): boolean {
    const { withinMs } = this.#plan;
    const { time } = candidate.row;
    return areNear(time, row.time, withinMs) && chosen.every((one) => one === null || areNear(one.row.time, time, withinMs));
  }

  #holds(chosen: Chosen, row: Row): boolean {
    const bound = chosen.map((one) => one?.row ?? row);
    return (this.#residual as Evaluate)({ ...scopeOf(row), bound }) === true;
  }

  #hold(waiting: Waiting): void {
    waiting.isHeld = true;
    this.#held++;
    if (waiting.key !== null) this.#buffer(waiting.key, waiting);
    this.#endings.push(this.#endOf(waiting.row), waiting.order, waiting);
    if (this.#endings.size > 2 * this.#held + 1_000) this.#endings.retain((one) => one.isHeld);
    if (this.#held > limits.patternRunsDefault) this.#dropOldest();
  }

  #buffer(key: string, waiting: Waiting): void {
    const buffer = this.#buffers[waiting.side] as JoinBuffer;
    buffer.add(key, waiting);
    const newest = this.#plan.latestOnly ? 1 : this.#plan.withinCount;
    if (newest !== null) for (const replaced of buffer.surplus(key, newest)) this.#release(replaced);
  }

  /** The state budget: the event that would end first goes, and is counted. */
  #dropOldest(): void {
    for (let oldest = this.#endings.popDue(Infinity); oldest; oldest = this.#endings.popDue(Infinity)) {
      if (!oldest.isHeld) continue;
      this.#release(oldest);
      this.#environment.runsDropped('max_runs');
      return;
    }
  }

  #end(waiting: Waiting): void {
    this.#release(waiting);
    this.#endUnmatched(waiting);
  }

  /** The window of an event is over: an outer join gives it alone, at the time at which its window ended. */
  #endUnmatched({ side, row, isMatched }: Waiting): void {
    if (isMatched || !this.#isOuter(side)) return;
    const bound = this.#plan.sides.map((_, other) => (other === side ? row : null));
    const order = this.#environment.order();
    this.#emit({ ...this.#results.of(bound, row), time: plus(row.time, this.#plan.withinMs ?? 0), order });
  }

  #release(waiting: Waiting): void {
    if (waiting.key !== null) (this.#buffers[waiting.side] as JoinBuffer).remove(waiting.key, waiting);
    waiting.isHeld = false;
    this.#held--;
  }

  #isOuter(side: number): boolean {
    const { join, sides } = this.#plan;
    return join === 'full' || (join === 'left' && side === 0) || (join === 'right' && side === sides.length - 1);
  }

  save(): Value {
    const held = [...this.#endings.items()].filter((waiting) => waiting.isHeld).sort((a, b) => a.order - b.order);
    return [this.#arrivals, held.map((w) => [w.side, w.key, saveRow(w.row), w.order, w.isMatched])];
  }

  load(saved: Value): void {
    const [arrivals, held] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of held as ValueArray) {
      const [side, key, row, order, isMatched] = one as ValueArray;
      this.#hold({ side, key, row: loadRow(row as Value), order, isMatched, isHeld: false } as Waiting);
    }
  }
}
