import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import { evaluationFailure } from '../../evaluate/failure.ts';
import type { Kernel } from '../../fusion/fused-runtime.ts';
import { type Given, givenBy } from '../../fusion/patterns/pattern-input.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import { NO_ROW, type Row } from '../../operators/row.ts';
import { EventOrder } from '../../sources/event-order.ts';
import type { Source } from '../../sources/source.ts';
import type { SourceOptions } from '../../sources/source-options.ts';
import type { Saved } from '../../state/codec.ts';
import { Expiry } from '../../state/expiry.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { plus } from '../../time/instants.ts';
import type { PatternView } from '../../trace/pattern-view.ts';
import { TrendWatch } from '../../trace/trend-watch.ts';
import type { HeldRow, WindowView } from '../../trace/views.ts';
import {
  causesBetween,
  firstCause,
  frameAttributes,
  lastCause,
  type PreparedItem,
  prepareItem,
  resultFields,
} from '../../windows/window-result.ts';
import type { Relevance } from '../watch.ts';
import { NumberEvent } from './number-event.ts';
import { RowEvents } from './row-events.ts';
import { type savedWindow, trendState } from './saved-trends.ts';
import type { Close, RepeatStep, TakeStep, TrendForm } from './trend-form.ts';
import { type TrendEvent, TrendGroups, type TrendSet } from './trend-groups.ts';
import type { TrendNumbers } from './trend-numbers.ts';
import { type SharedInput, type TakeTrendEvent, TrendPanes } from './trend-panes.ts';
import { boundRow, type PaneKey, type TrendPane, type TrendStream, TrendWindow } from './trend-window.ts';

type TrendOptions = Pick<SourceOptions, 'environment' | 'next'> & Partial<Pick<SourceOptions, 'recorder' | 'conditions'>>;

/**
 * `.trend_aggregate(..)`: in place of matches one result per partition and window, over all trends of the pattern whose
 * events lie in that window. Windows are tumbling, aligned to the epoch, and close when the watermark reaches their end
 * (+ allowed lateness), in order of end, then of first event. A window in which no event was taken gives nothing.
 *
 * Where generated code counts, trends are numbers (`TrendNumbers`), and streams whose windows begin and end together share what they
 * count; a window whose trends doubles do not hold goes on as groups (`TrendGroups`). Where none does, rows are counted in groups.
 * Memory is bounded by the pattern's `runsMax`: over it the oldest groups of the window at hand are given up and counted.
 */
export class TrendKernel implements Source, Kernel, TrendStream {
  readonly fingerprint: string;
  /** Its earliest deadline, which generated code reads. */
  due = Infinity;
  /** Where those that share find each other; that of the first of them is the one in use. */
  panes: TrendPanes;
  readonly #form: TrendForm;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #order: EventOrder;
  readonly #isReordering: boolean;
  readonly #items: readonly PreparedItem[];
  readonly #groups: TrendGroups;
  /** Reads rows where no generated code does. */
  readonly #events: RowEvents | null;
  readonly #expiry: Expiry;
  readonly #empty: Float64Array;
  /** Null unless the program is to explain itself. */
  readonly #watch: TrendWatch | null;
  readonly #closings = new DeadlineQueue<TrendWindow>();
  readonly #unused: TrendWindow[] = [];
  readonly #classes: readonly number[];
  #close: Close | null = null;
  /** By class. */
  readonly #steps: TakeStep[] = [];
  readonly #repeats: RepeatStep[] = [];
  /** Rows counted in groups. */
  #received = 0;
  /** Groups that are open: with numbers, states in which there are trends. */
  #open = 0;

