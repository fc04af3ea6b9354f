import type { PatternPlan, PlanExpression, StepPlan } from '../../../../shared/language/plan/plan.ts';
import type { Evaluate, Row } from '../../../../worker/engine/operators/row.ts';
import { type Letter, mayBeEmpty, type Place, placesOf, type Turn } from './words.ts';

/**
 * What a pattern matches, by the words of the reference alone and by brute force: all words that the pattern can spell are
 * written out, and a run is a list of events with the letters that they stand for. Slow and simple on purpose.
 *
 * It covers everything but what a run may leave unfinished under skip till next match (a branch of OR or a round of a
 * group of several events), and `NOT` outside of the outermost sequence; `isCovered` says which patterns those are.
 * Time is that of the latest event so far. Events may be displaced where no step or group has a `within` of its own.
 */
export interface OracleMatch {
  /** By slot, positions of the captured events in the input, from 0. */
  readonly captures: readonly (readonly number[])[];
  readonly time: number;
}

export interface OracleOptions {
  readonly expression: (plan: PlanExpression) => Evaluate;
  readonly partition: (row: Row) => string;
  /** Time moves so far behind the last event; Infinity = the end of input. */
  readonly until: number;
}

interface Taken {
  readonly event: number;
  readonly letter: Letter;
}

interface OracleRun {
  readonly key: string;
  /** Positions of the opening event. */
  readonly began: number;
  readonly taken: readonly Taken[];
  readonly place: Place;
  /** Index of a `NOT` in the outermost sequence that the run cannot get past unless it takes an optional step before. */
  readonly barred: number;
  /** The item that has begun may yet take what puts that off: no more of a closure. */
  readonly isPutOff: boolean;
  /** Time since which a `NOT within` at this index has been over. */
  readonly passed: { readonly index: number; readonly time: number } | null;
  readonly given: number;
  readonly hasMatched: boolean;
  /** What a match would hold that waits for the end of the run. */
  readonly accepted: readonly Taken[] | null;
}

interface Found {
  readonly run: OracleRun;
  readonly captures: readonly (readonly number[])[];
  readonly time: number;
}

export class Oracle {
  readonly #plan: PatternPlan;
  readonly #rows: readonly Row[];
  readonly #options: OracleOptions;
  readonly #root: Place;
  /** Name of the enumerated closure's node in the paths; null = none. */
  readonly #enumerated: string | null;
  readonly #waitsForTheEnd: boolean;
  #runs: OracleRun[] = [];
  #watermark = -Infinity;
  readonly #matches: OracleMatch[] = [];

