import type { Value } from '../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import type { PatternMemory } from '../../patterns/pattern-memory.ts';
import { type Closing, compareRuns, type PartialMatch, wakeTimeOf } from '../../patterns/run.ts';
import { patternState } from '../../patterns/saved-runs.ts';
import { EventOrder } from '../../sources/event-order.ts';
import type { Source } from '../../sources/source.ts';
import type { SourceOptions } from '../../sources/source-options.ts';
import type { Codec } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import type { PatternView } from '../../trace/pattern-view.ts';
import { type PatternWatch, watchOf } from '../../trace/pattern-watch.ts';
import type { HeldRow } from '../../trace/views.ts';
import type { Kernel } from '../fused-runtime.ts';
import type { AutomatonState } from './automaton.ts';
import { FlatRunIndex } from './flat-run-index.ts';
import { FlatRuns } from './flat-runs.ts';
import { type FusedRun, RunLists } from './fused-run.ts';
import { hasTimeOf, keptIn, partialMatchOf, type RunClass, runOf } from './kept-matches.ts';
import type { KernelForm } from './kernel-form.ts';
import { type KeyedRuns, keyedRuns } from './keyed-runs.ts';
import { OpenRuns, TimedRuns } from './open-runs.ts';
import { givenBy } from './pattern-input.ts';
import type { Kept } from './run-form.ts';
import type { SharedClosureLog, TakenEvents } from './shared-closure-log.ts';
import { BlocksOfRuns, RegainedLists } from './shared-closure-state.ts';

/** Hands on the match of a run that time has completed. Gives whether the match counts for `.after_match(..)`. */
type Ended = (run: FusedRun, time: number) => boolean;

/** Brings a run up to date with what its list has taken. */
type CatchUp = (run: FusedRun, shared: TakenEvents) => void;

/** How a run of a pattern that is watched came to its end. */
interface Ending {
  readonly of: FusedRun;
  readonly run: PartialMatch;
  readonly closing: Closing | null;
}

type Receive = (time: number, order: number, ...values: unknown[]) => void;

/** The open runs of a pattern whose steps are generated code. It saves what `PatternSource` saves. */
export class PatternKernel implements Source, Kernel {
  readonly fingerprint: string;
  /** Events received. */
  received = 0;
  readonly open: OpenRuns | TimedRuns | FlatRuns;
  /** The runs of a pattern without partition. */
  readonly whole: RunLists;
  /** By id of the state, where its runs are found by a value. */
  readonly keyed: readonly (KeyedRuns | FlatRunIndex | null)[];
  readonly #flat: FlatRuns | null;
  readonly #form: KernelForm;
  readonly #environment: OperatorEnvironment;
  readonly #savedState: Codec<PatternMemory>;
  readonly #next: Next;
  readonly #watch: PatternWatch | null;
  readonly #order: EventOrder;
  /** The time of what is at work, where rows wait: that of the stream is ahead of it. Null between them. */
  #now: number | null = null;
  /** The row at work, where rows come whole; null while time moves. */
  #row: Row | null = null;
  /** While the pattern is watched, of the row at work: its matches, the runs that it has ended, and those that its matches have. */
  #matches = 0;
  #giving: FusedRun | null = null;
  readonly #endedByRow: Ending[] = [];
  readonly #endedBehind: Ending[] = [];
  readonly #partitions = new Map<FusedRun['key'], RunLists>();
  /** Runs that the event at hand has completed, in order of beginning. */
  readonly #completed: FusedRun[] = [];
  #receivers: readonly Receive[] = [];
  #ended: Ended = () => false;
  #RunClass: RunClass | null = null;
  /** By id of the state; null where each run takes for itself. */
  #catchUps: readonly (CatchUp | null)[] = [];

