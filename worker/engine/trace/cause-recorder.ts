import { Timestamp } from '../../../shared/events/value.ts';
import type { Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import type { Cause, Causes } from '../engine.ts';
import { isGathering, isStandingForMany } from '../operators/operator-facts.ts';
import { asResult, type Binding, type Row } from '../operators/row.ts';
import { upstreamOf } from '../streams/plan-inputs.ts';
import { firstCause, lastCause } from '../windows/window-result.ts';
import { stepName } from './explain-pattern.ts';
import { RememberedRows } from './remembered-rows.ts';

/**
 * Finds the events behind an output. A match or the result of a join holds its own. A window's result names the first and the last of
 * its events: those between are the rows of its key that came to the window. Any other row names the events that caused it.
 */
export class CauseRecorder {
  readonly #streams: readonly StreamPlan[];
  readonly #events = new RememberedRows();
  /** What came to the windows of a stream, by its index. */
  readonly #gathered = new Map<number, RememberedRows>();

  constructor({ streams }: Plan) {
    this.#streams = streams;
  }

  /** An external event, before any stream has it. */
  arrived(row: Row): void {
    this.#events.add(row);
  }

  /** A row has come to the first operator of a stream that puts rows together. */
  gathered(stream: number, row: Row, key: string): void {
    let rows = this.#gathered.get(stream);
    if (rows === undefined) {
      rows = new RememberedRows();
      this.#gathered.set(stream, rows);
    }
    rows.add(asResult(row), key);
  }

  /** What the output of a stream was made from. */
  of(stream: number, row: Row): Causes {
    const { source, operators } = this.#streams[stream] as StreamPlan;
    if (operators.some(isStandingForMany)) return this.#ofWindow(stream, row);
    if (row.bound !== null && source.kind === 'pattern') return ofBound('match', row.bound, source.pattern.steps.map(stepName));
    if (row.bound !== null && source.kind === 'join') {
      const sides = source.sides.map(({ name }) => name);
      return ofBound('join', row.bound, sides);
    }
    const windowed = this.#windowedUpstream(stream);
    return windowed === null ? this.#ofEvents(row) : this.#ofWindow(windowed, row);
  }

  /** The stream that made the windows whose results come to this one; null when its rows are no such results. */
  #windowedUpstream(stream: number): number | null {
    for (let at: number | undefined = stream; at !== undefined; ) {
      const plan: StreamPlan = this.#streams[at] as StreamPlan;
      if (plan.operators.some(isStandingForMany)) return at;
      if (plan.source.kind !== 'events') return null;
      const upstream: readonly number[] = upstreamOf(plan);
      at = upstream.length === plan.source.inputs.length ? upstream[0] : undefined;
    }
    return null;
  }

  #ofEvents({ causes }: Row): Causes {
    const found = causes.flatMap((order) => this.#events.find(order) ?? []);
    return { kind: 'events', count: causes.length, events: bounded(found.map((row) => causeOf(row, null))) };
  }

  #ofWindow(stream: number, result: Row): Causes {
    const [first, last] = [firstCause(result), lastCause(result)];
    const { operators } = this.#streams[stream] as StreamPlan;
    const gathered = operators.some(isGathering) ? this.#gathered.get(stream) : undefined;
    const { rows, isWhole } = rowsBetween(gathered, { first, last, result });
    const known = isWhole ? rows : [this.#events.find(first), ...rows.slice(rows.length === 0 ? 0 : 1)].filter((row) => row !== undefined);
    return { kind: 'window', count: isWhole ? rows.length : null, events: bounded(known.map((row) => causeOf(row, null))) };
  }
}

/**
 * The rows that came from the one that begins with the cause `first` to the one that ends with `last`, of its key and of the window's time.
 * One that time or another window made comes later than what caused it, so causes say where the window begins and ends, and not what is between.
 */
function rowsBetween(
  gathered: RememberedRows | undefined,
  { first, last, result }: { readonly first: number; readonly last: number; readonly result: Row },
): { readonly rows: readonly Row[]; readonly isWhole: boolean } {
  const rows: Row[] = [];
  let key: string | null = null;
  let whole = 0;
  for (const one of gathered?.newestFirst() ?? []) {
    if (one.row.order < first) {
      if (whole > 0) break;
      continue;
    }
    if (key === null ? lastCause(one.row) !== last : one.key !== key) continue;
    if (!isWithin(result, one.row)) continue;
    key = one.key;
    rows.push(one.row);
    if (firstCause(one.row) === first) whole = rows.length;
  }
  const isWhole = whole > 0;
  return { rows: (isWhole ? rows.slice(0, whole) : rows).reverse(), isWhole };
}

/** Whether a row that came between the first and the last of a window is of its time. */
function isWithin({ attributes }: Row, { time }: Row): boolean {
  const [start, end] = [timeOf(attributes?.get('window_start')), timeOf(attributes?.get('window_end'))];
  return (start === null || time >= start) && (end === null || time <= end);
}

function timeOf(value: unknown): number | null {
  return value instanceof Timestamp ? value.ms : null;
}

function ofBound(kind: 'match' | 'join', bound: readonly Binding[], names: readonly string[]): Causes {
  const held = bound.flatMap((binding, slot) =>
    (binding === null ? [] : 'type' in binding ? [binding] : binding).map((row) => ({ row, step: names[slot] ?? null })),
  );
  const events = held.sort((a, b) => a.row.order - b.row.order).map(({ row, step }) => causeOf(row, step));
  return { kind, count: events.length, events: bounded(events) };
}

function causeOf({ type, time, fields }: Row, step: string | null): Cause {
  return { step, type, time, fields };
}

/** Of too many the first and the last. */
function bounded(events: readonly Cause[]): readonly Cause[] {
  const max = limits.alertCausesMax;
  return events.length <= max ? events : [...events.slice(0, max / 2), ...events.slice(-max / 2)];
}
