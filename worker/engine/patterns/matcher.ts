import { invariant } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import type { Codec } from '../state/codec.ts';
import { Expiry } from '../state/expiry.ts';
import { justAfter, plus } from '../time/instants.ts';
import type { PatternView } from '../trace/pattern-view.ts';
import { AfterMatch } from './after-match.ts';
import { type Capture, type Captures, compareCaptures, elementsOneByOne, lastCapture, rollBack } from './captures.ts';
import { Completion } from './completion.ts';
import { Lateness } from './lateness.ts';
import { matchRow } from './match-row.ts';
import type { PatternObserver, Sight } from './observer.ts';
import type { PatternMemory } from './pattern-memory.ts';
import { buildPatternTree, listSlots } from './pattern-tree.ts';
import type { Closing, Run } from './run.ts';
import { compareInMatchOrder, RunStore } from './run-store.ts';
import { patternState } from './saved-runs.ts';
import { type Moment, StateSpace } from './state-space.ts';
import { type Arrival, type Decision, type Take, Transition } from './transition.ts';
import { buildWatches, type Relevance, relevanceOf, type Watch } from './watch.ts';

export interface PatternMatcherOptions {
  /**
   * Called for a step with `.print .log .tap` when a run takes an event by it. The row's `bound` is what the run holds, the
   * event included.
   */
  readonly tap?: (step: StepPlan, row: Row) => void;
  /** Finds runs by the equalities they wait for. Off, every waiting run is asked; the matches are the same. @default true */
  readonly isIndexed?: boolean;
  /** Called for each run when it is over, with or without a match, or dropped by the state budget; before its match is emitted. */
  readonly closed?: ((run: Run, closing: Closing | null) => void) | null;
  /** Called for each run whose match an earlier one has ended. */
  readonly skipped?: ((run: Run) => void) | null;
  /** Is told of every event and match. */
  readonly observer?: PatternObserver | null;
}

/** A match on its way out. */
interface Pending {
  readonly run: Run;
  readonly captures: Captures;
  /** Deadline of the absence that completed it. */
  readonly deadline: number | null;
}

/**
 * Finds the matches of a pattern. Rows come in by `receive`, in the order in which they count (with `out_of_order` the
 * stream brings them in order of event time; what comes late is the stream's to judge). Before each row the stream calls
 * `advance` when its watermark has reached `deadline()`; the end of a finite input is `advance(Infinity)`.
 *
 * Matches leave by `emit`, at once and in order: by run in order of beginning, those of one run by their captured events;
 * what one step of time completes by deadline, then by run. Memory is bounded by `runsMax` and `closureMax`; what goes over
 * is dropped, oldest run first, and counted.
 *
 * @see "Efficient Pattern Matching over Event Streams" (SASE+, SIGMOD 2008) for selection policies and Kleene closures.
 */
export class PatternMatcher {
  readonly #plan: PatternPlan;
  readonly #environment: OperatorEnvironment;
  readonly #emit: (match: Row) => void;
  readonly #tap: ((step: StepPlan, row: Row) => void) | null;
  readonly #observer: PatternObserver | null;
  readonly #skipped: ((run: Run) => void) | null;
  readonly #isList: readonly boolean[];
  readonly #space: StateSpace;
  readonly #watches: readonly Watch[];
  readonly #transition: Transition;
  readonly #completion: Completion;
  readonly #afterMatch: AfterMatch;
  readonly #store: RunStore;
  readonly #expiry: Expiry;
  readonly #lateness: Lateness;
  readonly #savedState: Codec<PatternMemory>;
  readonly #relevances = new Map<string, Relevance | null>();
  /** Rows received. */
  #received = 0;

