import { Duration, Timestamp, type Value, type ValueArray } from '../../../../shared/events/value.ts';
import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { PatternMatcher } from '../../patterns/matcher.ts';
import type { SourceOptions } from '../../sources/registry.ts';
import type { Source } from '../../sources/source.ts';
import { plus } from '../../time/instants.ts';
import type { PatternView } from '../../trace/views.ts';
import type { Kernel } from '../fused-runtime.ts';
import type { Representation } from '../typed.ts';
import type { Automaton, AutomatonState } from './automaton.ts';
import type { Given } from './candidate.ts';
import { type FusedRun, RunLists } from './fused-run.ts';
import type { History } from './history.ts';
import { type KeyedRuns, keyedRuns } from './keyed-runs.ts';
import { OpenRuns } from './open-runs.ts';
import type { Kept } from './run-form.ts';
import { keptIn, loadFusedRuns, type RunClass, saveFusedRuns } from './saved-fused-runs.ts';
import type { SharedTakes } from './shared-takes.ts';
import { type WakingRun, WakingRuns } from './waking-runs.ts';

/** What generated code and the kernel of a pattern agree on. */
export interface KernelForm {
  readonly plan: PatternPlan;
  readonly automaton: Automaton;
  /** By id of the state: whether its runs are found by a value that their next event must have. */
  readonly homes: readonly (Kept | null)[];
  /** By origin: what the function for its events is given. */
  readonly origins: readonly { readonly origin: string; readonly given: readonly Given[] }[];
  readonly kept: readonly Kept[];
  /** What is kept of every event of a closure. */
  readonly historyOf: (slot: number) => History;
  /** By type of the events of a step: the names of their fields. */
  readonly fieldNames: (slot: number) => ReadonlyMap<string, readonly string[]>;
  /** By id of the state: whether its runs take events together. */
  readonly isShared: readonly boolean[];
  readonly hasBase: boolean;
  readonly hasLastAt: boolean;
  /** How the partition's key stands in generated code; null without a partition, `text` for one of several parts. */
  readonly key: Representation | 'text' | null;
}

/** Hands on the match of a run that time has completed. Gives whether the match counts for `.after_match(..)`. */
type Ended = (run: FusedRun, time: number) => boolean;

/** Brings a run up to date with what its list has taken. */
type CatchUp = (run: FusedRun, shared: SharedTakes) => void;

type Receive = (time: number, order: number, ...values: unknown[]) => void;

/** The open runs of a pattern whose steps are generated code. It saves what `PatternSource` saves. */
export class PatternKernel implements Source, Kernel {
  readonly fingerprint: string;
  /** Events received. */
  received = 0;
  readonly open: OpenRuns | WakingRuns;
  /** The runs of a pattern without partition. */
  readonly whole: RunLists;
  /** By id of the state, where its runs are found by a value. */
  readonly keyed: readonly (KeyedRuns | null)[];
  readonly #form: KernelForm;
  readonly #environment: OperatorEnvironment;
  readonly #partitions = new Map<FusedRun['key'], RunLists>();
  /** Runs that the event at hand has completed, in order of beginning. */
  readonly #completed: FusedRun[] = [];
  #receivers: readonly Receive[] = [];
  #ended: Ended = () => false;
  #RunClass: RunClass | null = null;
  /** By id of the state; null where each run takes for itself. */
  #catchUps: readonly (CatchUp | null)[] = [];

