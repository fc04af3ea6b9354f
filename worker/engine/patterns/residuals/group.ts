import type { Value } from '../../../../shared/events/value.ts';
import { anyValue, count, flag, list, number, orAbsent, orNull, record } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import { type Mark, markOf } from '../captures.ts';
import type { GroupNode } from '../pattern-tree.ts';
import {
  type Absence,
  type Ahead,
  type Change,
  type EnabledStep,
  earliestFrom,
  inOrderOfChoice,
  isKept,
  latestOf,
  mayTakeMore,
  NO_ABSENCES,
  NO_MARKS,
  NO_OUTLOOK,
  NO_STEPS,
  type Outlook,
  type Passing,
  type Residual,
  type ResidualFactory,
  type RunContext,
  type Taking,
  unchanged,
} from '../residual.ts';

interface State {
  /** Complete rounds before the current one; of any number, not more than are enough. */
  readonly done: number;
  /** What is left of the current round; null before the first, and after a round that came to nothing. */
  readonly round: Residual | null;
  /** Time of the last step of the rounds done, or of the step before the group. */
  readonly since: number;
  /** Time of the group's first event; Infinity before. */
  readonly firstTime: number;
  /** Where the captures stood before the current round; null when the round must be finished. */
  readonly mark: Mark | null;
  /** The round behind the current one, where `NOT`s have made something of it; null = nothing. */
  readonly next: Ahead | null;
  /** The current round may yet take what puts off the violated `NOT`s of the next. */
  readonly isPutOff: boolean;
}

/** `round`: as the group's item saves it. `lengths`: of the mark. `next`: left out where there is none. */
const savedState = record({
  done: count,
  round: anyValue,
  since: number,
  firstTime: number,
  lengths: orNull(list(count)),
  next: orAbsent(record({ residual: anyValue, isViolated: flag, isPutOff: flag })),
});

interface GroupChange extends Change {
  readonly residual: GroupResidual;
}

const NO_NEXT = { next: null, isPutOff: false };
/** Of a round that can begin no more. */
const NOTHING_MORE: Outlook = { enabledSteps: NO_STEPS, dueTime: -Infinity, needsEvent: true };

/**
 * A group with a quantifier or a `within`: rounds of its item. A round that has only begun may be left out once there are
 * enough rounds, except where that is binding.
 */
export class GroupResidual implements Residual {
  readonly #node: GroupNode;
  readonly #factory: ResidualFactory;
  readonly #state: State;

  private constructor(node: GroupNode, factory: ResidualFactory, state: State) {
    this.#node = node;
    this.#factory = factory;
    this.#state = state;
  }

  static begin(node: GroupNode, factory: ResidualFactory, since: number): GroupResidual {
    return new GroupResidual(node, factory, { done: 0, round: null, since, firstTime: Infinity, mark: null, next: null, isPutOff: false });
  }

  static load(node: GroupNode, factory: ResidualFactory, saved: Value): GroupResidual {
    const { done, round, since, firstTime, lengths, next } = savedState.load(saved);
    const loaded = (residual: Value): Residual | null => (residual === null ? null : factory.load(node.item, residual));
    return new GroupResidual(node, factory, {
      done,
      round: loaded(round),
      since,
      firstTime,
      mark: lengths && { firstSlot: node.firstSlot, lengths },
      next: next === undefined ? null : { residual: loaded(next.residual), isViolated: next.isViolated },
      isPutOff: next?.isPutOff ?? false,
    });
  }

  get isComplete(): boolean {
    return this.#canLeaveRound && this.#rounds >= this.#node.min;
  }

  get endTime(): number {
    const { round, since } = this.#state;
    return round?.isComplete ? round.endTime : since;
  }

