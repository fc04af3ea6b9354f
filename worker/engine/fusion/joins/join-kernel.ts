import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../../shared/language/plan/plan.ts';
import { limits } from '../../../../shared/limits.ts';
import { evaluationFailure } from '../../evaluate/failure.ts';
import { JoinResults } from '../../joins/join-results.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../../operators/row.ts';
import type { SourceOptions } from '../../sources/registry.ts';
import type { Source } from '../../sources/source.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { Chain } from '../../streams/chain.ts';
import { plus } from '../../time/instants.ts';
import type { JoinView } from '../../trace/views.ts';
import type { Kernel } from '../fused-runtime.ts';
import type { Representation } from '../typed.ts';
import { type JoinKey, type RawKey, rawValue, type Waiting, WaitingRow } from './join-key.ts';
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

/** What generated code does for one side. The arguments begin with time and order; then those of the side's form. */
interface LinkedSide {
  /** A row arrives: behind its order its type and causes where they are kept, its key, its columns. */
  readonly arrive: (...args: unknown[]) => void;
  /** As `arrive` without the key: the row as it waits. */
  readonly create: (...args: unknown[]) => Waiting;
  readonly toRow: (waiting: Waiting) => Row;
}

/**
 * A join of two sides. Rows that have the form of their side are kept as columns, and generated code joins them; at
 * a key where some have not, all are joined as rows. So are those that an outer join gives alone.
 */
export class JoinKernel implements Source, Kernel {
  readonly fingerprint: string;
  readonly waiting: WaitingRows;
  readonly #plan: JoinSourcePlan;
  readonly #form: JoinForm;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #results: JoinResults;
  readonly #keys: readonly (readonly Evaluate[])[];
  readonly #residual: Evaluate | null;
  readonly #sides: readonly Chain[];
  readonly #keepsMs: number;
  #linked: readonly LinkedSide[] = [];

  constructor(plan: JoinSourcePlan, { environment, next, makeLink }: SourceOptions, form: JoinForm) {
    this.fingerprint = plan.fingerprint;
    this.#plan = plan;
    this.#form = form;
    this.#environment = environment;
    this.#next = next;
    this.#results = new JoinResults(plan);
    this.#keys = plan.sides.map((side) => side.keys.map((key) => environment.evaluator(key)));
    this.#residual = plan.residual && environment.evaluator(plan.residual);
    this.#keepsMs = plan.withinMs === null ? Infinity : plan.withinMs + environment.stream.time.allowedLatenessMs;
    this.waiting = new WaitingRows({
      newest: newestOf(plan),
      withinMs: plan.withinMs,
      keepsMs: this.#keepsMs,
      keyAs: form.keyAs,
      limit: limits.patternRunsDefault,
      watermark: () => environment.watermark(),
      dropped: () => environment.runsDropped('max_runs'),
      ended: plan.join === 'inner' ? null : (side, waiting) => this.#giveAlone(side, waiting),
    });
    this.#sides = plan.sides.map(({ input }, side) => {
      const end: Next = { process: (row) => this.#receive(side, row), endWindow: () => undefined };
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
    try {
      const scope = scopeOf(row);
      const values = (this.#keys[side] as readonly Evaluate[]).map((key) => key(scope));
      if (!values.includes(null)) this.#arrive(this.waiting.keys.ofValues(values), side, row);
      else if (isOuter(this.#plan, side)) this.waitAlone(side, this.#waitingOf(side, row));
    } catch (thrown) {
      this.#environment.fail(evaluationFailure(thrown), row, null);
    }
  }

  #arrive(key: JoinKey, side: number, row: Row): void {
    const { arrive } = this.#linked[side] as LinkedSide;
    const columns = this.#columnsOf(side, row);
    if (columns === null || key.isOdd) this.meetRows(key, side, this.#waitingOf(side, row));
    else arrive(row.time, row.order, ...this.#marksOf(side, row), key.raw satisfies RawKey, ...columns);
  }

  /** A row arrives at a key where not all have the form of their side, or itself has not. */
  meetRows(key: JoinKey, side: number, arriving: Waiting): void {
    const row = this.#rowOf(side, arriving);
    const joined: (readonly Row[])[] = [];
    for (const partner of this.waiting.partners(key, side, row.time)) {
      const other = this.#rowOf(1 - side, partner);
      const bound = side === 0 ? [row, other] : [other, row];
      if (!this.#holds(bound, row)) continue;
      joined.push(bound);
      arriving.isMatched = true;
      partner.isMatched = true;
    }
    this.waiting.add(key, side, arriving);
    this.waiting.endIfOver(key, side, arriving);
    for (const bound of joined) this.#next.process(this.#results.of(bound, row));
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
    const result = this.#results.of(side === 0 ? [row, null] : [null, row], row);
    this.#next.process({ ...result, time: plus(row.time, this.#plan.withinMs ?? 0), order: this.#environment.order() });
  }

  #holds(bound: readonly Row[], row: Row): boolean {
    return this.#residual === null || this.#residual({ ...scopeOf(row), bound }) === true;
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
    const { type, keepsCauses } = this.#form.sides[side] as SideForm;
    return [...(type === null ? [row.type] : []), ...(keepsCauses ? [row.causes] : [])];
  }

  /** The row's columns as generated code has them; null when it has not the form of its side. */
  #columnsOf(side: number, row: Row): readonly unknown[] | null {
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

  get due(): number {
    return this.waiting.due;
  }

  deadline(): number {
    return this.due;
  }

  advance(watermark: number): void {
    this.waiting.advance(watermark);
  }

  save(): Value {
    const { keys, keyless, arrivals } = this.waiting;
    const held = this.waiting.all().map(({ key, side, waiting }) => {
      return [side, key === keyless ? null : keys.textOf(key), saveRow(this.#rowOf(side, waiting)), waiting.arrival, waiting.isMatched];
    });
    return [null, [arrivals, held]];
  }

  load(saved: Value): void {
    const [, join] = saved as ValueArray;
    const [arrivals, held] = join as ValueArray;
    for (const one of held as ValueArray) {
      const [side, text, row, order, isMatched] = one as readonly [number, string | null, Value, number, boolean];
      const waiting = this.#waitingOf(side, loadRow(row));
      waiting.isMatched = isMatched;
      this.waiting.arrivals = order - 1;
      this.waiting.add(text === null ? this.waiting.keyless : this.waiting.keys.ofText(text), side, waiting);
    }
    this.waiting.arrivals = arrivals as number;
  }

  runsActive(): number {
    return 0;
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
export function isOuter({ join }: JoinSourcePlan, side: number): boolean {
  return join === 'full' || join === (side === 0 ? 'left' : 'right');
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, at) => name === others[at]);
}