  constructor(form: KernelForm, { environment }: SourceOptions) {
    this.fingerprint = form.plan.fingerprint;
    this.#form = form;
    this.#environment = environment;
    const { states, waits, isTimed } = form.automaton;
    this.open = isTimed
      ? new WakingRuns(states, (run) => this.#wake(run as WakingRun))
      : new OpenRuns(
          form.plan.withinMs,
          waits,
          () => environment.watermark(),
          (run) => this.#end(run),
        );
    this.keyed = form.homes.map((home) => (home === null ? null : keyedRuns(home.as)));
    this.whole = new RunLists(form.isShared);
  }

  link(...functions: readonly unknown[]): void {
    const [runClass, ended, ...others] = functions;
    const receivers = this.#form.origins.length;
    const catchUps = others.slice(receivers);
    this.#ended = ended as Ended;
    this.#RunClass = runClass as RunClass;
    this.#receivers = others.slice(0, receivers) as readonly Receive[];
    this.#catchUps = this.#form.isShared.map((is) => (is ? (catchUps.shift() as CatchUp) : null));
  }

  get due(): number {
    return this.open.due;
  }

  /** The runs of a partition. */
  partition(key: FusedRun['key']): RunLists | null {
    return this.#partitions.get(key) ?? null;
  }

  addPartition(key: FusedRun['key']): RunLists {
    if (this.#partitions.size > 2 * this.open.size + 1_000) {
      for (const [one, lists] of this.#partitions) if (lists.isEmpty) this.#partitions.delete(one);
    }
    const lists = new RunLists(this.#form.isShared);
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
    return this.#completed.shift() ?? null;
  }

  /** Time has passed the run: a closure that was still open gives its match now. */
  #end(run: FusedRun): void {
    const { waits, states } = this.#form.automaton;
    const isMatch = waits && states[run.state]?.pattern.isComplete === true;
    if (isMatch) this.#catchUp(run);
    this.close(run);
    if (isMatch) this.#complete(run, run.base as number);
  }

  #complete(run: FusedRun, time: number): void {
    const counts = this.#ended(run, time);
    if (counts && this.#form.plan.afterMatch === 'skip_past_last') this.endUntil(run.lastAt as number, run.key);
  }

  /** A match ends all runs of its partition that began at or before its last event, and the matches that they would have given. */
  endUntil(lastAt: number, key: FusedRun['key']): void {
    const completed = this.#completed;
    while (completed.length > 0 && (completed[0] as FusedRun).began <= lastAt) completed.shift();
    const { open } = this;
    if (this.#form.key === null) {
      while (open.first !== null && open.first.began <= lastAt) this.close(open.first);
      return;
    }
    const heads = this.partition(key)?.heads ?? [];
    for (let state = 0; state < heads.length; state++) {
      for (let run = heads[state] ?? null; run !== null && run.began <= lastAt; run = heads[state] ?? null) this.close(run);
    }
  }

  /** The run's time has come: its `NOT` has matched, or the run is over. */
  #wake(run: WakingRun): void {
    const { absence, passed } = this.#form.automaton.states[run.state] as AutomatonState;
    const deadline = absence?.until === 'pattern' ? run.last : plus(run.base as number, absence?.withinMs ?? Infinity);
    if (passed === null || deadline > run.wake) this.#end(run);
    else this.#pass(run, passed, run.wake);
  }

  #pass(run: FusedRun, passed: AutomatonState, time: number): void {
    if (passed.isOver) {
      this.close(run);
      this.#complete(run, time);
      return;
    }
    this.#leave(run);
    run.state = passed.id;
    this.#enter(run);
    (this.open as WakingRuns).moved(run as WakingRun);
  }

