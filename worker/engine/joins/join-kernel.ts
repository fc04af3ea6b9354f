import type { Value } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { Kernel } from '../fusion/fused-runtime.ts';
import type { Representation } from '../fusion/typed.ts';
import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, type Scope, scopeOf } from '../operators/row.ts';
import { EventOrder, savedOrder } from '../sources/event-order.ts';
import type { Source } from '../sources/source.ts';
import type { SourceOptions } from '../sources/source-options.ts';
import { count, flag, list, orNull, record, stateOf, text } from '../state/codec.ts';
import { savedRow } from '../state/saved-row.ts';
import { Chain } from '../streams/chain.ts';
import { plus } from '../time/instants.ts';
import type { ConditionReader } from '../trace/condition.ts';
import { joinKeyText, NO_KEY } from '../trace/explain-join.ts';
import type { ExplainRecorder } from '../trace/explain-recorder.ts';
import type { HeldRow, JoinView } from '../trace/views.ts';
import { type JoinKey, keyPart, type RawKey, rawValue, savedKey } from './join-key.ts';
import { areNear, JoinResults } from './join-results.ts';
import { type Waiting, WaitingRow } from './waiting-row.ts';
import { WaitingRows } from './waiting-rows.ts';

/** What generated code keeps of a row of one side. */
export interface SideForm {
  /** Type of every row; null = it differs, and is kept. */
  readonly type: string | null;
  readonly keepsCauses: boolean;
  readonly columns: readonly { readonly name: string; readonly as: Representation; readonly isNullable: boolean }[];
  /** The fields that a row must have, no more and in this order, to be kept in this form; null = it may have any others. */
  readonly fields: readonly string[] | null;
}

export interface JoinForm {
  readonly sides: readonly SideForm[];
  readonly keyAs: Representation | null;
}

type JoinOptions = Omit<SourceOptions, 'order' | 'observer'>;

/** What generated code does for one side. The arguments begin with time and order; then those of the side's form. */
interface LinkedSide {
  /** A row arrives: behind its order its type and causes where they are kept, its key, its columns. */
  readonly arrive: (...args: unknown[]) => void;
  /** As `arrive` without the key: the row as it waits. */
  readonly create: (...args: unknown[]) => Waiting;
  readonly toRow: (waiting: Waiting) => Row;
}

/** The rows that wait, in order of arrival. `key`: its canonical text; null of a row that has none. */
const savedWaiting = list(record({ side: count, key: orNull(text), row: savedRow, arrival: count, isMatched: flag }));

const savedState = stateOf({
  name: 'join',
  version: 1,
  members: { order: savedOrder, waiting: record({ arrivals: count, held: savedWaiting }) },
});

/**
 * Joins two or more sides on equal keys. Each arrival meets every waiting row of the other sides with an equal key, within `D` of it
 * (and, of three sides, of each other), for which the residual condition holds; results come in the partners' order of arrival. A row
 * waits until the watermark has passed its time + D (+ allowed lateness); an outer join then gives what found no partner, with the time
 * at which its window ended. Null keys never join.
 *
 * Rows of a join of two sides that have the form of their side are kept as columns, and generated code joins them; at a key where some
 * have not, all are joined as rows. So are those that an outer join gives alone, and all rows where there is no generated code.
 */
export class JoinKernel implements Source, Kernel {
  readonly fingerprint: string;
  readonly waiting: WaitingRows;
  readonly #plan: JoinSourcePlan;
  readonly #form: JoinForm | null;
  readonly #order: EventOrder;
  readonly #recorder: ExplainRecorder | null;
  readonly #conditions: ConditionReader;
  /** With `out_of_order`, while a row is seen: time has come to that row, and no further. */
  #seenAt: number | null = null;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #results: JoinResults;
  readonly #keys: readonly (readonly Evaluate[])[];
  readonly #residual: ((scope: Scope) => boolean) | null;
  readonly #sides: readonly Chain[];
  readonly #keepsMs: number;
  /** Of the last row that was late, and the side that it came to. */
  #lateOrder = -1;
  #lateSide = -1;
  #linked: readonly LinkedSide[] = [];