  constructor(plan: PatternPlan, rows: readonly Row[], options: OracleOptions) {
    this.#plan = { ...plan, root: withoutNesting(plan.root) };
    this.#rows = rows;
    this.#options = options;
    this.#root = placesOf(this.#plan, rows.length + 4);
    this.#enumerated =
      plan.emission === 'longest' || plan.selection === 'any'
        ? null
        : (endingClosureOf(this.#plan.root, this.#plan) ?? firstClosureOf(this.#root));
    const lastTimed = this.#absences().findLast(({ isTimed }) => isTimed)?.index ?? -1;
    const open = [...closuresThatEnd(this.#root)].filter((name) => this.#plan.root.kind !== 'sequence' || indexOf(name) > lastTimed);
    this.#waitsForTheEnd = plan.selection !== 'any' && open.some((name) => name !== this.#enumerated);
  }

  run(): readonly OracleMatch[] {
    this.#rows.forEach((row, event) => {
      this.#watermark = Math.max(this.#watermark, row.time);
      this.#time(this.#watermark);
      this.#event(row, event);
    });
    this.#time(this.#options.until);
    return this.#matches;
  }

  // ---------------------------------------------------------------------------------------------- events

  #event(row: Row, event: number): void {
    const key = this.#options.partition(row);
    const found: Found[] = [];
    const next: OracleRun[] = [];
    let isTakenByAny = false;
    for (const run of this.#runs) {
      if (run.key !== key || this.#isTooEarly(row, run)) {
        next.push(run);
        continue;
      }
      const after = this.#meet(run, row, event);
      isTakenByAny ||= after.some((one) => one.taken.length > run.taken.length);
      for (const one of after) this.#keep(one, one.taken.length > run.taken.length, next, found);
      if (after.length === 0 && this.#endsWithMatch(run, row)) found.push(...this.#acceptedOf(run));
    }
    for (const run of this.#opened(key, row, event, isTakenByAny)) this.#keep(run, true, next, found);
    this.#runs = next;
    this.#give(inOrder(found, this.#plan.selection === 'any'));
  }

  /** `within` bounds the pattern either way. */
  #isTooEarly(row: Row, run: OracleRun): boolean {
    return row.time < this.#rowOf(run.began).time - (this.#plan.withinMs ?? Infinity);
  }

  /** A run goes on, unless it is complete and nothing can follow. */
  #keep(run: OracleRun, hasMoved: boolean, next: OracleRun[], found: Found[], deadline: number | null = null): void {
    if (!hasMoved || !this.#isComplete(run)) {
      next.push(run);
      return;
    }
    const isOver = this.#letters(run).length === 0;
    if (!isOver && this.#waitsForTheEnd) {
      next.push({ ...run, accepted: run.taken });
      return;
    }
    found.push(...this.#matchesOf(run, deadline));
    if (!isOver) next.push({ ...run, given: this.#elements(run), hasMatched: true });
  }

  /** What becomes of a run with an event: none = it ends. */
  #meet(run: OracleRun, row: Row, event: number): readonly OracleRun[] {
    const { steps, cancels } = this.#plan;
    if (cancels.some((cancel) => isFrom(cancel, row) && this.#holds(cancel.where, row, run))) return [];
    if (!steps.some((step) => isFrom(step, row))) return [run];
    const violated = this.#absencesInForce(run).filter(
      ({ index, deadline }) => this.#isInForce(index, deadline, row) && this.#isHit(index, row, run),
    );
    const barred = Math.min(run.barred, ...violated.map(({ index }) => index));
    const isPutOff = violated.length === 0 ? run.isPutOff : (run.barred === Infinity || run.isPutOff) && this.#mayTakeMore(run);
    if (violated.some(({ index, isHeld }) => isHeld || !(isPutOff || this.#hasOptionalBefore(index, run)))) return [];
    const standing = { ...run, barred, isPutOff, accepted: violated.length > 0 ? null : run.accepted };
    const fitting = this.#fitting(standing, row, event);
    if (this.#plan.selection === 'any') return [standing, ...fitting.map(({ run: one }) => one)];
    const [chosen] = fitting;
    if (chosen !== undefined) return this.#isMonotone(run, chosen.letter, row) ? [chosen.run] : [];
    return this.#plan.selection === 'strict' && this.#letters(standing).length > 0 ? [] : [standing];
  }

  /** A held match comes when a strict break or a break of monotony ends its run; a violated `NOT` and a cancel give none. */
  #endsWithMatch(run: OracleRun, row: Row): boolean {
    if (run.accepted === null) return false;
    if (this.#plan.cancels.some((cancel) => isFrom(cancel, row) && this.#holds(cancel.where, row, run))) return false;
    return !this.#absencesInForce(run).some(({ index, deadline }) => this.#isInForce(index, deadline, row) && this.#isHit(index, row, run));
  }

  #opened(key: string, row: Row, event: number, isTakenByAny: boolean): readonly OracleRun[] {
    const empty: OracleRun = {
      key,
      began: event,
      taken: [],
      place: this.#root,
      barred: Infinity,
      isPutOff: false,
      passed: null,
      given: 0,
      hasMatched: false,
      accepted: null,
    };
    const fitting = this.#fitting(empty, row, event).filter(({ letter }) => {
      const isBehindOptional = letter.path.some((turn) => turn.kind === 'sequence' && turn.index > 0);
      return (!isBehindOptional || !isTakenByAny || this.#plan.selection === 'any') && this.#isMonotone(empty, letter, row);
    });
    const opened = (this.#plan.selection === 'any' ? fitting : fitting.slice(0, 1)).map(({ run }) => run);
    return opened.filter((run) => !this.#isOver(run));
  }

  /** Time has passed the run as it begins. */
  #isOver(run: OracleRun): boolean {
    return this.#lastTime(run) < this.#watermark;
  }

  /** The letters that take the event, those to choose first in front. */
  #fitting(run: OracleRun, row: Row, event: number): readonly { readonly letter: Letter; readonly run: OracleRun }[] {
    return this.#letters(run)
      .filter(({ letter }) => {
        const step = this.#plan.steps[letter.slot] as StepPlan;
        return isFrom(step, row) && row.time <= this.#latest(run, letter) && this.#holds(step.where, row, run);
      })
      .sort((a, b) => choose(a.letter, b.letter, run))
      .map(({ letter, place }) => {
        const isPast = topIndex(letter) > this.#position(run) || (run.isPutOff && !beginsElement(letter, run, ['capture', 'round']));
        const isPutOff = !isPast && run.isPutOff && !beginsElement(letter, run, ['round']);
        const barred = isPast ? Infinity : run.barred;
        return { letter, run: { ...run, taken: [...run.taken, { event, letter }], place, barred, isPutOff, passed: null } };
      })
      .filter(({ run: taking }) => this.#mayComplete(taking, event));
  }

  /**
   * Whether all that is missing could still come, at once: where one part of an `AND` is overdue, a run takes no event for the other, and so
   * keeps none from opening a run.
   */
  #mayComplete(run: OracleRun, event: number): boolean {
    if (run.place.isComplete) return true;
    const { time } = this.#rowOf(event);
    return [...run.place.next.values()].some(({ letter, place }) => {
      return time <= this.#latest(run, letter) && this.#mayComplete({ ...run, taken: [...run.taken, { event, letter }], place }, event);
    });
  }

  /** The letters that may come next at all. */
  #letters(run: OracleRun): readonly { readonly letter: Letter; readonly place: Place }[] {
    const isComplete = run.taken.length > 0 && this.#isComplete(run);
    const word = run.taken.map((taken) => taken.letter);
    return [...run.place.next.values()].filter(({ letter }) => {
      if (isComplete && !mayFollow(letter, word)) return false;
      return this.#isReachable(run, topIndex(letter)) && !this.#isLost(run, letter);
    });
  }

  /** Further rounds lead nowhere where a `NOT` bars the way and nothing before it can come but them. */
  #isLost(run: OracleRun, letter: Letter): boolean {
    if (run.barred === Infinity || topIndex(letter) > this.#position(run) || !beginsElement(letter, run, ['round'])) return false;
    return ![...run.place.next.values()].some((other) => {
      const index = topIndex(other.letter);
      return index > this.#position(run) && this.#isReachable(run, index);
    });
  }

  /** Whether the item that has begun may take something else than more of a closure. */
  #mayTakeMore(run: OracleRun): boolean {
    if (run.passed !== null) return false;
    return [...run.place.next.values()].some(({ letter }) => {
      return topIndex(letter) === this.#position(run) && !beginsElement(letter, run, ['capture', 'round']);
    });
  }

  #isComplete(run: OracleRun): boolean {
    return run.place.isComplete && this.#isReachable(run, Infinity);
  }

  /** Whether the run may go to this index of the outermost sequence: past no bar, and past a `NOT within` only when it is over. */
  #isReachable(run: OracleRun, target: number): boolean {
    const position = Math.max(this.#position(run), run.passed?.index ?? -1);
    if (target < position) return false;
    if (run.passed !== null && target === run.passed.index) return false;
    return this.#absences().every(({ index, isTimed }) => {
      if (index <= position || index > target) return true;
      return index < run.barred && !isTimed;
    });
  }

  #position(run: OracleRun): number {
    return Math.max(-1, ...run.taken.map(({ letter }) => topIndex(letter)));
  }