  constructor(form: KernelForm, options: SourceOptions) {
    const { environment, next } = options;
    this.fingerprint = form.plan.fingerprint;
    this.#form = form;
    this.#environment = environment;
    this.#next = next;
    const watched = { received: () => this.received, active: () => this.runsActive(), inspect: () => this.inspect() };
    this.#watch = form.isWatched ? watchOf(form.plan, options, watched) : null;
    this.#savedState = patternState(form.automaton.space);
    this.#order = new EventOrder(environment, {
      receive: (row, lane) => this.#at(row.time, () => this.#take(row, lane)),
      deadline: () => this.open.due,
      advance: (watermark) => this.#at(watermark, () => this.#advance(watermark)),
    });
    this.#flat = form.isFlat ? this.#flatRuns(form) : null;
    this.open = this.#flat ?? this.#objectRuns(form);
    const flat = this.#flat;
    this.keyed = form.indexKeys.map((indexKey) =>
      indexKey === null ? null : flat === null ? keyedRuns(indexKey.as) : new FlatRunIndex(flat),
    );
    this.whole = new RunLists(form.sharedSlots);
  }

  #flatRuns({ plan, kept, key, isReordering }: KernelForm): FlatRuns {
    return new FlatRuns({
      kept,
      isPartitioned: key !== null,
      withinMs: plan.withinMs,
      isEndSeen: isReordering,
      watermark: () => this.#watermark(),
      close: (run) => this.#endFlat(run),
    });
  }

  #objectRuns({ automaton: { states, waits, isTimed }, plan, isWatched, isReordering }: KernelForm): OpenRuns | TimedRuns {
    if (!isTimed)
      return new OpenRuns(
        plan.withinMs,
        waits || isWatched || isReordering,
        () => this.#watermark(),
        (run) => this.#end(run),
      );
    return new TimedRuns({
      wakeOf: ({ state, base, first, last }) =>
        wakeTimeOf({ state: (states[state] as AutomatonState).pattern, base: base as number }, first, last),
      isOpen: ({ state }) => state >= 0,
      compare: (a, b) => a.began - b.began,
      wake: (run) => this.#wake(run),
    });
  }

  #watermark(): number {
    return this.#now ?? this.#environment.watermark();
  }

  link(...functions: readonly unknown[]): void {
    const [runClass, ended, ...others] = functions;
    const receivers = this.#form.origins.length;
    const catchUps = others.slice(receivers);
    this.#ended = ended as Ended;
    this.#RunClass = runClass as RunClass;
    this.#receivers = others.slice(0, receivers) as readonly Receive[];
    this.#catchUps = this.#form.sharedSlots.map((slot) => (slot === null ? null : (catchUps.shift() as CatchUp)));
  }

  /** The runs of a partition. */
  partition(key: FusedRun['key']): RunLists | null {
    return this.#partitions.get(key) ?? null;
  }

  addPartition(key: FusedRun['key']): RunLists {
    if (this.#partitions.size > 2 * this.open.size + 1_000) {
      for (const [one, lists] of this.#partitions) if (lists.isEmpty) this.#partitions.delete(one);
    }
    const lists = new RunLists(this.#form.sharedSlots);
    this.#partitions.set(key, lists);
    return lists;
  }

  /** The run has a match, which follows when all runs have been asked. */
  collect(run: FusedRun): void {
    const completed = this.#completed;
    let at = completed.push(run) - 1;
    for (; at > 0 && (completed[at - 1] as FusedRun).began > run.began; at--) completed[at] = completed[at - 1] as FusedRun;
    completed[at] = run;
  }

  /** The next of the completed runs; null when there is none. */
  nextCompleted(): FusedRun | null {
    const run = this.#completed.shift() ?? null;
    this.#giving = run;
    return run;
  }

  /** Time has passed the run: a closure that was still open gives its match now. */
  #end(run: FusedRun): void {
    const { waits, states } = this.#form.automaton;
    const isMatch = waits && states[run.state]?.pattern.isComplete === true;
    if (isMatch) this.#catchUp(run);
    this.close(run);
    if (isMatch) this.#complete(run, run.base as number);
  }

  /** Time has passed a run that is a number, or there is no room for it: it has no match. */
  #endFlat(run: number): void {
    const flat = this.#flat as FlatRuns;
    (this.keyed[flat.state[run] as number] as FlatRunIndex).remove(run);
    flat.remove(run);
  }

  #complete(run: FusedRun, time: number): void {
    const counts = this.#ended(run, time);
    if (counts && this.#form.plan.afterMatch === 'skip_past_last') this.endUntil(run.lastAt as number, run.key);
  }

  /** A match ends all runs of its partition that began at or before its last event, and the matches that they would have given. */
  endUntil(lastAt: number, key: FusedRun['key']): void {
    const completed = this.#completed;
    while (completed.length > 0 && (completed[0] as FusedRun).began <= lastAt) this.skipped(completed.shift() as FusedRun);
    const open = this.open as OpenRuns | TimedRuns;
    if (this.#form.key === null) {
      while (open.first !== null && open.first.began <= lastAt) this.#closeBehind(open.first);
      return;
    }
    const heads = this.partition(key)?.heads ?? [];
    for (let state = 0; state < heads.length; state++) {
      for (let run = heads[state] ?? null; run !== null && run.began <= lastAt; run = heads[state] ?? null) this.#closeBehind(run);
    }
  }

  /** A match has ended the run: its own, or one before it. */
  #closeBehind(run: FusedRun): void {
    this.close(run, run === this.#giving ? 'matched' : 'skipped');
  }

  /** The run has a match at hand. Only called while the pattern is watched. */
  giving(run: FusedRun): void {
    this.#giving = run;
  }

  /** The match of a run that is over comes to nothing: one before it has ended the run. */
  skipped(run: FusedRun): void {
    const at = this.#watch === null ? -1 : this.#endedByRow.findIndex((ending) => ending.of === run);
    if (at >= 0) this.#endedByRow[at] = { ...(this.#endedByRow[at] as Ending), closing: 'skipped' };
  }

  /** The run's time has come: its `NOT` has matched, or the run is over. */
  #wake(run: FusedRun): void {
    const state = this.#form.automaton.states[run.state] as AutomatonState;
    const { passed } = state;
    if (passed === null || deadlineOf(state, run) > run.wake) this.#end(run);
    else this.#pass(run, passed, run.wake);
  }

  /** A `NOT` has matched, and with it those behind it whose time is over by then too. */
  #pass(run: FusedRun, first: AutomatonState, time: number): void {
    let passed = first;
    while (passed.passed !== null && deadlineOf(passed, run) <= time) passed = passed.passed;
    this.#leave(run);
    run.state = passed.id;
    if (passed.isOver) {
      this.#remove(run, this.#endedBehind);
      // A match does not end before its first event, which may be later than a displaced one behind it.
      this.#complete(run, Math.max(time, run.first));
      return;
    }
    this.#enter(run);
    (this.open as TimedRuns).moved(run);
  }

  #endOfInput(): void {
    const { open } = this;
    if (open instanceof FlatRuns) {
      while (open.size > 0) open.closeOldest();
      return;
    }
    for (let run = open.first; run !== null; run = open.first) {
      const { passed } = this.#form.automaton.states[run.state] as AutomatonState;
      if (passed?.isOver) this.#pass(run, passed, run.base as number);
      else this.#end(run);
    }
  }

  #sharedBy({ indexKey, state }: FusedRun): SharedClosureLog | null {
    return this.#form.sharedSlots[state] == null ? null : ((indexKey as RunLists).shared[state] as SharedClosureLog);
  }

  #catchUp(run: FusedRun): void {
    const shared = this.#sharedBy(run);
    if (shared !== null) (this.#catchUps[run.state] as CatchUp)(run, shared);
  }

  /** Whether all runs of a list take an event of this time: none of them is over by then. Those at its head that are over end. */
  takesAll(lists: RunLists, state: number, time: number): boolean {
    const shared = lists.shared[state] as SharedClosureLog;
    if (!shared.isOrdered) return false;
    const open = this.open as OpenRuns;
    let head = lists.heads[state] as FusedRun | null;
    for (; head !== null && head.last < time && !open.isAlive(head); head = lists.heads[state] as FusedRun | null) this.close(head);
    shared.least = head?.last ?? Infinity;
    return time <= shared.least;
  }

  /** The run waits from now on in a list whose runs take events together; `events` of closures it holds already. */
  join(run: FusedRun, state: number, events: number): void {
    const { heads, shared } = run.indexKey as RunLists;
    (shared[state] as SharedClosureLog).join(run, heads[state] === run && run.next === null, this.#form.plan.closureMax - events);
  }

  /** Some runs of a list may have taken more events than a closure may hold. */
  overflowAll(lists: RunLists, state: number): void {
    const shared = lists.shared[state] as SharedClosureLog;
    shared.fullAt = Infinity;
    for (let run = lists.heads[state] as FusedRun | null; run !== null; ) {
      const { next }: FusedRun = run;
      const events = closureEvents(run, this.#form) + shared.taken - (run.seen as number);
      const spare = this.#form.plan.closureMax - events;
      if (spare >= 0) shared.fullAt = Math.min(shared.fullAt, shared.taken + spare);
      else if ((this.open as OpenRuns).isAlive(run)) this.overflow(run);
      else this.close(run);
      run = next;
    }
  }

  close(run: FusedRun, closing: Closing | null = null): void {
    this.#leave(run);
    this.#remove(run, this.#endedBehind, closing);
  }

  /** The run goes on no further behind the match that it has. */
  finish(run: FusedRun): void {
    this.close(run, 'matched');
  }

  /** The run has left its list: the event at hand has ended it. Only called while the pattern is watched. */
  over(run: FusedRun): void {
    this.#remove(run, this.#endedByRow);
  }

  #remove(run: FusedRun, endings: Ending[], closing: Closing | null = null): void {
    if (this.#watch !== null) {
      const ending = { of: run, run: partialMatchOf(run, this.#form), closing };
      if (this.#row === null) this.#watch.closed(ending.run, closing);
      else endings.push(ending);
    }
    (this.open as OpenRuns | TimedRuns).remove(run);
  }

  /** Takes the match of a pattern that is watched. */
  give(match: Row): void {
    this.#matches++;
    this.#watch?.matched(match);
    this.#next.process(match);
  }

  #leave(run: FusedRun): void {
    const table = this.keyed[run.state] as KeyedRuns | null;
    if (table === null) (run.indexKey as RunLists).remove(run.state, run);
    else table.remove(run);
  }

  /** Arrival number of the event behind what happens now. */
  order(): number {
    return this.#environment.order();
  }

  /**
   * Whether time has passed a run that begins at `first` and ends `spanMs` later. Events in order cost one comparison; what is late has
   * been left out before where rows wait.
   */
  isPassed(first: number, spanMs: number): boolean {
    return this.#now === null && this.#environment.mayHavePassed(first) && plus(first, spanMs) < this.#environment.watermark();
  }

  /** Counts the event at hand: a run that it could have been in is over. */
  late(): void {
    this.#environment.late(this.#row);
  }

  /** The run has taken more events than a closure may hold. */
  overflow(run: FusedRun): void {
    this.#leave(run);
    this.#remove(run, this.#endedByRow, 'budget');
    this.#environment.runsDropped('max_closure');
  }

  /** There are more runs than allowed: the oldest go. */
  keepBudget(): void {
    this.open.clean();
    while (this.open.size > this.#form.plan.runsMax) {
      this.#closeOldest();
      this.#environment.runsDropped('max_runs');
    }
  }

  #closeOldest(): void {
    if (this.open instanceof FlatRuns) this.open.closeOldest();
    else this.close(this.open.first as FusedRun, 'budget');
  }

  /** A row is seen once, however many steps read its origin. */
  receivers(origin: string): readonly ((row: Row) => void)[] {
    const lane = this.#form.origins.findIndex((one) => one.origin === origin);
    return [(row) => (this.#form.isReordering ? this.#order.receive(row, lane) : this.#take(row, lane))];
  }

  #at(time: number, work: () => void): void {
    this.#now = time;
    try {
      work();
    } finally {
      this.#now = null;
    }
  }

  #take(row: Row, lane: number): void {
    const watch = this.#watch;
    if (watch === null) this.#receive(row, lane);
    else watch.receive(row, this.#form.origins[lane]?.origin as string, () => this.#receiveWatched(row, lane, watch));
  }

  #receive(row: Row, lane: number): void {
    const given = this.#form.origins[lane]?.given ?? [];
    (this.#receivers[lane] as Receive)(row.time, row.order, ...given.map((one) => givenBy(row, one)));
  }

  /** Tells of the runs that the row has ended in their order, whatever the states are asked in, before those that its matches have. */
  #receiveWatched(row: Row, lane: number, watch: PatternWatch): void {
    const { received } = this;
    this.#row = row;
    this.#matches = 0;
    this.#receive(row, lane);
    const byRow = this.#endedByRow.splice(0).sort((a, b) => compareRuns(a.run, b.run));
    for (const { run, closing } of [...byRow, ...this.#endedBehind.splice(0)]) watch.closed(run, closing);
    this.#row = null;
    this.#giving = null;
    if (this.received > received) this.#environment.tracer?.pattern(this.#environment.stream.name, this.runsActive(), this.#matches);
  }

  deadline(): number {
    this.open.clean();
    return this.#order.deadline();
  }

  advance(watermark: number): void {
    if (this.#form.isReordering) this.#order.advance(watermark);
    else this.#advance(watermark);
  }

  #advance(watermark: number): void {
    const work = (): void => {
      this.open.advance(watermark);
      if (watermark === Infinity) this.#endOfInput();
    };
    if (this.#watch === null) work();
    else this.#watch.advance(watermark, work);
  }

  runsActive(): number {
    this.open.clean();
    return this.open.size;
  }

  save(): Value {
    return this.#savedState.save({ order: this.#order.save(), received: this.received, expiry: new Map(), runs: this.#partialMatches() });
  }

  #partialMatches(): readonly PartialMatch[] {
    const { open } = this;
    open.clean();
    if (open instanceof FlatRuns) return Array.from(open.objects(this.#RunClass as RunClass), (run) => partialMatchOf(run, this.#form));
    const matches: PartialMatch[] = [];
    const blocks = new BlocksOfRuns(this.#form);
    for (let run = open.first; run !== null; run = run.after) matches.push(this.#partialMatchOf(run, blocks));
    return matches;
  }

  /** As if the run had caught up with its list, which costs nothing but a look: it does not take over what the list holds. */
  #partialMatchOf(run: FusedRun, blocks: BlocksOfRuns): PartialMatch {
    const shared = this.#sharedBy(run);
    if (shared === null || run.seen === shared.taken) return partialMatchOf(run, this.#form, blocks.alikeIn(run));
    const caughtUp = this.#copyOf(run);
    const { taken, base, lastAt, values, pastFrom } = shared;
    (this.#catchUps[run.state] as CatchUp)(caughtUp, { taken, base, lastAt, values, pastFrom, past: [] });
    return partialMatchOf(caughtUp, this.#form, blocks.takenWith(shared, run));
  }

  /** In no list. */
  #copyOf(run: FusedRun): FusedRun {
    const { state, indexKey, key, began, first, last, base, lastAt, seen } = run;
    const kept = this.#form.kept.map((one) => keptIn(run, one));
    const copy = new (this.#RunClass as RunClass)(state, indexKey, key, began, first, last, ...kept);
    if (this.#form.hasBase) copy.base = base as number;
    if (this.#form.hasLastAt) copy.lastAt = lastAt as number;
    copy.seen = seen as number;
    return copy;
  }

  /** @throws DamagedState */
  load(saved: Value): void {
    const { order, received, runs } = this.#savedState.load(saved);
    this.#order.load(order);
    this.received = received;
    const lists = new RegainedLists(this.#form);
    for (const one of runs) {
      const { run, together } = runOf(one, this.#form, this.#RunClass as RunClass);
      if (this.open instanceof FlatRuns) this.#enterFlat(run, this.open);
      else {
        this.#enter(run);
        this.open.add(run);
        if (together !== null)
          lists.enter(run, this.#sharedBy(run) as SharedClosureLog, together, run.next === null && run.previous === run);
      }
    }
  }

  #enterFlat(object: FusedRun, flat: FlatRuns): void {
    const indexKey = keptIn(object, this.#form.indexKeys[object.state] as Kept) as number | null;
    (this.keyed[object.state] as FlatRunIndex).add(flat.add(object, indexKey));
  }

  /** The run is found from now on where it stands. */
  #enter(run: FusedRun): void {
    const table = this.keyed[run.state] as KeyedRuns | null;
    const indexKey = this.#form.indexKeys[run.state] as Kept | null;
    run.indexKey = indexKey === null ? this.#listsOf(run.key) : (keptIn(run, indexKey) as FusedRun['indexKey']);
    if (table === null) (run.indexKey as RunLists).add(run.state, run);
    else table.add(run);
    if (this.#sharedBy(run) !== null) this.join(run, run.state, closureEvents(run, this.#form));
  }

  #listsOf(key: FusedRun['key']): RunLists {
    return this.#form.key === null ? this.whole : (this.partition(key) ?? this.addPartition(key));
  }

  held(): readonly HeldRow[] {
    return this.#order.held();
  }

  inspect(): PatternView {
    const { initial } = this.#form.automaton.space;
    const hasTime = (run: PartialMatch, slot: number): boolean => hasTimeOf(run, slot, this.#form);
    return { kind: 'pattern', runs: this.#partialMatches(), first: initial.enabledSteps, hasTime };
  }
}

/** When the `NOT` of the state matches. */
function deadlineOf({ absence }: AutomatonState, { base, last }: FusedRun): number {
  return absence?.until === 'pattern' ? last : plus(base as number, absence?.deadlineMs ?? Infinity);
}

function closureEvents(run: FusedRun, { kept, automaton }: KernelForm): number {
  const counts = kept.filter(({ aspect, slot }) => aspect === 'count' && automaton.isList[slot] === true);
  return counts.reduce((sum, count) => sum + (keptIn(run, count) as number), 0);
}