  /** `form`: of the rows that generated code joins; null = there is none. */
  constructor(plan: JoinSourcePlan, { environment, next, makeLink, recorder, conditions }: JoinOptions, form: JoinForm | null = null) {
    this.fingerprint = plan.fingerprint;
    this.#plan = plan;
    this.#form = form;
    this.#recorder = recorder;
    this.#conditions = conditions;
    this.#environment = environment;
    this.#next = next;
    this.#results = new JoinResults(plan);
    this.#keys = plan.sides.map(({ keys }, side) => keys.map((key, part) => keyPart(plan, side, part, environment.evaluator(key))));
    this.#residual = plan.residual && prepareCondition(plan.residual, environment);
    this.#keepsMs = plan.withinMs === null ? Infinity : plan.withinMs + environment.stream.time.allowedLatenessMs;
    this.waiting = new WaitingRows({
      sides: plan.sides.length,
      newest: newestOf(plan),
      withinMs: plan.withinMs,
      keepsMs: this.#keepsMs,
      keyAs: form?.keyAs ?? null,
      limit: plan.waitingMax ?? limits.patternRunsDefault,
      watermark: () => this.#seenAt ?? environment.watermark(),
      dropped: () => environment.runsDropped('max_runs'),
      ended: plan.join === 'inner' ? null : (side, waiting) => this.#giveAlone(side, waiting),
    });
    this.#order = new EventOrder(environment, {
      receive: (row, side) => this.#receive(side, row),
      deadline: () => this.waiting.due,
      advance: (watermark) => this.waiting.advance(watermark),
    });
    this.#sides = plan.sides.map(({ input }, side) => {
      const end: Next = { process: (row) => this.#order.receive(row, side), endWindow: () => undefined };
      return new Chain(input.operators, end, makeLink);
    });
  }

  /** Three functions for each side, as in `LinkedSide`; then one that tells the clocks of the stream's deadline. */
  link(...functions: readonly unknown[]): void {
    this.waiting.watch = functions.at(-1) as () => void;
    this.#linked = this.#plan.sides.map((_, side) => {
      const [arrive, create, toRow] = functions.slice(3 * side) as [LinkedSide['arrive'], LinkedSide['create'], LinkedSide['toRow']];
      return { arrive, create, toRow };
    });
  }

  receivers(_origin: string, positions: readonly number[]): readonly ((row: Row) => void)[] {
    return positions.map((side) => (row) => (this.#sides[side] as Chain).process(row));
  }

  #receive(side: number, row: Row): void {
    if (this.#environment.stream.time.outOfOrderMs > 0) this.#seenAt = row.time;
    try {
      this.#recorder?.cameToSide(side, row, joinKeyText(this.#plan, side, row, this.#conditions) ?? NO_KEY);
      const scope = scopeOf(row);
      const values = (this.#keys[side] as readonly Evaluate[]).map((key) => key(scope));
      if (!values.includes(null)) this.#arrive(this.waiting.keys.ofValues(values), side, row);
      else if (isOuter(this.#plan, side)) this.waitAlone(side, this.#waitingOf(side, row));
    } catch (thrown) {
      this.#environment.fail(evaluationFailure(thrown), row, null);
    } finally {
      this.#seenAt = null;
    }
  }

  #arrive(key: JoinKey, side: number, row: Row): void {
    const columns = this.#columnsOf(side, row);
    if (columns === null || key.isOdd) {
      if (this.isLate(row.time)) this.#late(side, row);
      this.meetRows(key, side, this.#waitingOf(side, row));
    } else
      (this.#linked[side] as LinkedSide).arrive(row.time, row.order, ...this.#marksOf(side, row), key.raw satisfies RawKey, ...columns);
  }

  /**
   * Whether a row of this time came when its own wait was over already, and with it that of all before it. Rows in order cost one
   * comparison; with `out_of_order` they come in order of time here, and what is late has been left out before.
   */
  isLate(time: number): boolean {
    if (!this.#environment.mayHavePassed(time) || this.#seenAt !== null) return false;
    return plus(time, this.#keepsMs) < this.#environment.watermark();
  }

  /** Counts a row that is late. */
  late(side: number, waiting: Waiting): void {
    this.#late(side, this.#rowOf(side, waiting));
  }

  /** One event may come to several sides, to one after the other. */
  #late(side: number, row: Row): void {
    const isCounted = row.order === this.#lateOrder && side > this.#lateSide;
    this.#lateOrder = row.order;
    this.#lateSide = side;
    if (!isCounted) this.#environment.late(row);
  }

  /** A row arrives at a key where not all have the form of their side, or itself has not: all that meet are joined as rows. */
  meetRows(key: JoinKey, side: number, arriving: Waiting): void {
    const row = this.#rowOf(side, arriving);
    const boundOf = (chosen: readonly Waiting[]): readonly Row[] => chosen.map((one, at) => (at === side ? row : this.#rowOf(at, one)));
    const meetings = this.#meetings(key, side, arriving).filter((chosen) => this.#holds(boundOf(chosen), row));
    for (const one of meetings.flat()) one.isMatched = true;
    const results = meetings.map(boundOf);
    this.waiting.add(key, side, arriving);
    this.waiting.endIfOver(key, side, arriving);
    for (const bound of results) this.#next.process(this.#results.of(bound, row));
  }

  /** Every choice of one row of each side, the arriving one among them, that are near each other. */
  #meetings(key: JoinKey, side: number, arriving: Waiting): readonly (readonly Waiting[])[] {
    const { sides, withinMs } = this.#plan;
    let chosen: readonly (readonly Waiting[])[] = [[]];
    for (let other = 0; other < sides.length && chosen.length > 0; other++) {
      const partners = other === side ? [arriving] : this.waiting.partners(key, other, arriving.time);
      chosen = chosen.flatMap((one) =>
        partners.flatMap((partner) => (one.every(({ time }) => areNear(time, partner.time, withinMs)) ? [[...one, partner]] : [])),
      );
    }
    return chosen;
  }

  /** A row without a key: it waits for its end alone. */
  waitAlone(side: number, waiting: Waiting): void {
    const { keyless } = this.waiting;
    this.waiting.add(keyless, side, waiting);
    this.waiting.endIfOver(keyless, side, waiting);
  }

  /** The window of a row is over: an outer join gives it alone, at the time at which its window ended. */
  #giveAlone(side: number, waiting: Waiting): void {
    if (waiting.isMatched || !isOuter(this.#plan, side)) return;
    const row = this.#rowOf(side, waiting);
    const bound = this.#plan.sides.map((_, other) => (other === side ? row : null));
    const result = this.#results.of(bound, row);
    this.#next.process({ ...result, time: plus(row.time, this.#plan.withinMs ?? 0), order: this.#environment.order() });
  }

  #holds(bound: readonly Row[], row: Row): boolean {
    return this.#residual === null || this.#residual({ ...scopeOf(row), bound });
  }

  #rowOf(side: number, waiting: Waiting): Row {
    return waiting.row ?? (this.#linked[side] as LinkedSide).toRow(waiting);
  }

  #waitingOf(side: number, row: Row): Waiting {
    const columns = this.#columnsOf(side, row);
    if (columns === null) return new WaitingRow(row);
    return (this.#linked[side] as LinkedSide).create(row.time, row.order, ...this.#marksOf(side, row), ...columns);
  }

  #marksOf(side: number, row: Row): readonly unknown[] {
    const { type, keepsCauses } = (this.#form as JoinForm).sides[side] as SideForm;
    return [...(type === null ? [row.type] : []), ...(keepsCauses ? [row.causes] : [])];
  }

  /** The row's columns as generated code has them; null when it has not the form of its side. */
  #columnsOf(side: number, row: Row): readonly unknown[] | null {
    if (this.#form === null) return null;
    const { type, columns, fields } = this.#form.sides[side] as SideForm;
    if (type !== null && row.type !== type) return null;
    if (fields !== null && !isSame([...row.fields.keys()], fields)) return null;
    const values: unknown[] = [];
    for (const { name, as, isNullable } of columns) {
      const value = row.fields.get(name) ?? null;
      const raw = value === null && isNullable ? null : rawValue(value, as);
      if (raw === undefined) return null;
      values.push(raw);
    }
    return values;
  }

  deadline(): number {
    return this.#order.deadline();
  }

  advance(watermark: number): void {
    this.#order.advance(watermark);
  }

  save(): Value {
    const { keys, keyless, arrivals } = this.waiting;
    const held = this.waiting.all().map(({ key, side, waiting }) => {
      const { arrival, isMatched } = waiting;
      return { side, key: key === keyless ? null : keys.textOf(key), row: this.#rowOf(side, waiting), arrival, isMatched };
    });
    return savedState.save({ order: this.#order.save(), waiting: { arrivals, held } });
  }

  load(saved: Value): void {
    const { order, waiting } = savedState.load(saved);
    this.#order.load(order);
    for (const { side, key, row, arrival, isMatched } of waiting.held) {
      const one = this.#waitingOf(side, row);
      one.isMatched = isMatched;
      this.waiting.arrivals = arrival - 1;
      this.waiting.add(key === null ? this.waiting.keyless : this.waiting.keys.ofText(savedKey(this.#plan, key)), side, one);
    }
    this.waiting.arrivals = waiting.arrivals;
  }

  held(): readonly HeldRow[] {
    return this.#order.held();
  }

  inspect(): JoinView {
    const views = this.waiting.all().map(({ side, waiting }) => {
      const row = this.#rowOf(side, waiting);
      return { side, row, isMatched: waiting.isMatched, until: plus(row.time, this.#keepsMs) };
    });
    return { kind: 'join', waiting: views };
  }
}

/** How many rows of a side wait at a key. */
export function newestOf({ latestOnly, withinCount }: JoinSourcePlan): number {
  return latestOnly ? 1 : (withinCount ?? Infinity);
}

/** Whether rows of a side that met none are given alone. */
export function isOuter({ join, sides }: JoinSourcePlan, side: number): boolean {
  return join === 'full' || (join === 'left' && side === 0) || (join === 'right' && side === sides.length - 1);
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, at) => name === others[at]);
}