  constructor(plan: PatternPlan, environment: OperatorEnvironment, emit: (match: Row) => void, options: PatternMatcherOptions = {}) {
    invariant(
      plan.steps.every((step) => step.input.operators.length === 0),
      'conditions of a step stand in its where',
    );
    this.#plan = plan;
    this.#environment = environment;
    this.#emit = emit;
    this.#tap = options.tap ?? null;
    this.#observer = options.observer ?? null;
    this.#skipped = options.skipped ?? null;
    const root = buildPatternTree(plan);
    this.#isList = listSlots(root, plan.steps.length);
    this.#completion = new Completion(plan, root, (matches) => environment.runsDropped('subsets_limit', matches));
    this.#space = new StateSpace(plan, root, this.#completion.enumerated);
    this.#watches = buildWatches(plan, environment);
    this.#transition = new Transition(plan, this.#space, this.#watches, environment);
    this.#afterMatch = new AfterMatch(plan, environment);
    this.#store = new RunStore(plan, this.#watches, {
      isIndexed: options.isIndexed ?? true,
      closed: options.closed ?? null,
      wake: (run) => this.#wake(run),
    });
    this.#lateness = new Lateness(plan, this.#space.initial, environment);
    this.#savedState = patternState(this.#space);
    this.#expiry = new Expiry(environment.stream.partition.expireMs, environment.stream.time.outOfOrderMs > 0 ? null : environment);
  }

  /** Rows received. */
  get received(): number {
    return this.#received;
  }

  inspect(): PatternView {
    return { kind: 'pattern', runs: this.#store.all(), first: this.#space.initial.enabledSteps, hasTime: () => true };
  }

  get activeRuns(): number {
    return this.#store.size;
  }

  /**
   * A row arrives. `origin` says where it comes from: `event:<type>`, `stream:<index>`, `late:<index>`,
   * `branch:<index>:<name>`. A condition that fails drops the row for this pattern and is reported.
   */
  receive(row: Row, origin: string): void {
    const relevance = this.#relevance(origin);
    if (relevance === null) return;
    const arrival = { row, at: this.#received + 1, relevance };
    let outcome: Outcome;
    try {
      outcome = this.#decide(arrival);
    } catch (thrown) {
      if (!(thrown instanceof EvaluationError)) throw thrown;
      this.#environment.fail(thrown, row, null);
      return;
    }
    this.#received = arrival.at;
    const completed = this.#carryOut(outcome, arrival);
    if (outcome.isLate) this.#environment.late(row);
    this.#environment.tracer?.pattern(this.#environment.stream.name, this.#store.size, completed);
    this.#observer?.saw(this.#sightOf(arrival, outcome));
  }

  #sightOf({ row, relevance }: Arrival, { key, decisions, openings }: Outcome): Sight {
    const takes = [...decisions.flatMap((decision) => (decision.kind === 'move' ? decision.takes : [])), ...openings];
    return {
      row,
      key,
      relevance,
      watches: this.#watches,
      space: this.#space,
      taken: new Set(takes.map(({ slot }) => slot)),
      runs: [...(this.#store.partition(key)?.runs ?? [])],
      isList: this.#isList,
    };
  }

  #relevance(origin: string): Relevance | null {
    let relevance = this.#relevances.get(origin);
    if (relevance === undefined) {
      relevance = relevanceOf(this.#plan, origin);
      this.#relevances.set(origin, relevance);
    }
    return relevance;
  }

  /** Everything that can fail comes here, before anything changes. */
  #decide(arrival: Arrival): Outcome {
    const key = this.#environment.partition(arrival.row);
    const isForgotten = this.#expiry.isGone(key, arrival.row.time);
    const decisions: Decision[] = [];
    let isTaken = false;
    for (const run of isForgotten ? [] : this.#concerned(key, arrival)) {
      const decision = this.#transition.decide(run, arrival);
      if (decision === null) continue;
      decisions.push(decision);
      isTaken ||= decision.kind === 'move' && decision.takes.length > 0;
    }
    const fitting = this.#transition.open(isTaken, arrival);
    const openings = fitting.filter(({ progress }) => !this.#lateness.isPassed(progress, arrival.row.time));
    const isLate = openings.length < fitting.length || this.#lateness.isLateForLater(arrival);
    return { key, isForgotten, decisions, openings, isLate };
  }

  #concerned(key: string, { row, relevance }: Arrival): readonly Run[] {
    const partition = this.#store.partition(key);
    if (partition === undefined) return [];
    const isAll = this.#plan.selection === 'strict' && relevance.isStepSource;
    return isAll ? [...partition.runs] : partition.concerned(row, relevance, this.#watches);
  }

  /** Gives the number of matches. */
  #carryOut({ key, isForgotten, decisions, openings }: Outcome, arrival: Arrival): number {
    if (isForgotten) this.#forget(key);
    this.#expiry.touch(key, arrival.row.time);
    const pending: Pending[] = [];
    for (const decision of decisions) this.#apply(decision, arrival, pending);
    if (openings.length > 0) {
      const { time } = arrival.row;
      const beginning = { key, began: arrival.at, firstTime: time, lastTime: plus(time, this.#plan.withinMs ?? Infinity) };
      for (const take of openings) this.#taken(this.#store.open(beginning, take.progress), take, arrival, pending);
    }
    const completed = this.#emitAll(this.#plan.selection === 'any' ? distinctInOrder(pending) : pending);
    this.#keepBudget();
    return completed;
  }

  #apply(decision: Decision, arrival: Arrival, pending: Pending[]): void {
    const { run } = decision;
    const isBarred = decision.kind === 'move' && decision.kept?.state.isComplete === false;
    if (isBarred || decision.kind === 'drop') run.accepted = null;
    if (decision.kind === 'drop') this.#store.close(run);
    else if (decision.kind === 'end') this.#end(run, pending);
    else if (this.#plan.selection === 'any' || decision.takes.length === 0) this.#branch(run, decision, arrival, pending);
    else for (const take of decision.takes) this.#taken(run, take, arrival, pending, true);
  }

  /** The run goes on without the event, and under `.stam()` once more with it for every step that takes it. */
  #branch(run: Run, { takes, kept }: Move, arrival: Arrival, pending: Pending[]): void {
    for (const take of takes) this.#taken(this.#store.open(run, take.progress), take, arrival, pending);
    if (kept !== null) this.#store.move(run, kept);
  }

  #taken(run: Run, { slot, progress }: Take, { row }: Arrival, pending: Pending[], isMoving = false): void {
    if (isMoving) this.#store.move(run, progress);
    const step = this.#plan.steps[slot] as StepPlan;
    if (step.taps.length > 0) this.#tap?.(step, { ...row, bound: this.#transition.readable(progress.captures) });
    if (this.#isList[slot] && this.#completion.closureEvents(progress.captures) > this.#plan.closureMax) {
      this.#store.close(run, 'budget');
      this.#environment.runsDropped('max_closure');
      return;
    }
    this.#settle(run, null, pending);
  }

  /** The matches of a run that an event or a deadline has just moved; it is over when nothing more can come. */
  #settle(run: Run, deadline: number | null, pending: Pending[]): void {
    const { state, captures } = run.progress;
    if (!state.isComplete) return;
    const finished = rollBack(captures, state.unfinished);
    const isOver = state.enabledSteps.length === 0;
    if (isOver) this.#store.close(run);
    else if (this.#completion.waitsForTheEnd) {
      run.accepted = finished;
      return;
    }
    this.#matches(run, finished, deadline, pending);
  }

  #matches(run: Run, captures: Captures, deadline: number | null, pending: Pending[]): void {
    for (const match of this.#completion.matchesOf(run, captures)) pending.push({ run, captures: match, deadline });
  }

  /** The run is over; a closure that was still open gives its match now. */
  #end(run: Run, pending: Pending[]): void {
    this.#store.close(run);
    if (run.accepted !== null) this.#matches(run, run.accepted, null, pending);
  }

  /** Emits matches in order, each but for those whose run an earlier one has ended. Gives their number. */
  #emitAll(pending: readonly Pending[]): number {
    const counted: Pending[] = [];
    let emitted = 0;
    for (const match of pending) {
      if (counted.some((earlier) => this.#isEndedBy(match.run, earlier))) continue;
      const { deadline } = match;
      const row = matchRow(this.#plan, this.#environment.stream.name, match.captures, this.#isList, {
        deadline,
        order: this.#environment.order(),
      });
      if (this.#afterMatch.policy !== 'no_skip' && this.#afterMatch.counts(row)) {
        counted.push(match);
        this.#skip(match, pending);
      }
      emitted++;
      this.#emit(row);
      this.#observer?.matched(match.run, row.time);
    }
    return emitted;
  }

  #skip(match: Pending, pending: readonly Pending[]): void {
    if (this.#skipped !== null) {
      const later = new Set(pending.slice(pending.indexOf(match) + 1).map(({ run }) => run));
      for (const run of later) if (!run.isOpen && run !== match.run && this.#isEndedBy(run, match)) this.#skipped(run);
    }
    for (const run of this.#store.partition(match.run.partition.key)?.runs ?? []) {
      if (this.#isEndedBy(run, match)) this.#store.close(run, run === match.run ? 'matched' : 'skipped');
    }
  }

  #isEndedBy(run: Run, match: Pending): boolean {
    return this.#afterMatch.ends(run, match.run.began, (lastCapture(match.captures) as Capture).at);
  }

  #keepBudget(): void {
    while (this.#store.size > this.#plan.runsMax) {
      this.#store.close(this.#store.oldest as Run, 'budget');
      this.#environment.runsDropped('max_runs');
    }
  }

  /** The smallest watermark at which `advance` has something to do. */
  deadline(): number {
    return Math.min(this.#store.due, this.#expiry.deadline());
  }

  /** Time has moved: absences match, runs end, keys expire. `Infinity` is the end of input. */
  advance(watermark: number): void {
    this.#store.advance(watermark);
    if (watermark === Infinity) this.#endOfInput();
    else for (const key of this.#expiry.expired(watermark)) this.#forget(key);
  }

  #wake(run: Run): void {
    const deadline = run.wake;
    if (this.#expiry.isGone(run.partition.key, deadline)) {
      this.#store.close(run, 'expired');
      return;
    }
    const pending: Pending[] = [];
    const isPassed = this.#isMovedByTime(run, { time: justAfter(deadline), isPatternOver: run.lastTime <= deadline });
    // A match does not end before its first event, which may be later than a displaced one behind it.
    if (isPassed) this.#settle(run, Math.max(deadline, run.firstTime), pending);
    else this.#end(run, pending);
    this.#emitAll(pending);
  }

  /** Lets the `NOT`s match whose time is over. */
  #isMovedByTime(run: Run, moment: Moment): boolean {
    const progress = this.#space.pass(run.progress, moment);
    if (progress === run.progress) return false;
    this.#store.move(run, progress);
    return true;
  }

  #endOfInput(): void {
    for (const run of [...this.#store.all()].sort(compareInMatchOrder)) {
      if (!run.isOpen) continue;
      const pending: Pending[] = [];
      if (this.#isMovedByTime(run, { time: Infinity, isPatternOver: true })) this.#settle(run, Infinity, pending);
      if (run.isOpen) this.#end(run, pending);
      this.#emitAll(pending);
    }
  }

  #forget(key: string): void {
    for (const run of this.#store.partition(key)?.runs ?? []) this.#store.close(run, 'expired');
  }

  /** `order`: of the rows that have yet to come here. */
  save(order: PatternMemory['order'] = null): Value {
    return this.#savedState.save({ order, received: this.#received, expiry: this.#expiry.save(), runs: this.#store.all() });
  }

  /** Takes back what `save` gave, into a fresh matcher of the same pattern. Gives the `order`. @throws DamagedState */
  load(saved: Value): PatternMemory['order'] {
    const { order, received, expiry, runs } = this.#savedState.load(saved);
    this.#received = received;
    this.#expiry.load(expiry);
    for (const one of runs) {
      const { progress, accepted, emittedElements, hasMatched } = one;
      const run = this.#store.open(one, { ...progress, captures: elementsOneByOne(progress.captures) });
      Object.assign(run, { accepted: accepted && elementsOneByOne(accepted), emittedElements, hasMatched });
    }
    return order;
  }
}

type Move = Extract<Decision, { kind: 'move' }>;

/** What an event is going to do. */
interface Outcome {
  readonly key: string;
  /** The key's runs have expired. */
  readonly isForgotten: boolean;
  readonly decisions: readonly Decision[];
  readonly openings: readonly Take[];
  /** A run that it could have been in is over. */
  readonly isLate: boolean;
}

/** Branches by beginning and captured events; several ways to read the same events into the pattern are one match. */
function distinctInOrder(pending: readonly Pending[]): readonly Pending[] {
  const sorted = [...pending].sort((a, b) => a.run.began - b.run.began || compareCaptures(a.captures, b.captures));
  return sorted.filter((match, index) => {
    const before = sorted[index - 1];
    return before === undefined || before.run.began !== match.run.began || compareCaptures(before.captures, match.captures) !== 0;
  });
}