  constructor(form: TrendForm, { environment, next, recorder, conditions }: TrendOptions) {
    const { pattern, plan, columns, numbers, space, shared } = form;
    this.#watch = recorder && conditions ? new TrendWatch(pattern, space.initial.enabledSteps, { recorder, conditions }) : null;
    this.fingerprint = `${pattern.fingerprint}:${plan.fingerprint}`;
    this.#form = form;
    this.#environment = environment;
    this.#next = next;
    this.#items = plan.items.map((item) => prepareItem(item, environment));
    this.#groups = new TrendGroups(pattern, columns, plan.windowMs, space);
    this.#events = numbers === null ? new RowEvents(pattern, columns, this.#groups.readsList, environment) : null;
    this.#empty = numbers === null ? new Float64Array() : numbers.empty;
    this.#classes = form.classes.map(({ at }) => at);
    this.#isReordering = environment.stream.time.outOfOrderMs > 0;
    this.#expiry = new Expiry(environment.stream.partition.expireMs, this.#isReordering ? null : environment);
    this.#order = new EventOrder(environment, {
      receive: (row, input) => this.#receive(row, input),
      deadline: () => this.due,
      advance: (watermark) => this.#advance(watermark),
    });
    this.panes = new TrendPanes(shared);
    this.panes.kernels[form.position] = this;
  }

  /** `functions`: for each class the step and its repetition; of the first that shares, those for the inputs as well. */
  link(...functions: readonly unknown[]): void {
    const [panes, close, ...rest] = functions;
    this.panes = panes as TrendPanes;
    this.panes.kernels[this.#form.position] = this;
    this.#close = close as Close | null;
    this.#classes.forEach((at, i) => {
      this.#steps[at] = rest[2 * i] as TakeStep;
      this.#repeats[at] = rest[2 * i + 1] as RepeatStep;
    });
    if (this.#form.position === 0) this.panes.takes = rest.slice(2 * this.#classes.length) as TakeTrendEvent[];
  }

  watermark(): number {
    return this.#environment.watermark();
  }

  /** Arrival number of the event behind what happens now. */
  order(): number {
    return this.#environment.order();
  }

  late(row: Row): void {
    this.#environment.late(row);
  }

  /** A row is taken once, however many steps read its origin; and once for all that share, by the first that reads it. */
  receivers(origin: string): readonly ((row: Row) => void)[] {
    const input = this.#form.shared.inputs.findIndex((one) => one.origin === origin);
    const isTaken = this.#events === null ? this.#form.given.has(input) : input >= 0;
    const take = isTaken ? (row: Row): void => this.#order.receive(row, input) : (): void => undefined;
    return [this.#watch === null ? take : this.#watch.around(origin, take)];
  }

  #receive(row: Row, input: number): void {
    if (this.#events === null) {
      const values = (this.#form.given.get(input) as readonly Given[]).map((one) => givenBy(row, one));
      (this.panes.takes[input] as TakeTrendEvent)(row.time, row.order, ...values);
      return;
    }
    try {
      this.#count(row, this.#form.relevances[input] as Relevance, this.#events);
    } catch (thrown) {
      this.#environment.fail(evaluationFailure(thrown), row, null);
    }
    this.due = this.#nextDue();
  }

  /** Counts a row in groups. Whatever may fail comes first. */
  #count(row: Row, relevance: Relevance, events: RowEvents): void {
    const key = this.#environment.partition(row);
    const start = this.panes.startOf(row.time);
    // A row that was held back is seen as if time had come to it and no further: its window has not closed.
    if (!this.#isReordering && this.panes.closesAt(start) <= this.#environment.watermark()) {
      this.#environment.late(row);
      return;
    }
    const isGone = this.#expiry.isGone(key, row.time);
    const open = isGone ? null : (this.panes.find(key, start)?.windows[0] ?? null);
    const at = this.#received + 1;
    const { taken, ...trends } = this.#groups.step(open?.groups ?? this.#groups.nothing, events.of(row, at, relevance));
    this.#received = at;
    if (isGone) this.#drop(key);
    this.#expiry.touch(key, row.time);
    if (open === null && taken.length === 0) return;
    const window = open ?? this.open(this.panes.paneOf(key, [], start), at);
    if (open === null) window.first = firstCause(row);
    window.last = row;
    for (const slot of taken) window.held[slot] = row;
    this.#put(window, trends);
  }

  /** A window in a pane that has none of this stream, nor of those that count the same: one for all of them, if they can share it. */
  open(pane: TrendPane, order: number): TrendWindow {
    const { apart, kernels } = this.panes.equalsOf(this.#form.equals);
    return apart === 0 ? this.#begin(pane, order, kernels) : this.#openApart(pane, order);
  }

  /** A window of this stream alone. */
  #openApart(pane: TrendPane, order: number): TrendWindow {
    this.panes.equalsOf(this.#form.equals).apart++;
    return this.#begin(pane, order, [this]);
  }

  #begin(pane: TrendPane, order: number, sharing: readonly TrendStream[]): TrendWindow {
    const window = this.#unused.pop() ?? new TrendWindow(this, pane, this.#empty.slice(), this.#form.pattern.steps.length);
    window.pane = pane;
    window.rank = order;
    window.first = order;
    window.sharing = sharing;
    window.left = sharing.length;
    this.panes.entered(window, this.#classes);
    for (const kernel of sharing) kernel.enter(window);
    return window;
  }

  enter(window: TrendWindow): void {
    this.panes.occupy(window, this.#form.position);
    const { closesAt } = window.pane;
    this.#closings.push(closesAt, window.rank, window);
    if (closesAt < this.due) this.due = closesAt;
  }

  #nextDue(): number {
    return Math.min(this.#closings.next(), this.#expiry.deadline());
  }

  /** The trends of a window, as groups. */
  #trendsOf(window: TrendWindow): TrendSet {
    const { numbers } = this.#form;
    if (window.groups !== null) return window.groups;
    return numbers === null ? this.#groups.nothing : numbers.setOf(window.numbers, window.pane.start, this.#groups);
  }

  /** The trends of a window from now on: in numbers, if they are now and doubles hold them. */
  #put(window: TrendWindow, trends: TrendSet): void {
    const { numbers } = this.#form;
    if (window.groups !== null || numbers === null || !numbers.write(trends, window.numbers)) window.groups = trends;
    const more = trends.groups.length - window.live;
    window.live += more;
    this.moved(window, more);
  }

  /** There are more groups, or fewer. */
  moved(window: TrendWindow, more: number): void {
    for (const kernel of window.sharing) kernel.addGroups(more);
    if (this.#open > this.#form.pattern.runsMax) this.#keepBudget(window);
  }

  /** The window at hand gives up its oldest groups; what they would have become is missing in its result. */
  #keepBudget(window: TrendWindow): void {
    const over = Math.min(this.#open - this.#form.pattern.runsMax, window.live);
    if (over <= 0) return;
    const { groups, completed } = this.#trendsOf(window);
    const left = { groups: groups.slice(over), completed };
    if (window.groups !== null) window.groups = left;
    else this.#form.numbers?.write(left, window.numbers);
    window.live -= over;
    for (const kernel of window.sharing) kernel.dropGroups(over);
  }

  addGroups(more: number): void {
    this.#open += more;
  }

  dropGroups(dropped: number): void {
    this.#open -= dropped;
    this.#environment.runsDropped('max_runs', dropped);
  }

  /** Takes an event for which doubles, or numbers alone, do not do. Gives whether trends came to other states. */
  #slowly(window: TrendWindow, event: TrendEvent): boolean {
    const before = this.#trendsOf(window);
    const { taken, ...trends } = this.#groups.step(before, event);
    window.took.fill(0);
    for (const slot of taken) window.took[slot] = 1;
    this.#put(window, trends);
    return (
      before.groups.length !== trends.groups.length ||
      before.groups.some((one, at) => one.progress.state !== trends.groups[at]?.progress.state)
    );
  }

  /** The same, from generated code: whether the event fits by the positions of slots, and the values of columns. */
  takeSlowly(
    window: TrendWindow,
    slots: readonly number[],
    fits: readonly boolean[],
    columns: readonly number[],
    values: readonly (number | null)[],
  ): void {
    const numbers = this.#form.numbers as TrendNumbers;
    this.#slowly(window, new NumberEvent(window.pane.start, numbers, { slots, fits, columns, values }));
  }

  /** An event of a class. Gives whether trends came to other states. */
  takeInBurst(at: number, window: TrendWindow, order: number): boolean {
    const taken = (this.#steps[at] as TakeStep)(window, order);
    return taken === 2 ? this.slowlyInBurst(at, window) : taken === 1;
  }

  repeat(at: number, window: TrendWindow, times: number): number {
    return (this.#repeats[at] as RepeatStep)(window, times);
  }

  slowlyInBurst(at: number, window: TrendWindow): boolean {
    const slots = this.#form.classes.flatMap((one) => (one.at === at ? [one.slot] : []));
    const numbers = this.#form.numbers as TrendNumbers;
    return this.#slowly(window, new NumberEvent(window.pane.start, numbers, { slots, fits: [true], columns: [], values: [] }));
  }

  deadline(): number {
    return this.#isReordering ? this.#order.deadline() : this.due;
  }

  advance(watermark: number): void {
    if (this.#isReordering) this.#order.advance(watermark);
    else this.#advance(watermark);
  }

  #advance(watermark: number): void {
    try {
      for (let window = this.#closings.popDue(watermark); window; window = this.#closings.popDue(watermark)) {
        if (window.left > 0) this.#end(window);
      }
      if (this.#expiry.deadline() <= watermark) for (const key of this.#expiry.expired(watermark)) this.#drop(key);
    } finally {
      this.due = this.#nextDue();
    }
  }

  #end(window: TrendWindow): void {
    const { pane } = window;
    const { start, end, key, closesAt } = pane;
    window.catchUp();
    if (this.#close !== null && window.groups === null) {
      const input = this.#newestInput(pane);
      const last = pane.last[input] as number;
      this.#leave(window);
      this.#close.x0(this.#close, window, (this.#form.shared.inputs[input] as SharedInput).type, last, start, end);
      if (this.#form.endsMatter) this.#next.endWindow(this.#frameOf(start, end));
    } else {
      const last = this.#lastOf(window);
      this.#leave(window);
      if (!this.#expiry.isGone(key as string, closesAt)) this.#give(window, last, start, end);
    }
    if (window.left === 0 && this.#events === null) window.kernel.clear(window);
  }

  #leave(window: TrendWindow): void {
    this.#open -= window.live;
    this.panes.leave(window, this.#form.position, this.#classes);
    const equals = this.panes.equalsOf(this.#form.equals);
    if (window.sharing !== equals.kernels) equals.apart--;
  }

  /** The key has expired: its windows come to nothing. */
  #drop(key: string): void {
    for (const { windows } of this.panes.ofKey(key)) for (const window of windows) if (window !== null) this.#leave(window);
  }

  clear(window: TrendWindow): void {
    const { numbers } = window;
    for (let at = 0; at < numbers.length; at++) numbers[at] = this.#empty[at] as number;
    window.groups = null;
    window.live = 0;
    window.held.fill(null);
    this.#unused.push(window);
  }

  /** Hands on the result, and says that the window has ended. An item that fails is reported, and there is no result. */
  #give(window: TrendWindow, last: LastEvent, start: number, end: number): void {
    const frame = this.#frameOf(start, end);
    const row = { ...this.#rowOf(window, last, frame), order: this.order(), causes: causesBetween(window.first, last.cause) };
    const fields = this.#fieldsOf(window, row, last, frame, (failure) => this.#environment.fail(failure, row, null));
    if (fields !== null) this.#next.process({ ...row, fields });
    this.#next.endWindow(frame);
  }

  /** The row of a result, with its keys alone. */
  #rowOf(window: TrendWindow, { type, keys }: LastEvent, frame: WindowFrame): Row {
    const { time } = frame;
    return { ...NO_ROW, type, time, fields: new Map(keys), bound: this.#boundOf(window), attributes: frameAttributes(frame) };
  }

  /** Null where an item fails. */
  #fieldsOf(
    window: TrendWindow,
    row: Row,
    { keys }: LastEvent,
    { end }: WindowFrame,
    failed: (failure: EvaluationError) => void,
  ): Row['fields'] | null {
    const { completed } = this.#groups.pass(this.#trendsOf(window), end);
    const results = this.#form.columns.calls.map((_, call) => completed.result(call));
    try {
      return resultFields(this.#items, row, results, keys);
    } catch (thrown) {
      failed(evaluationFailure(thrown));
      return null;
    }
  }

  #frameOf(start: number, end: number): WindowFrame {
    return { time: plus(end, -1), start, end, isFinal: true, lengthMs: this.#form.plan.windowMs };
  }

  /** By slot, the last event that a trend took there, as far as it is kept. */
  #boundOf({ held }: TrendWindow): readonly (Row | null)[] {
    return this.#form.pattern.steps.map(({ slot }) => boundRow(held[slot] ?? null, this.#form.heldFields.get(slot) ?? []));
  }

  #lastOf({ last, pane }: TrendWindow): LastEvent {
    if (last !== null) return { type: last.type, cause: lastCause(last), keys: this.#environment.partitionFields(last) };
    const input = this.#newestInput(pane);
    const names = this.#form.stream.partition.keys;
    return {
      type: (this.#form.shared.inputs[input] as SharedInput).type,
      cause: pane.last[input] as number,
      keys: names.map(({ name }, at) => [name, pane.keys[at] ?? null]),
    };
  }

  /** The input of the newest event. */
  #newestInput({ last }: TrendPane): number {
    const { inputs } = this.#form;
    let newest = inputs[0] as number;
    for (let at = 1; at < inputs.length; at++) {
      const input = inputs[at] as number;
      if ((last[input] as number) > (last[newest] as number)) newest = input;
    }
    return newest;
  }

  runsActive(): number {
    return this.#open;
  }

  inspect(): PatternView {
    return { kind: 'pattern', isTrend: true, runs: [], first: this.#form.space.initial.enabledSteps, hasTime: () => true };
  }

  openWindows(): readonly WindowView[] {
    return this.#openWindows().map((window) => {
      window.catchUp();
      const { start, end, closesAt } = window.pane;
      const { type, cause, keys } = this.#lastOf(window);
      const last: Row = window.last ?? { ...NO_ROW, type, time: start, order: cause, fields: new Map(keys) };
      return { last, count: null, start, end, closesAt, missing: null, soFar: this.#soFar(window) };
    });
  }

  /** Its result as things stand; null while it cannot be evaluated. */
  #soFar(window: TrendWindow): Row['fields'] | null {
    const frame = this.#frameOf(window.pane.start, window.pane.end);
    const last = this.#lastOf(window);
    return this.#fieldsOf(window, this.#rowOf(window, last, frame), last, frame, () => undefined);
  }

  /** In order of their first events. */
  #openWindows(): readonly TrendWindow[] {
    return [...this.#closings.items()].filter(({ left }) => left > 0).sort((a, b) => a.rank - b.rank);
  }

  held(): readonly HeldRow[] {
    return this.#order.held();
  }

  save(): Value {
    const received = this.#events === null ? this.order() : this.#received;
    const windows = this.#openWindows().map((window) => this.#saved(window));
    return trendState.save({ order: this.#order.save(), trends: { received, expiry: this.#expiry.save(), windows } });
  }

  #saved(window: TrendWindow): Saved<typeof savedWindow> {
    window.catchUp();
    const { pane, rank } = window;
    const { type, cause } = this.#lastOf(window);
    const fields = new Map(this.#form.keyFields.map((name, at) => [name, pane.keys[at] ?? null]));
    const row = (order: number): Row => ({ ...NO_ROW, type, time: pane.start, order, fields, causes: [order] });
    return {
      key: this.#events === null ? (pane.keys.length === 0 ? '' : keyOf(pane.keys)) : (pane.key as string),
      start: pane.start,
      rank,
      first: row(window.first),
      last: window.last ?? row(cause),
      trends: this.#groups.save(this.#trendsOf(window)),
      bound: this.#boundOf(window),
    };
  }

  load(saved: Value): void {
    const { order, trends } = trendState.load(saved);
    this.#order.load(order);
    this.#received = trends.received;
    this.#expiry.load(trends.expiry);
    for (const window of trends.windows) this.#load(window);
    this.due = this.#nextDue();
  }

  #load({ key, start, rank, first, last, trends, bound }: Saved<typeof savedWindow>): void {
    const window = this.#openApart(this.#paneOf(key, last, start), rank);
    window.first = firstCause(first);
    if (this.#events !== null) window.last = last;
    bound.forEach((row, slot) => {
      window.held[slot] = row;
    });
    this.#put(window, this.#groups.load(trends));
  }

  #paneOf(key: string, last: Row, start: number): TrendPane {
    if (this.#events !== null) return this.panes.paneOf(key, [], start);
    const keys = this.#form.keyFields.map((name) => last.fields.get(name) ?? null);
    const pane = this.panes.paneOf(keys.length > 1 ? keyOf(keys) : ((keys[0] ?? null) as PaneKey), keys.length > 1 ? keys : null, start);
    const input = this.#form.shared.inputs.findIndex(({ type }) => type === last.type);
    pane.last[input] = Math.max(pane.last[input] as number, last.order);
    return pane;
  }
}

/** What a result tells of the last event of its window. */
interface LastEvent {
  readonly type: string;
  readonly cause: number;
  readonly keys: readonly (readonly [string, Value])[];
}