  /** Complete rounds, the current one included. */
  get #rounds(): number {
    return this.#state.done + (this.#state.round?.isComplete ? 1 : 0);
  }

  get #canLeaveRound(): boolean {
    const { round, mark } = this.#state;
    return round === null || round.isComplete || mark !== null;
  }

  /** Rounds that may come to nothing settle nothing. */
  get isSettled(): boolean {
    const { done, round } = this.#state;
    return (done > 0 && !this.#node.item.isNullable) || (round?.isSettled === true && !this.#mayDropRound(round));
  }

  #mayDropRound(round: Residual): boolean {
    const { done, mark } = this.#state;
    return mark !== null && done >= this.#node.min && !(round.isComplete && round.absences().length === 0);
  }

  outlook(context: RunContext): Outlook {
    const inner = this.#innerContext(context);
    const { round } = this.#state;
    const own = round?.outlook(inner) ?? NO_OUTLOOK;
    if (round !== null && !round.isComplete) return this.#outlook(own.enabledSteps, NO_STEPS, own);
    if (this.#rounds >= this.#node.max) return this.#outlook(own.enabledSteps, NO_STEPS, NO_OUTLOOK);
    const fresh = this.#nextBegun?.outlook(inner) ?? NOTHING_MORE;
    const dueTime = Math.max(latestOf(own.enabledSteps), fresh.dueTime);
    return this.#outlook(own.enabledSteps, this.#freshOffers(fresh.enabledSteps, inner), { dueTime, needsEvent: fresh.needsEvent });
  }

  /** The next round, not yet begun; null where there can be none. */
  get #nextBegun(): Residual | null {
    const { round, next } = this.#state;
    if ((round !== null && !round.isComplete) || this.#rounds >= this.#node.max) return null;
    return next === null ? this.#factory.begin(this.#node.item, this.endTime) : next.residual;
  }

  /** `unlessComplete`: what holds as long as the group is not complete. */
  #outlook(
    inRound: readonly EnabledStep[],
    fresh: readonly EnabledStep[],
    unlessComplete: Pick<Outlook, 'dueTime' | 'needsEvent'>,
  ): Outlook {
    const { dueTime, needsEvent } = this.isComplete ? NO_OUTLOOK : unlessComplete;
    return { enabledSteps: this.#inOrder(inRound, fresh), dueTime, needsEvent };
  }

  /** Only where rounds repeat does the step behind take an event first that fits the group too. */
  #inOrder(inRound: readonly EnabledStep[], fresh: readonly EnabledStep[]): readonly EnabledStep[] {
    const own = inRound.map((enabled) => this.#continuing(enabled));
    const enabledSteps = [...own.filter((enabled) => !enabled.isRepeat), ...fresh, ...own.filter((enabled) => enabled.isRepeat)];
    const isOpen = this.#node.max > 1 && this.#rounds >= Math.max(1, this.#node.min);
    return isOpen ? enabledSteps.map((enabled) => ({ ...enabled, isRepeat: true })) : inOrderOfChoice(enabledSteps);
  }

  #innerContext(context: RunContext): RunContext {
    return {
      ...context,
      earliestTime: Math.max(context.earliestTime, earliestFrom(this.#state.firstTime, this.#node.withinMs)),
      latestTime: Math.min(context.latestTime, plus(this.#state.firstTime, this.#node.withinMs)),
      isClosuresOnly: context.isClosuresOnly && this.#node.max === 1,
    };
  }

  #continuing(enabled: EnabledStep): EnabledStep {
    return { ...enabled, element: this.#elementOf(enabled, 'same'), take: (taking) => this.#takeInRound(enabled, taking) };
  }

  #takeInRound(enabled: EnabledStep, taking: Taking): GroupResidual {
    const round = enabled.take(taking);
    const firstTime = this.#state.firstTime === Infinity ? taking.time : this.#state.firstTime;
    return this.#with({ round, firstTime, ...this.#nextBehind(enabled, round, taking) });
  }

  /** What becomes of the next round when one, which lies before it, has taken an event. */
  #nextBehind(enabled: EnabledStep, round: Residual, taking: Taking): Pick<State, 'next' | 'isPutOff'> {
    const { next, isPutOff } = this.#state;
    if (next === null || !next.isViolated) return NO_NEXT;
    if (isPutOff && enabled.prolongs === 'nothing' && isKept(this.#with({ round }), enabled, taking)) return NO_NEXT;
    return { next, isPutOff: isPutOff && enabled.prolongs !== 'rounds' };
  }

  #freshOffers(enabledSteps: readonly EnabledStep[], context: RunContext): readonly EnabledStep[] {
    if (context.isClosuresOnly && !this.#node.item.isNullable) return NO_STEPS;
    const discards = this.#state.round?.unfinished() ?? NO_MARKS;
    const prolongs = this.#rounds >= Math.max(1, this.#node.min) ? 'rounds' : 'nothing';
    return enabledSteps.map((enabled) => ({
      ...enabled,
      prolongs,
      element: this.#elementOf(enabled, 'new'),
      discards: [...discards, ...enabled.discards],
      take: (taking) => this.#nextRound(enabled, taking, context.isBinding),
    }));
  }

  #nextRound(enabled: EnabledStep, taking: Taking, isBinding: boolean): GroupResidual {
    const { firstSlot, endSlot, min } = this.#node;
    const { next } = this.#state;
    const mark = isBinding ? null : markOf(taking.captures, firstSlot, endSlot);
    const round = enabled.take(taking);
    const begun = this.#with({
      done: this.#doneWithCurrent,
      since: this.endTime,
      firstTime: this.#state.firstTime === Infinity ? taking.time : this.#state.firstTime,
      mark,
      round,
      ...NO_NEXT,
    });
    const mayEndInNothing = next?.isViolated === true && mark !== null && this.#rounds >= min && !round.isComplete;
    return mayEndInNothing ? begun.#with({ next, isPutOff: true }) : begun;
  }

  get #doneWithCurrent(): number {
    const { min, max } = this.#node;
    return max === Infinity ? Math.min(this.#rounds, Math.max(min, 1)) : this.#rounds;
  }

  #elementOf(enabled: EnabledStep, element: 'new' | 'same'): EnabledStep['element'] {
    return this.#factory.enumerated === this.#node ? element : enabled.element;
  }

  #with(changes: Partial<State>): GroupResidual {
    return new GroupResidual(this.#node, this.#factory, { ...this.#state, ...changes });
  }

  absences(): readonly Absence[] {
    const own = this.#state.round?.absences() ?? NO_ABSENCES;
    return this.#node.beginsWithNot ? [...own, ...(this.#nextBegun?.absences() ?? NO_ABSENCES)] : own;
  }

  violate(isViolated: (slot: number) => boolean): Change | null {
    const change = this.#violateRound(isViolated);
    if (change === null || !this.#node.beginsWithNot) return change;
    const residual = change.residual.#violateNext(isViolated);
    return residual && { residual, discards: change.discards };
  }

  #violateRound(isViolated: (slot: number) => boolean): GroupChange | null {
    const { round, mark, done } = this.#state;
    if (round === null) return { residual: this, discards: NO_MARKS };
    const change = round.violate(isViolated);
    if (change !== null) return this.#after(change);
    if (mark === null || done < this.#node.min) return null;
    return { residual: this.#with({ round: null, mark: null }), discards: [mark] };
  }

  /** Null when the rounds are too few and there can be no other. */
  #violateNext(isViolated: (slot: number) => boolean): GroupResidual | null {
    const begun = this.#nextBegun;
    if (begun === null || !begun.absences().some(({ slot }) => isViolated(slot))) return this;
    const { round, next, isPutOff: wasPutOff } = this.#state;
    const residual = begun.violate(isViolated)?.residual ?? null;
    const isPutOff = (next?.isViolated !== true || wasPutOff) && round !== null && mayTakeMore(round);
    const violated = this.#with({ next: { residual, isViolated: true }, isPutOff });
    return residual !== null || isPutOff || violated.isComplete ? violated : null;
  }

  /** The round must be finished. */
  settle(): Change | null {
    if (this.isSettled) return unchanged(this);
    const change = this.#state.round?.settle() ?? null;
    return change && { residual: this.#with({ round: change.residual, mark: null }), discards: change.discards };
  }

  pass(passing: Passing): Change {
    const { round } = this.#state;
    const change = round === null ? { residual: this, discards: NO_MARKS } : this.#after(round.pass(passing));
    if (!this.#node.beginsWithNot) return change;
    return { residual: change.residual.#passNext(passing), discards: change.discards };
  }

  /** A round that time alone has completed counts as long as there are too few. */
  #passNext(passing: Passing): GroupResidual {
    const begun = this.#nextBegun;
    const residual = begun?.pass(passing).residual ?? null;
    if (begun === null || residual === null || residual === begun) return this;
    const { next } = this.#state;
    if (!residual.isComplete || begun.isComplete || this.#rounds >= Math.max(1, this.#node.min)) {
      return this.#with({ next: { residual, isViolated: next?.isViolated ?? false } });
    }
    const counted = { done: this.#doneWithCurrent, since: this.endTime, mark: null, round: residual };
    return this.#with({ ...counted, ...NO_NEXT }).#passNext(passing);
  }

  #after(change: Change): GroupChange {
    if (change.residual === this.#state.round) return { residual: this, discards: NO_MARKS };
    return { residual: this.#with({ round: change.residual }), discards: change.discards };
  }

  unfinished(): readonly Mark[] {
    const { round, mark } = this.#state;
    if (round === null || mark === null) return round?.unfinished() ?? NO_MARKS;
    return round.isComplete ? round.unfinished() : [mark];
  }

  save(): Value {
    const { done, round, since, firstTime, mark, next, isPutOff } = this.#state;
    return savedState.save({
      ...{ done, round: round?.save() ?? null, since, firstTime, lengths: mark?.lengths ?? null },
      next: next === null ? undefined : { residual: next.residual?.save() ?? null, isViolated: next.isViolated, isPutOff },
    });
  }
}