  #endOfInput(): void {
    for (let run = this.open.first; run !== null; run = this.open.first) {
      const { passed } = this.#form.automaton.states[run.state] as AutomatonState;
      if (passed?.isOver) this.#pass(run, passed, run.base as number);
      else this.#end(run);
    }
  }

  #sharedBy({ home, state }: FusedRun): SharedTakes | null {
    return this.#form.isShared[state] === true ? ((home as RunLists).shared[state] as SharedTakes) : null;
  }

  #catchUp(run: FusedRun): void {
    const shared = this.#sharedBy(run);
    if (shared !== null) (this.#catchUps[run.state] as CatchUp)(run, shared);
  }

  /** Whether all runs of a list take an event of this time: none of them is over by then. Those at its head that are over end. */
  takesAll(lists: RunLists, state: number, time: number): boolean {
    const shared = lists.shared[state] as SharedTakes;
    if (!shared.isOrdered) return false;
    const open = this.open as OpenRuns;
    let head = lists.heads[state] as FusedRun | null;
    for (; head !== null && head.last < time && !open.isAlive(head); head = lists.heads[state] as FusedRun | null) this.close(head);
    shared.least = head?.last ?? Infinity;
    return time <= shared.least;
  }

  /** The run waits from now on in a list whose runs take events together; `events` of closures it holds already. */
  join(run: FusedRun, state: number, events: number): void {
    const { heads, shared } = run.home as RunLists;
    (shared[state] as SharedTakes).join(run, heads[state] === run && run.next === null, this.#form.plan.closureMax - events);
  }

  /** Some runs of a list may have taken more events than a closure may hold. */
  overflowAll(lists: RunLists, state: number): void {
    const shared = lists.shared[state] as SharedTakes;
    shared.fullAt = Infinity;
    for (let run = lists.heads[state] as FusedRun | null; run !== null; ) {
      const { next }: FusedRun = run;
      this.#catchUp(run);
      const spare = this.#form.plan.closureMax - closureEvents(run, this.#form);
      if (spare >= 0) shared.fullAt = Math.min(shared.fullAt, shared.taken + spare);
      else if ((this.open as OpenRuns).isAlive(run)) this.overflow(run);
      else this.close(run);
      run = next;
    }
  }

  close(run: FusedRun): void {
    this.#leave(run);
    this.open.remove(run);
  }

  #leave(run: FusedRun): void {
    const table = this.keyed[run.state] as KeyedRuns | null;
    if (table === null) (run.home as RunLists).remove(run.state, run);
    else table.remove(run);
  }

  /** Arrival number of the event behind what happens now. */
  order(): number {
    return this.#environment.order();
  }

  /** The run has taken more events than a closure may hold. */
  overflow(run: FusedRun): void {
    this.close(run);
    this.#environment.runsDropped('max_closure');
  }

  /** There are more runs than allowed: the oldest go. */
  keepBudget(): void {
    this.open.clean();
    while (this.open.size > this.#form.plan.runsMax) {
      this.close(this.open.first as FusedRun);
      this.#environment.runsDropped('max_runs');
    }
  }

  /** A row is seen once, however many steps read its origin. */
  receivers(origin: string): readonly ((row: Row) => void)[] {
    const lane = this.#form.origins.findIndex((one) => one.origin === origin);
    return [(row) => this.#receive(row, lane)];
  }

  #receive(row: Row, lane: number): void {
    const given = this.#form.origins[lane]?.given ?? [];
    (this.#receivers[lane] as Receive)(row.time, row.order, ...given.map((one) => givenBy(row, one)));
  }

  deadline(): number {
    this.open.clean();
    return this.open.due;
  }

  advance(watermark: number): void {
    this.open.advance(watermark);
    if (watermark === Infinity) this.#endOfInput();
  }

  runsActive(): number {
    this.open.clean();
    return this.open.size;
  }

  save(): Value {
    this.open.clean();
    for (let run = this.open.first; run !== null; run = run.after) this.#catchUp(run);
    return [null, [this.received, new Map(), saveFusedRuns(this.open, this.#form)]];
  }

  load(saved: Value): void {
    const [, [received, , runs]] = saved as unknown as [null, [number, Value, Value]];
    this.received = received;
    loadFusedRuns(runs, this.#form, this.#RunClass as RunClass, (run) => {
      this.#enter(run);
      this.open.add(run);
    });
  }

  /** The run is found from now on where it stands. */
  #enter(run: FusedRun): void {
    const table = this.keyed[run.state] as KeyedRuns | null;
    const home = this.#form.homes[run.state] as Kept | null;
    run.home = home === null ? this.#listsOf(run.key) : (keptIn(run, home) as FusedRun['home']);
    if (table === null) (run.home as RunLists).add(run.state, run);
    else table.add(run);
    if (this.#sharedBy(run) !== null) this.join(run, run.state, closureEvents(run, this.#form));
  }

  #listsOf(key: FusedRun['key']): RunLists {
    return this.#form.key === null ? this.whole : (this.partition(key) ?? this.addPartition(key));
  }

  inspect(): PatternView {
    const matcher = new PatternMatcher(this.#form.plan, this.#environment, () => undefined);
    matcher.load((this.save() as ValueArray)[1] as Value);
    return matcher.inspect();
  }
}

function closureEvents(run: FusedRun, { kept, automaton }: KernelForm): number {
  const counts = kept.filter(({ aspect, slot }) => aspect === 'count' && automaton.isList[slot] === true);
  return counts.reduce((sum, count) => sum + (keptIn(run, count) as number), 0);
}

/** What generated code is given of a row. */
function givenBy(row: Row, given: Given): unknown {
  if (given.of === 'row') return row;
  if (given.of === 'type') return row.type;
  if (given.of === 'causes') return row.causes;
  return asGiven(row.fields.get(given.name) ?? null, given.as);
}

export function asGiven(value: Value, as: Representation): unknown {
  if (as === 'timestamp') return value instanceof Timestamp ? value.ms : null;
  if (as === 'duration') return value instanceof Duration ? value.ms : null;
  return value;
}
