import { keyOf } from '../../../shared/events/text.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import { TIME_STEP_MS } from '../state/expiry.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { JoinBuffer, type Waiting } from './join-buffer.ts';

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
    this.#keepsMs = plan.withinMs === null ? Infinity : plan.withinMs + environment.stream.time.allowedLatenessMs;
  }

  /** A row of side `side` arrives. */
  receive(side: number, row: Row): void {
    const key = this.#keyOf(side, row);
    const combinations = key === null ? [] : this.#meet(side, key, row);
    const waiting: Waiting = { side, key: key ?? '', row, order: ++this.#arrivals, isMatched: combinations.length > 0, isHeld: true };
    if (key !== null || this.#isOuter(side)) this.#hold(waiting, key !== null);
    for (const combination of combinations) {
      for (const partner of combination) if (partner !== null) partner.isMatched = true;
      this.#emit(
        this.#result(
          combination.map((partner) => partner?.row ?? row),
          row,
        ),
      );
    }
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
  #meet(side: number, key: string, row: Row): (Waiting | null)[][] {
    let partial: (Waiting | null)[][] = [[]];
    for (let other = 0; other < this.#buffers.length; other++) {
      const candidates = other === side ? [null] : (this.#buffers[other] as JoinBuffer).of(key);
      partial = partial.flatMap((chosen) => candidates.filter((one) => this.#isNear(one, chosen, row)).map((one) => [...chosen, one]));
    }
    return this.#residual === null ? partial : partial.filter((chosen) => this.#holds(chosen, row));
  }

  #isNear(candidate: Waiting | null, chosen: readonly (Waiting | null)[], row: Row): boolean {
    const { withinMs } = this.#plan;
    if (candidate === null || withinMs === null) return true;
    const { time } = candidate.row;
    return Math.abs(time - row.time) <= withinMs && chosen.every((one) => one === null || Math.abs(one.row.time - time) <= withinMs);
  }

  #holds(chosen: readonly (Waiting | null)[], row: Row): boolean {
    const bound = chosen.map((one) => one?.row ?? row);
    return (this.#residual as Evaluate)({ ...scopeOf(row), bound }) === true;
  }

  #hold(waiting: Waiting, isJoinable: boolean): void {
    if (isJoinable) {
      const buffer = this.#buffers[waiting.side] as JoinBuffer;
      buffer.add(waiting);
      const newest = this.#plan.latestOnly ? 1 : this.#plan.withinCount;
      if (newest !== null) this.#held -= buffer.keepNewest(waiting.key, newest);
    }
    this.#held++;
    this.#endings.push(waiting.row.time + this.#keepsMs + TIME_STEP_MS, waiting.order, waiting);
    if (this.#endings.size > 2 * this.#held + 1_000) this.#endings.retain((one) => one.isHeld);
    if (this.#held > limits.patternRunsDefault) this.#dropOldest();
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
    if (waiting.isMatched || !this.#isOuter(waiting.side)) return;
    const bound = this.#plan.sides.map((_, side) => (side === waiting.side ? waiting.row : null));
    this.#emit({ ...this.#result(bound, waiting.row), time: waiting.row.time + (this.#plan.withinMs ?? 0) });
  }

  #release(waiting: Waiting): void {
    (this.#buffers[waiting.side] as JoinBuffer).remove(waiting);
    waiting.isHeld = false;
    this.#held--;
  }

  #isOuter(side: number): boolean {
    const { join, sides } = this.#plan;
    return join === 'full' || (join === 'left' && side === 0) || (join === 'right' && side === sides.length - 1);
  }

  /** `arriving` is the row that made the result. */
  #result(bound: readonly (Row | null)[], arriving: Row): Row {
    const fields = new Map<string, Value>();
    const causes = new Set<number>();
    let time = -Infinity;
    bound.forEach((row, side) => {
      if (row === null) return;
      const prefix = `${(this.#plan.sides[side] as { name: string }).name}_`;
      for (const [name, value] of row.fields) fields.set(prefix + name, value);
      for (const cause of row.causes) causes.add(cause);
      time = Math.max(time, row.time);
    });
    return { type: arriving.type, time, order: arriving.order, fields, bound, attributes: null, causes: [...causes].sort((a, b) => a - b) };
  }

  save(): Value {
    const held = [...this.#endings.items()].filter((waiting) => waiting.isHeld).sort((a, b) => a.order - b.order);
    return [this.#arrivals, held.map((w) => [w.side, w.key, saveRow(w.row), w.order, w.isMatched, this.#isBuffered(w)])];
  }

  load(saved: Value): void {
    const [arrivals, held] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of held as ValueArray) {
      const [side, key, row, order, isMatched, isJoinable] = one as ValueArray;
      const waiting = { side, key, row: loadRow(row as Value), order, isMatched, isHeld: true } as Waiting;
      this.#hold(waiting, isJoinable as boolean);
    }
  }

  #isBuffered(waiting: Waiting): boolean {
    return (this.#buffers[waiting.side] as JoinBuffer).of(waiting.key).includes(waiting);
  }
}
