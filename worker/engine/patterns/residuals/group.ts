import type { Value } from '../../../../shared/events/value.ts';
import { anyValue, count, list, number, orNull, record } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import { type Mark, markOf } from '../captures.ts';
import type { GroupNode } from '../pattern-tree.ts';
import {
  type Absence,
  type Change,
  type EnabledStep,
  earliestFrom,
  inOrderOfChoice,
  latestOf,
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
}

/** `round`: as the group's item saves it. `lengths`: of the mark. */
const savedState = record({ done: count, round: anyValue, since: number, firstTime: number, lengths: orNull(list(count)) });

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
    return new GroupResidual(node, factory, { done: 0, round: null, since, firstTime: Infinity, mark: null });
  }

  static load(node: GroupNode, factory: ResidualFactory, saved: Value): GroupResidual {
    const { done, round, since, firstTime, lengths } = savedState.load(saved);
    return new GroupResidual(node, factory, {
      done,
      round: round === null ? null : factory.load(node.item, round),
      since,
      firstTime,
      mark: lengths && { firstSlot: node.firstSlot, lengths },
    });
  }

  get isBegun(): boolean {
    return this.#state.done > 0 || this.#state.round !== null;
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
    const fresh = this.#factory.begin(this.#node.item, this.endTime).outlook(inner);
    const dueTime = Math.max(latestOf(own.enabledSteps), fresh.dueTime);
    return this.#outlook(own.enabledSteps, this.#freshOffers(fresh.enabledSteps, inner), { dueTime, needsEvent: fresh.needsEvent });
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
    return { ...enabled, element: this.#elementOf(enabled, 'same'), take: (taking) => this.#with({ round: enabled.take(taking) }) };
  }

  #freshOffers(enabledSteps: readonly EnabledStep[], context: RunContext): readonly EnabledStep[] {
    if (context.isClosuresOnly && !this.#node.item.isNullable) return NO_STEPS;
    const discards = this.#state.round?.unfinished() ?? NO_MARKS;
    return enabledSteps.map((enabled) => ({
      ...enabled,
      element: this.#elementOf(enabled, 'new'),
      discards: [...discards, ...enabled.discards],
      take: (taking) => this.#nextRound(enabled, taking, context.isBinding),
    }));
  }

  #nextRound(enabled: EnabledStep, taking: Taking, isBinding: boolean): GroupResidual {
    const { firstSlot, endSlot, min, max } = this.#node;
    return this.#with({
      done: max === Infinity ? Math.min(this.#rounds, Math.max(min, 1)) : this.#rounds,
      since: this.endTime,
      firstTime: this.#state.firstTime === Infinity ? taking.time : this.#state.firstTime,
      mark: isBinding ? null : markOf(taking.captures, firstSlot, endSlot),
      round: enabled.take(taking),
    });
  }

  #elementOf(enabled: EnabledStep, element: 'new' | 'same'): EnabledStep['element'] {
    return this.#factory.enumerated === this.#node ? element : enabled.element;
  }

  #with(changes: Partial<State>): GroupResidual {
    return new GroupResidual(this.#node, this.#factory, { ...this.#state, ...changes });
  }

  absences(): readonly Absence[] {
    return this.#state.round?.absences() ?? NO_ABSENCES;
  }

  violate(isViolated: (slot: number) => boolean): Change | null {
    const { round, mark, done } = this.#state;
    if (round === null) return unchanged(this);
    const change = round.violate(isViolated);
    if (change !== null) return this.#after(change);
    if (mark === null || done < this.#node.min) return null;
    return { residual: this.#with({ round: null, mark: null }), discards: [mark] };
  }

  /** The round must be finished. */
  settle(): Change | null {
    if (this.isSettled) return unchanged(this);
    const change = this.#state.round?.settle() ?? null;
    return change && { residual: this.#with({ round: change.residual, mark: null }), discards: change.discards };
  }

  pass(passing: Passing): Change {
    const { round } = this.#state;
    return round === null ? unchanged(this) : this.#after(round.pass(passing));
  }

  #after(change: Change): Change {
    if (change.residual === this.#state.round) return unchanged(this);
    return { residual: this.#with({ round: change.residual }), discards: change.discards };
  }

  unfinished(): readonly Mark[] {
    const { round, mark } = this.#state;
    if (round === null || mark === null) return round?.unfinished() ?? NO_MARKS;
    return round.isComplete ? round.unfinished() : [mark];
  }

  save(): Value {
    const { done, round, since, firstTime, mark } = this.#state;
    return savedState.save({ done, round: round?.save() ?? null, since, firstTime, lengths: mark?.lengths ?? null });
  }
}
