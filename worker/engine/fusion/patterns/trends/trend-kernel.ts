import { keyOf } from '../../../../../shared/events/text.ts';
import type { Value, ValueArray } from '../../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment } from '../../../operators/operator.ts';
import type { Row } from '../../../operators/row.ts';
import { TrendResults } from '../../../patterns/trends/trend-results.ts';
import { TrendTotals } from '../../../patterns/trends/trend-totals.ts';
import type { Source } from '../../../sources/source.ts';
import type { SourceOptions } from '../../../sources/source-options.ts';
import { loadRow, saveRow } from '../../../state/saved-row.ts';
import { DeadlineQueue } from '../../../time/deadline-queue.ts';
import { plus } from '../../../time/instants.ts';
import type { Kernel } from '../../fused-runtime.ts';
import type { Given } from '../pattern-input.ts';
import { type ExactEvent, ExactTrends } from './exact-trends.ts';
import type { Close, RepeatStep, TakeStep, TrendKernelForm } from './trend-kernel-form.ts';
import { type SharedForm, type TakeTrendEvent, TrendPanes } from './trend-panes.ts';
import { boundOf, givenBy, holdAgain, keyRow } from './trend-rows.ts';
import type { TrendState } from './trend-states.ts';
import { type PaneKey, type TrendPane, type TrendStream, TrendWindow } from './trend-window.ts';

/** The trends of a stream. Saves what `TrendSource` saves. */
export class TrendKernel implements Source, Kernel, TrendStream {
  readonly fingerprint: string;
  due = Infinity;
  /** Where those that share find each other; that of the first of them is the one in use. */
  panes: TrendPanes;
  readonly #form: TrendKernelForm;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #results: TrendResults;
  readonly #empty: Float64Array;
  readonly #closings = new DeadlineQueue<TrendWindow>();
  readonly #unused: TrendWindow[] = [];
  readonly #classes: readonly number[];
  #close: Close | null = null;
  /** By class. */
  readonly #steps: TakeStep[] = [];
  readonly #repeats: RepeatStep[] = [];
  #groups = 0;

  constructor(form: TrendKernelForm, { environment, next }: SourceOptions) {
    const { trends, shared } = form;
    this.fingerprint = `${trends.pattern.fingerprint}:${trends.plan.fingerprint}`;
    this.#form = form;
    this.#environment = environment;
    this.#next = next;
    this.#results = new TrendResults(trends.plan, next, environment);
    this.#empty = trends.empty;
    this.#classes = form.classes.map(({ at }) => at);
    this.panes = new TrendPanes(shared);
  }

  /** `functions`: for each class the step and its repetition; of the first that shares, those for the lanes as well. */
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