  // ---------------------------------------------------------------------------------------------- absences

  /** The `NOT`s of the outermost sequence. The last one of the pattern without a `within` has the pattern's. */
  #absences(): readonly {
    readonly index: number;
    readonly step: StepPlan;
    readonly all: readonly StepPlan[];
    readonly isTimed: boolean;
    readonly isLast: boolean;
  }[] {
    const { root, steps } = this.#plan;
    const items = root.kind === 'sequence' ? root.items : [root];
    return items.flatMap((item, index) => {
      const all = item.kind === 'step' ? [item.slot, ...(item.others ?? [])].flatMap((slot) => steps[slot] ?? []) : [];
      const [step] = all;
      if (step === undefined || !step.negated) return [];
      const isLast = index === items.length - 1;
      return [{ index, step, all, isTimed: step.withinMs !== null || isLast, isLast }];
    });
  }

  /** In force: those that the run's next step might get past, and those behind it as long as only optional steps have come since. */
  #absencesInForce(run: OracleRun): readonly { readonly index: number; readonly deadline: number; readonly isHeld: boolean }[] {
    const position = Math.max(this.#position(run), run.passed?.index ?? -1);
    if (run.taken.length === 0) return [];
    return this.#absences().flatMap(({ index, isTimed }): { index: number; deadline: number; isHeld: boolean }[] => {
      if (index < position) {
        const isBehindTimed = this.#absences().some((other) => other.isTimed && other.index > index && other.index <= position);
        const isHeld = !isTimed && !isBehindTimed && this.#crossed(index, run) && this.#onlyOptionalSince(index, run);
        return isHeld ? [{ index, deadline: Infinity, isHeld: true }] : [];
      }
      if (index === position || index >= run.barred || !this.#mightPass(index, run)) return [];
      return [{ index, deadline: isTimed ? this.#deadlineOf(index, run) : Infinity, isHeld: false }];
    });
  }

  #crossed(index: number, run: OracleRun): boolean {
    return run.taken.some(({ letter }) => topIndex(letter) < index);
  }

  #onlyOptionalSince(index: number, run: OracleRun): boolean {
    return run.taken.every(({ letter }) => topIndex(letter) < index || this.#isOptional(topIndex(letter)));
  }

  #isOptional(index: number): boolean {
    const { root } = this.#plan;
    if (root.kind !== 'sequence') return false;
    return mayBeEmpty(root.items[index] as typeof root, this.#plan);
  }

  /** Whether the step in front of the `NOT` at `index` is through, and every item between may be left out. */
  #mightPass(index: number, run: OracleRun): boolean {
    const isBetween = (at: number): boolean => at > Math.max(this.#position(run), run.passed?.index ?? -1) && at < index;
    if (this.#absences().some((absence) => absence.isTimed && isBetween(absence.index))) return false;
    const isNegated = (at: number): boolean => this.#absences().some((absence) => absence.index === at);
    for (let at = 0; at < index; at++) if (isBetween(at) && !isNegated(at) && !this.#isOptional(at)) return false;
    const goesOn = [...run.place.next.values()].some(({ letter }) => topIndex(letter) > index);
    return goesOn || run.place.isComplete;
  }

  #hasOptionalBefore(index: number, run: OracleRun): boolean {
    const isNegated = (at: number): boolean => this.#absences().some((absence) => absence.index === at);
    for (let at = this.#position(run) + 1; at < index; at++) if (!isNegated(at)) return true;
    return false;
  }

  #isInForce(index: number, deadline: number, row: Row): boolean {
    const { step } = this.#absences().find((absence) => absence.index === index) as { step: StepPlan };
    return row.time <= deadline && (step.withinMs === null || row.time >= deadline - 2 * step.withinMs);
  }

  #isHit(index: number, row: Row, run: OracleRun): boolean {
    const { all } = this.#absences().find((absence) => absence.index === index) as { all: readonly StepPlan[] };
    return all.some((step) => isFrom(step, row) && this.#holds(step.where, row, run));
  }

  /** One that has the pattern's deadline does not end before the `NOT within` in front of it. */
  #deadlineOf(index: number, run: OracleRun): number {
    const { step } = this.#absences().find((absence) => absence.index === index) as { step: StepPlan };
    if (step.withinMs === null) {
      return Math.max(this.#rowOf(run.began).time + (this.#plan.withinMs ?? Infinity), run.passed?.time ?? -Infinity);
    }
    const since = run.passed?.time ?? this.#rowOf((run.taken.at(-1) as Taken).event).time;
    return since + step.withinMs;
  }

  // ---------------------------------------------------------------------------------------------- time

  /** Everything due before `time`, by deadline, then by run. */
  #time(time: number): void {
    for (;;) {
      const due = this.#runs
        .map((run) => ({ run, due: this.#dueAt(run) }))
        .filter(({ due }) => due < time || time === Infinity)
        // A match does not end before its first event, which may be later than a displaced one behind it.
        .map(({ run, due }) => ({ run, due, at: Math.max(due, this.#rowOf(run.began).time) }))
        .sort(
          (a, b) =>
            order(a.due, b.due) || a.run.began - b.run.began || compare(capturesOf(a.run, this.#plan), capturesOf(b.run, this.#plan)),
        );
      const [first] = due;
      if (first === undefined) return;
      this.#runs = this.#runs.filter((run) => run !== first.run);
      this.#give(this.#lapse(first.run, first.at));
    }
  }

  /** When the next thing happens to a run by time alone: a `NOT within` is over, or nothing can be taken any more. */
  #dueAt(run: OracleRun): number {
    const timed = this.#absencesInForce(run).filter(({ index }) =>
      this.#absences().some((absence) => absence.index === index && absence.isTimed),
    );
    return Math.min(...timed.map(({ deadline }) => deadline), this.#lastChance(run));
  }

  /** The last time at which the run can take anything; runs that only wait for a `NOT` take nothing. */
  #lastChance(run: OracleRun): number {
    const letters = this.#letters(run);
    if (letters.length === 0) return Infinity;
    if (!this.#isComplete(run) && run.accepted === null) return this.#needsEvent(run) ? this.#lastTime(run) : Infinity;
    return Math.max(...letters.map(({ letter }) => this.#latest(run, letter)));
  }

  /** Time alone does not complete it: no `NOT` that ends by time is next. */
  #needsEvent(run: OracleRun): boolean {
    return !this.#absencesInForce(run).some(
      ({ index, isHeld }) => !isHeld && this.#absences().some((one) => one.index === index && one.isTimed),
    );
  }

  #lastTime(run: OracleRun): number {
    return this.#rowOf(run.began).time + (this.#plan.withinMs ?? Infinity);
  }

  #lapse(run: OracleRun, at: number): readonly Found[] {
    const [over] = this.#absencesInForce(run).filter(({ index, deadline }) => {
      return deadline <= at && this.#absences().some((absence) => absence.index === index && absence.isTimed);
    });
    if (over === undefined) return this.#acceptedOf(run);
    const passed = { ...run, passed: { index: over.index, time: over.deadline }, barred: Infinity };
    const found: Found[] = [];
    this.#keep(passed, true, this.#runs, found, at < Infinity ? at : null);
    this.#runs.sort((a, b) => a.began - b.began);
    return found;
  }

  /** The last time at which this letter can be taken: all the `within`s that bound it. */
  #latest(run: OracleRun, letter: Letter): number {
    const first = run.taken[0];
    let latest = first === undefined ? Infinity : this.#rowOf(first.event).time + (this.#plan.withinMs ?? Infinity);
    const own = (this.#plan.steps[letter.slot] as StepPlan).withinMs;
    const before = [...run.taken].reverse().find((taken) => divergence(taken.letter, letter)?.[0].kind !== 'and');
    const since = run.passed?.time ?? (before === undefined ? Infinity : this.#rowOf(before.event).time);
    if (own !== null) latest = Math.min(latest, since + own);
    for (const { name, withinMs } of groupsAround(this.#plan, letter)) {
      const start = run.taken.find((taken) => taken.letter.path.some((turn) => turn.node === name));
      if (start !== undefined) latest = Math.min(latest, this.#rowOf(start.event).time + withinMs);
    }
    return latest;
  }

  // ---------------------------------------------------------------------------------------------- conditions

  #holds(where: PlanExpression | null, row: Row, run: OracleRun): boolean {
    if (where === null) return true;
    const bound = capturesOf(run, this.#plan).map((events) => events.map((event) => this.#rowOf(event)));
    return this.#options.expression(where)({ row, bound, aggregates: [], locals: [] }) === true;
  }

  #isMonotone(run: OracleRun, letter: Letter, row: Row): boolean {
    const { monotone } = this.#plan;
    if (monotone === null || monotone.slot !== letter.slot) return true;
    const previous = capturesOf(run, this.#plan)[monotone.slot]?.at(-1);
    const value = row.fields.get('v') ?? null;
    if (previous === undefined || value === null) return value !== null;
    const before = this.#rowOf(previous).fields.get('v') ?? null;
    return monotone.direction === 'increasing' ? Number(value) > Number(before) : Number(value) < Number(before);
  }

  #rowOf(event: number): Row {
    return this.#rows[event] as Row;
  }

  // ---------------------------------------------------------------------------------------------- matches

  #elements(run: OracleRun): number {
    return new Set(run.taken.map((taken) => elementOf(taken.letter, this.#enumerated)).filter((element) => element >= 0)).size;
  }

  #acceptedOf(run: OracleRun): readonly Found[] {
    return run.accepted === null ? [] : this.#matchesOf({ ...run, taken: run.accepted }, null);
  }

  #matchesOf(run: OracleRun, deadline: number | null): readonly Found[] {
    return this.#selections(run).map((taken) => {
      const last = Math.max(...taken.map(({ event }) => event));
      return { run, captures: capturesOf({ ...run, taken }, this.#plan), time: deadline ?? this.#rowOf(last).time };
    });
  }

  /** The events of each match that is new: all, the beginnings, or the subsets of the enumerated closure. */
  #selections(run: OracleRun): readonly (readonly Taken[])[] {
    if (this.#enumerated === null) return [run.taken];
    const count = this.#elements(run);
    const bounds = run.taken.flatMap(({ letter }) => letter.path.filter((turn) => turn.node === this.#enumerated));
    const min = Math.max(1, bounds[0]?.min ?? 1);
    if (this.#plan.emission === 'each') {
      if (count === 0) return run.hasMatched ? [] : [run.taken];
      const sizes = Array.from({ length: count }, (_, index) => index + 1).filter((size) => size > run.given && size >= min);
      return sizes.map((size) => run.taken.filter(({ letter }) => elementOf(letter, this.#enumerated) < size));
    }
    if (count === 0) return run.hasMatched || minOfClosure(this.#root, this.#enumerated) === 0 ? [] : [run.taken];
    return discovered(count)
      .filter((subset) => Math.max(...subset) >= run.given && subset.length >= min)
      .slice(0, this.#plan.subsetsMax)
      .map((subset) =>
        run.taken.filter(({ letter }) => elementOf(letter, this.#enumerated) < 0 || subset.includes(elementOf(letter, this.#enumerated))),
      );
  }

  #give(found: readonly Found[]): void {
    const counted: Found[] = [];
    for (const match of found) {
      if (counted.some((earlier) => this.#isEnded(match.run, earlier))) continue;
      counted.push(match);
      this.#matches.push({ captures: match.captures, time: match.time });
    }
    this.#runs = this.#runs.filter((run) => !counted.some((match) => run.key === match.run.key && this.#isEnded(run, match)));
  }

  #isEnded(run: OracleRun, match: Found): boolean {
    if (this.#plan.afterMatch === 'no_skip') return false;
    if (this.#plan.afterMatch === 'skip_to_next') return run.began === match.run.began;
    return run.began <= Math.max(...match.captures.flat());
  }
}

/** Whether brute force knows what the pattern means; see the head of the class. */
export function isCovered(plan: PatternPlan): boolean {
  const { root } = plan;
  const items = root.kind === 'sequence' ? root.items : [root];
  return items.every((item) => item.kind === 'step' || isPlain(item, plan));
}

function isPlain(node: PatternPlan['root'], plan: PatternPlan): boolean {
  const isSingle = (item: PatternPlan['root']): boolean => item.kind === 'step' && (plan.steps[item.slot] as StepPlan).max === 1;
  const isOneEvent = (item: PatternPlan['root']): boolean => item.kind === 'step' && (plan.steps[item.slot] as StepPlan).min <= 1;
  switch (node.kind) {
    case 'step':
      return !(plan.steps[node.slot] as StepPlan).negated;
    case 'or':
      return node.items.every((item) => isPlain(item, plan) && (plan.selection !== 'next' || isOneEvent(item)));
    case 'group':
      return isPlain(node.item, plan) && (plan.selection !== 'next' || (node.min === 1 && node.max === 1) || isSingle(node.item));
    default:
      return node.items.every((item) => isPlain(item, plan));
  }
}

/** Brackets around a sequence, or around a group that says nothing, mean nothing. */
function withoutNesting(node: PatternPlan['root']): PatternPlan['root'] {
  if (node.kind === 'group' && node.min === 1 && node.max === 1 && node.withinMs === null) return withoutNesting(node.item);
  if (node.kind !== 'sequence') return node;
  const items = node.items.map(withoutNesting).flatMap((item) => (item.kind === 'sequence' ? item.items : [item]));
  return { kind: 'sequence', items };
}

function isFrom({ input }: { readonly input: StepPlan['input'] }, row: Row): boolean {
  return input.from.kind === 'event' && input.from.types.includes(row.type);
}

function topIndex(letter: Letter): number {
  const [first] = letter.path;
  return first?.kind === 'sequence' && first.node === 'p' ? first.index : 0;
}

/** Where the ways to two letters part: the turns that they take there. */
function divergence(a: Letter, b: Letter): readonly [Turn, Turn, number] | null {
  for (let depth = 0; depth < Math.min(a.path.length, b.path.length); depth++) {
    const [left, right] = [a.path[depth] as Turn, b.path[depth] as Turn];
    if (left.index !== right.index) return [left, right, depth];
  }
  return null;
}

/** Behind a complete word only closures follow, and none that lies in something optional that has not begun. */
function mayFollow(letter: Letter, word: readonly Letter[]): boolean {
  const closure = letter.path.findIndex((turn) => turn.max > 1);
  const isBegun = ({ node, index }: Turn): boolean =>
    word.some(({ path }) => path.some((turn) => turn.node === node && turn.index === index));
  return closure >= 0 && letter.path.slice(0, closure).every((turn) => turn.mayBeEmpty || isBegun(turn));
}

/**
 * Which of two letters takes an event that fits both. Where their ways part, one that prolongs a closure with enough
 * elements gives way; else the order is that in which they are written.
 */
function choose(a: Letter, b: Letter, run: OracleRun): number {
  const parting = divergence(a, b);
  if (parting === null) return 0;
  const [left, right, depth] = parting;
  const order = Number(prolongs(a, depth, run)) - Number(prolongs(b, depth, run));
  return order || left.index - right.index;
}

/** Whether a letter lies, below this depth of its way, in a further element of a closure that has enough. */
function prolongs(letter: Letter, depth: number, run: OracleRun): boolean {
  return letter.path.some((turn, at) => {
    const isClosure = turn.kind === 'capture' || turn.kind === 'round';
    return isClosure && at > depth && turn.max > 1 && completeElements(letter, at, run) >= Math.max(1, turn.min);
  });
}

/** Whether a letter begins a further element of a closure of these kinds that has enough. */
function beginsElement(letter: Letter, run: OracleRun, kinds: readonly Turn['kind'][]): boolean {
  return letter.path.some((turn, at) => {
    if (at === 0 || !kinds.includes(turn.kind) || turn.max <= 1) return false;
    const isBegun = run.taken.some(({ letter: other }) =>
      letter.path.slice(0, at + 1).every((one, depth) => isSameTurn(other.path[depth], one)),
    );
    return !isBegun && completeElements(letter, at, run) >= Math.max(1, turn.min);
  });
}

function isSameTurn(a: Turn | undefined, b: Turn): boolean {
  return a?.node === b.node && a.index === b.index;
}

/** How many complete elements the run has of the closure at this depth of the letter's way. */
function completeElements(letter: Letter, at: number, run: OracleRun): number {
  const turn = letter.path[at] as Turn;
  const samePrefix = (other: Letter): boolean => letter.path.slice(0, at).every((one, depth) => other.path[depth]?.index === one.index);
  const elements = new Set(
    run.taken
      .filter(({ letter: other }) => samePrefix(other) && other.path[at]?.node === turn.node)
      .map(({ letter: other }) => other.path[at]?.index),
  );
  if (turn.kind === 'capture' || elements.size === 0) return elements.size;
  return isRoundComplete(letter, at, Math.max(...([...elements] as number[])), run) ? elements.size : elements.size - 1;
}

/** The newest round is complete when another could begin, or something behind the group could come. */
function isRoundComplete(letter: Letter, at: number, round: number, run: OracleRun): boolean {
  if (run.place.isComplete) return true;
  return [...run.place.next.values()].some(({ letter: next }) => {
    const leaves = letter.path.slice(0, at).some((turn, depth) => turn.kind !== 'and' && next.path[depth]?.index !== turn.index);
    const isAnotherRound = !leaves && (next.path[at]?.index ?? round) > round && next.path[at]?.node === letter.path[at]?.node;
    return leaves || isAnotherRound;
  });
}

function capturesOf(run: Pick<OracleRun, 'taken'>, plan: PatternPlan): readonly (readonly number[])[] {
  return plan.steps.map((step) => run.taken.filter(({ letter }) => letter.slot === step.slot).map(({ event }) => event));
}

function inOrder(found: readonly Found[], isBranching: boolean): readonly Found[] {
  if (!isBranching) return found;
  const sorted = [...found].sort((a, b) => a.run.began - b.run.began || compare(a.captures, b.captures));
  return sorted.filter((match, index) => {
    const before = sorted[index - 1];
    return before === undefined || before.run.began !== match.run.began || compare(before.captures, match.captures) !== 0;
  });
}

function compare(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  for (let slot = 0; slot < a.length; slot++) {
    const [left, right] = [a[slot] as readonly number[], b[slot] as readonly number[]];
    for (let index = 0; index < Math.min(left.length, right.length); index++) {
      if (left[index] !== right[index]) return (left[index] as number) - (right[index] as number);
    }
    if (left.length !== right.length) return left.length - right.length;
  }
  return 0;
}

function order(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** In order of discovery: the new element alone, then added to each earlier subset. */
function discovered(count: number): readonly (readonly number[])[] {
  const subsets: number[][] = [];
  for (let element = 0; element < count; element++) subsets.push(...[[], ...subsets].map((earlier) => [...earlier, element]));
  return subsets;
}

function elementOf(letter: Letter, closure: string | null): number {
  return letter.path.find((turn) => turn.node === closure && (turn.kind === 'capture' || turn.kind === 'round'))?.index ?? -1;
}

function* everyLetter(place: Place): Generator<Letter> {
  for (const { letter, place: next } of place.next.values()) {
    yield letter;
    yield* everyLetter(next);
  }
}

/** The closure written first, an outer one before those in it. */
function firstClosureOf(root: Place): string | null {
  let first: { readonly slot: number; readonly name: string } | null = null;
  for (const letter of everyLetter(root)) {
    const turn = letter.path.find((one) => (one.kind === 'capture' || one.kind === 'round') && one.max > 1);
    if (turn !== undefined && (first === null || letter.slot < first.slot)) first = { slot: letter.slot, name: turn.node };
  }
  return first?.name ?? null;
}

/** The closure with nothing that must come and no `NOT` behind it: of several branches the first, an outer one before those in it. */
function endingClosureOf(node: PatternPlan['root'], plan: PatternPlan, name = 'p'): string | null {
  const inItem = (item: PatternPlan['root'], index: number): string | null => endingClosureOf(item, plan, `${name}.${index}`);
  if (node.kind === 'step') {
    const { negated, max } = plan.steps[node.slot] as StepPlan;
    return !negated && max > 1 ? name : null;
  }
  if (node.kind === 'group') return node.max > 1 ? name : inItem(node.item, 0);
  if (node.kind !== 'sequence') return node.items.map(inItem).find((closure) => closure !== null) ?? null;
  for (const [index, item] of [...node.items.entries()].reverse()) {
    const found = inItem(item, index);
    const isAbsence = item.kind === 'step' && plan.steps[item.slot]?.negated === true;
    if (found !== null || isAbsence || !mayBeEmpty(item, plan)) return found;
  }
  return null;
}

/** In which item of the outermost sequence the node with this name lies. */
function indexOf(name: string): number {
  return Number(name.split('.')[1]);
}

function minOfClosure(root: Place, name: string): number {
  for (const letter of everyLetter(root)) {
    const turn = letter.path.find((one) => one.node === name && (one.kind === 'capture' || one.kind === 'round'));
    if (turn !== undefined) return turn.min;
  }
  return 0;
}

/** The closures that a letter may add an element to when a word is complete without it. */
function closuresThatEnd(place: Place, word: readonly Letter[] = [], found: Set<string> = new Set()): ReadonlySet<string> {
  for (const { letter, place: next } of place.next.values()) {
    const isNew = (turn: Turn): boolean => !word.some(({ path }) => path.some((one) => one.node === turn.node && one.index === turn.index));
    const closure = letter.path.find((turn) => (turn.kind === 'capture' || turn.kind === 'round') && turn.max > 1 && isNew(turn));
    const mayTake = word.length > 0 && place.isComplete && mayFollow(letter, word);
    if (mayTake && closure !== undefined) found.add(closure.node);
    closuresThatEnd(next, [...word, letter], found);
  }
  return found;
}

function groupsAround(plan: PatternPlan, letter: Letter): readonly { readonly name: string; readonly withinMs: number }[] {
  const found: { name: string; withinMs: number }[] = [];
  const visit = (node: PatternPlan['root'], name: string): void => {
    if (node.kind === 'step') return;
    if (node.kind === 'group') {
      if (node.withinMs !== null) found.push({ name, withinMs: node.withinMs });
      const turn = letter.path.find((one) => one.node === name);
      visit(node.item, `${name}.${turn?.index ?? 0}`);
      return;
    }
    for (const [index, item] of node.items.entries()) visit(item, `${name}.${index}`);
  };
  visit(plan.root, 'p');
  return found.filter(({ name }) => letter.path.some((turn) => turn.node === name));
}