  /** A window in a pane that has none of this stream, nor of those that count the same: one for all of them, if they can share it. */
  open(pane: TrendPane, order: number): TrendWindow {
    const { apart, kernels } = this.panes.equalsOf(this.#form.equals);
    return apart === 0 ? this.#open(pane, order, kernels) : this.#openApart(pane, order);
  }

  /** A window of this stream alone. */
  #openApart(pane: TrendPane, order: number): TrendWindow {
    this.panes.equalsOf(this.#form.equals).apart++;
    return this.#open(pane, order, [this]);
  }

  #open(pane: TrendPane, order: number, sharing: readonly TrendStream[]): TrendWindow {
    const window = this.#unused.pop() ?? new TrendWindow(this, pane, this.#empty.slice(), this.#form.trends.pattern.steps.length);
    window.pane = pane;
    window.first = order;
    window.sharing = sharing;
    window.left = sharing.length;
    this.panes.entered(window, this.#classes);
    for (const kernel of sharing) kernel.enter(window, order);
    return window;
  }

  enter(window: TrendWindow, order: number): void {
    this.panes.occupy(window, this.#form.position);
    this.#closings.push(window.pane.closesAt, order, window);
    this.due = this.#closings.next();
  }

  /** There are more states with trends, or fewer. */
  moved(window: TrendWindow, more: number): void {
    for (const kernel of window.sharing) kernel.addGroups(more);
    if (this.#groups > this.#form.trends.pattern.runsMax) this.#keepBudget(window);
  }

  /** The window at hand gives up its oldest groups; what they would have become is missing in its result. */
  #keepBudget(window: TrendWindow): void {
    const { trends } = this.#form;
    const over = Math.min(this.#groups - trends.pattern.runsMax, window.live);
    if (over <= 0) return;
    const exact = window.exact ?? ExactTrends.of(trends, window.numbers);
    exact.drop(over);
    if (window.exact === null) exact.write(window.numbers);
    window.live -= over;
    for (const kernel of window.sharing) kernel.dropGroups(over);
  }

  addGroups(more: number): void {
    this.#groups += more;
  }

  dropGroups(dropped: number): void {
    this.#groups -= dropped;
    this.#environment.runsDropped('max_runs', dropped);
  }

  /** Takes an event for which doubles, or numbers alone, do not do. Gives whether trends came to other states. */
  slowly(window: TrendWindow, event: ExactEvent): boolean {
    const exact = window.exact ?? ExactTrends.of(this.#form.trends, window.numbers);
    const before = exact.order;
    const taken = exact.take(event);
    window.took.fill(0);
    for (const slot of taken) window.took[slot] = 1;
    if (window.exact === null && !exact.write(window.numbers)) window.exact = exact;
    const isSame = before.length === exact.order.length && before.every((state, at) => state === exact.order[at]);
    const more = exact.order.length - before.length;
    window.live += more;
    this.moved(window, more);
    return !isSame;
  }

  /** The same, from generated code: whether the event fits by the positions of slots, and the values of columns. */
  takeSlowly(
    window: TrendWindow,
    slots: readonly number[],
    fits: readonly boolean[],
    columns: readonly number[],
    values: readonly (number | null)[],
  ): void {
    this.slowly(window, {
      fits: (slot) => fits[slots.indexOf(slot)] === true,
      valueFor: (column) => values[columns.indexOf(column)] ?? null,
    });
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
    const step = this.#form.classes.find((one) => one.at === at)?.slot;
    return this.slowly(window, { fits: (slot) => slot === step, valueFor: () => null });
  }

  /** A row is taken once for all that share, by the first of them that reads its origin. */
  receivers(origin: string): readonly ((row: Row) => void)[] {
    const lane = this.#form.shared.lanes.findIndex((one) => one.origin === origin);
    const given = this.#form.given.get(lane);
    return [given === undefined ? () => undefined : (row) => this.#receive(row, lane, given)];
  }

  #receive(row: Row, lane: number, given: readonly Given[]): void {
    const values = given.map((one) => givenBy(row, one));
    (this.panes.takes[lane] as TakeTrendEvent)(row.time, row.order, ...values);
  }

  deadline(): number {
    return this.due;
  }

  advance(watermark: number): void {
    try {
      for (let window = this.#closings.popDue(watermark); window; window = this.#closings.popDue(watermark)) this.#end(window);
    } finally {
      this.due = this.#closings.next();
    }
  }

  #end(window: TrendWindow): void {
    const { pane } = window;
    const { start, end } = pane;
    window.catchUp();
    const lane = this.#newestLane(pane);
    const type = (this.#form.shared.lanes[lane] as SharedForm['lanes'][number]).type;
    const last = pane.last[lane] as number;
    this.#groups -= window.live;
    this.panes.leave(window, this.#form.position, this.#classes);
    const equals = this.panes.equalsOf(this.#form.equals);
    if (window.sharing !== equals.kernels) equals.apart--;
    if (this.#close === null || window.exact !== null) this.#give(window, { type, last, start, end });
    else {
      this.#close.x0(this.#close, window, type, last, start, end);
      if (this.#form.endsMatter)
        this.#next.endWindow({ time: plus(end, -1), start, end, isFinal: true, lengthMs: this.#form.trends.plan.windowMs });
    }
    if (window.left === 0) window.kernel.clear(window);
  }

  clear(window: TrendWindow): void {
    const { numbers } = window;
    for (let at = 0; at < numbers.length; at++) numbers[at] = this.#empty[at] as number;
    window.exact = null;
    window.live = 0;
    if (this.#form.trends.held !== null) window.held.fill(null);
    this.#unused.push(window);
  }

  #give(window: TrendWindow, { type, last, start, end }: { type: string; last: number; start: number; end: number }): void {
    const { trends, keyFields } = this.#form;
    const exact = window.exact ?? ExactTrends.of(trends, window.numbers);
    const keys = this.#environment.partitionFields(keyRow(type, keyFields, window.pane.keys));
    const ends = { firstCause: window.first, lastCause: last };
    this.#results.give({ start, end, type, keys, ...ends, bound: boundOf(window, trends), completed: exact.totals(trends.completed) });
  }

  /** The lane of the newest event. */
  #newestLane({ last }: TrendPane): number {
    const { lanes } = this.#form;
    let newest = lanes[0] as number;
    for (let at = 1; at < lanes.length; at++) {
      const lane = lanes[at] as number;
      if ((last[lane] as number) > (last[newest] as number)) newest = lane;
    }
    return newest;
  }

  runsActive(): number {
    return this.#groups;
  }

  save(): Value {
    const windows = [...this.#closings.items()].sort((a, b) => a.first - b.first);
    return [null, [this.#environment.order(), new Map(), windows.map((window) => this.#saveWindow(window))]];
  }

  #saveWindow(window: TrendWindow): Value {
    window.catchUp();
    const { trends, shared, keyFields } = this.#form;
    const { keys, start, last } = window.pane;
    const newest = this.#newestLane(window.pane);
    const row = keyRow(shared.lanes[newest]?.type ?? '', keyFields, keys);
    const exact = window.exact ?? ExactTrends.of(trends, window.numbers);
    const nothing = trends.pattern.steps.map(() => []);
    const { space } = trends.states;
    const groups = exact.order.map((state) => [
      space.save(state.pattern),
      start,
      nothing,
      start,
      exact.totals(state.id * trends.stride).save(),
    ]);
    const ends = [window.first, last[newest] as number].map((order) => saveRow({ ...row, time: start, order, causes: [order] }));
    const bound = boundOf(window, trends).map((one) => one && saveRow(one));
    return [keys.length === 0 ? '' : keyOf(keys), start, window.first, ...ends, [groups, exact.totals(trends.completed).save()], bound];
  }

  load(saved: Value): void {
    const [, [, , windows]] = saved as unknown as [null, [number, Value, ValueArray]];
    for (const window of windows) this.#loadWindow(window as ValueArray);
  }

  #loadWindow([, start, rank, first, last, set, bound]: ValueArray): void {
    const { shared, keyFields } = this.#form;
    const newest = loadRow(last as Value);
    const keys = keyFields.map((name) => newest.fields.get(name) ?? null);
    const isText = keys.length > 1;
    const pane = this.panes.paneOf(isText ? keyOf(keys) : ((keys[0] ?? null) as PaneKey), isText ? keys : null, start as number);
    const lane = shared.lanes.findIndex(({ type }) => type === newest.type);
    pane.last[lane] = Math.max(pane.last[lane] as number, newest.order);
    const window = this.#openApart(pane, rank as number);
    window.first = loadRow(first as Value).order;
    this.#loadTrends(window, set as ValueArray);
    (bound as ValueArray).forEach((row, slot) => {
      if (row !== null) holdAgain(window, slot, loadRow(row), this.#form.trends);
    });
  }

  #loadTrends(window: TrendWindow, [groups, completed]: ValueArray): void {
    const { trends } = this.#form;
    const loaded = (groups as readonly ValueArray[]).map(([state, , , , totals]) => ({
      state: trends.states.of(trends.states.space.load(state as Value)) as TrendState,
      totals: TrendTotals.load(totals as Value),
    }));
    const exact = ExactTrends.load(trends, loaded, TrendTotals.load(completed as Value));
    if (!exact.write(window.numbers)) window.exact = exact;
    window.live = loaded.length;
    this.#groups += loaded.length;
  }
}
