import type { Value } from '../../../../shared/events/value.ts';
import { anyValue, count, list, number, record, requireBelow } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import type { Mark } from '../captures.ts';
import type { AbsenceNode, SequenceNode, TreeNode } from '../pattern-tree.ts';
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
  unchanged,
} from '../residual.ts';

interface State {
  /** Index of the item that was begun last; -1 before the first. */
  readonly at: number;
  /** What is left of that item; null before the first, and behind a `NOT` whose time has run. */
  readonly inner: Residual | null;
  /** Where `inner` is null: the time of the step before, or the deadline of the `NOT`. */
  readonly since: number;
  /** Indexes of `NOT`s left behind that are in force until an item that must come has begun for good. */
  readonly held: readonly number[];
  /** Index of a violated `NOT`: items from here on are out of reach until an item before it is taken. */
  readonly barredFrom: number;
}

/** An item behind the current one that may be next, as the items between may be left out. */
interface Reachable {
  readonly index: number;
  readonly item: TreeNode | AbsenceNode;
  /** Time of the step before it. */
  readonly since: number;
}

/** What begins with an item that may be next. */
interface Prospect {
  readonly reachable: Reachable;
  readonly outlook: Outlook;
}

/** `inner`: as its item saves it. */
const savedState = record({ at: number, inner: anyValue, since: number, held: list(count), barredFrom: number });

const NO_INDEXES: readonly number[] = [];

/** Items one behind the other. Several may be next at once: those behind an item that is complete as it is. */
export class SequenceResidual implements Residual {
  readonly #node: SequenceNode;
  readonly #factory: ResidualFactory;
  readonly #state: State;
  readonly isComplete: boolean;

  private constructor(node: SequenceNode, factory: ResidualFactory, state: State) {
    this.#node = node;
    this.#factory = factory;
    this.#state = state;
    this.isComplete = this.#isInnerComplete && node.items.every((item, index) => index <= state.at || item.isNullable) && !this.#isBarred;
  }

  static begin(node: SequenceNode, factory: ResidualFactory, since: number): SequenceResidual {
    return new SequenceResidual(node, factory, { at: -1, inner: null, since, held: NO_INDEXES, barredFrom: Infinity });
  }

  static load(node: SequenceNode, factory: ResidualFactory, saved: Value): SequenceResidual {
    const { at, inner, since, held, barredFrom } = savedState.load(saved);
    for (const index of [at, ...held]) requireBelow(index, node.items.length, 'the index of an item');
    const item = node.items[at];
    const isBegun = inner !== null && item !== undefined && item.kind !== 'absence';
    return new SequenceResidual(node, factory, { at, inner: isBegun ? factory.load(item, inner) : null, since, held, barredFrom });
  }

  get isBegun(): boolean {
    return this.#state.at >= 0;
  }

  get endTime(): number {
    return this.#state.inner?.endTime ?? this.#state.since;
  }

  /** A `NOT` forbids events between two steps: with none before it, it is not in force. */
  get #hasStepBefore(): boolean {
    return this.#state.at >= 0 || this.#state.since < Infinity;
  }

  get isSettled(): boolean {
    const { at, inner } = this.#state;
    if (at === -1) return false;
    return inner === null || inner.isSettled || this.#node.items.some((item, index) => index < at && !item.isNullable);
  }

  get #isInnerComplete(): boolean {
    return this.#state.inner?.isComplete ?? true;
  }

  get #isBarred(): boolean {
    return this.#state.barredFrom < this.#node.items.length;
  }

  outlook(context: RunContext): Outlook {
    const inner = this.#state.inner?.outlook(context) ?? NO_OUTLOOK;
    const own = inner.enabledSteps.map((enabled) => this.#within(enabled));
    if (!this.#isInnerComplete) return { ...inner, enabledSteps: own };
    const behind = this.#reachable().map((reachable) => this.#prospectOf(reachable, context));
    const offers = behind.flatMap(({ reachable, outlook }) => this.#offersOf(reachable, outlook));
    const enabledSteps =
      offers.length === 0
        ? own
        : inOrderOfChoice([...own.filter((enabled) => !enabled.isRepeat), ...offers, ...own.filter((enabled) => enabled.isRepeat)]);
    const isCompletedByTime = behind.some(({ reachable: { item } }) => item.kind === 'absence' && item.until !== 'next_step');
    if (this.isComplete || isCompletedByTime) return { enabledSteps, dueTime: Infinity, needsEvent: false };
    return {
      enabledSteps,
      dueTime: Math.max(latestOf(own), ...behind.map(dueTimeOf)),
      needsEvent: behind.every(({ reachable: { item }, outlook }) => item.isNullable || outlook.needsEvent),
    };
  }

  /** An enabled step of the current item, seen from the sequence. */
  #within(enabled: EnabledStep): EnabledStep {
    return { ...enabled, take: (taking) => this.#goOn(enabled.take(taking)) };
  }

  #prospectOf(reachable: Reachable, context: RunContext): Prospect {
    const { item, since } = reachable;
    return { reachable, outlook: item.kind === 'absence' ? NO_OUTLOOK : this.#factory.begin(item, since).outlook(context) };
  }

  #offersOf({ index }: Reachable, { enabledSteps }: Outlook): readonly EnabledStep[] {
    if (enabledSteps.length === 0) return NO_STEPS;
    const unfinished = this.#state.inner?.unfinished() ?? NO_MARKS;
    const skipsLeading = this.#state.at === -1 && this.#node.items.slice(0, index).some((skipped) => skipped.kind !== 'absence');
    return enabledSteps.map((enabled) => ({
      ...enabled,
      isRepeat: false,
      skipsLeading: skipsLeading || enabled.skipsLeading,
      discards: [...unfinished, ...enabled.discards],
      take: (taking) => this.#moveTo(index, enabled.take(taking)),
    }));
  }

  #moveTo(index: number, inner: Residual): SequenceResidual {
    return this.#with({ at: index, inner, held: this.#heldAt(index, inner), barredFrom: Infinity });
  }

  /** With what is left of the current item. */
  #goOn(inner: Residual): SequenceResidual {
    const { at, held } = this.#state;
    return this.#with(held.length > 0 && this.#endsNots(at, inner) ? { inner, held: NO_INDEXES } : { inner });
  }

  /**
   * A `NOT` stays in force over optional steps, and ends where an item begins that must come: where it begins for good, as
   * a run may give up a branch of it that has only begun, and come to another.
   */
  #endsNots(index: number, inner: Residual): boolean {
    return !(this.#node.items[index] as TreeNode).isNullable && inner.isSettled;
  }

  #heldAt(index: number, inner: Residual): readonly number[] {
    if (!this.#hasStepBefore || this.#endsNots(index, inner)) return NO_INDEXES;
    const crossed = this.#reachable().filter((reachable) => reachable.item.kind === 'absence' && reachable.index < index);
    return crossed.length === 0 ? this.#state.held : [...this.#state.held, ...crossed.map((reachable) => reachable.index)];
  }

  #with(changes: Partial<State>): SequenceResidual {
    return new SequenceResidual(this.#node, this.#factory, { ...this.#state, ...changes });
  }

  /** The items that may be next, up to the first that must come. Nothing while the current item is incomplete. */
  #reachable(): readonly Reachable[] {
    if (!this.#isInnerComplete) return [];
    const reachable: Reachable[] = [];
    for (let index = this.#state.at + 1; index < this.#node.items.length && index < this.#state.barredFrom; index++) {
      const item = this.#node.items[index] as TreeNode | AbsenceNode;
      reachable.push({ index, item, since: this.endTime });
      if (!item.isNullable) break;
    }
    return reachable;
  }

  absences(): readonly Absence[] {
    const held = this.#state.held.flatMap((index) => absencesOf(this.#node.items[index] as AbsenceNode, -Infinity, Infinity));
    const inner = this.#state.inner?.absences() ?? [];
    return [...held, ...inner, ...this.#reachable().flatMap((reachable) => this.#absencesOf(reachable))];
  }

  #absencesOf({ item, since }: Reachable): readonly Absence[] {
    if (item.kind !== 'absence') return this.#factory.begin(item, since).absences();
    return this.#hasStepBefore ? absencesOf(item, earliestFrom(since, item.withinMs), plus(since, item.withinMs)) : NO_ABSENCES;
  }

  violate(isViolated: (slot: number) => boolean): Change | null {
    if (!this.#state.held.some((index) => (this.#node.items[index] as AbsenceNode).slots.some(isViolated))) {
      return this.#violateFromItem(isViolated);
    }
    const { at, inner } = this.#state;
    const change = this.#node.items[at]?.isNullable ? null : (inner?.settle() ?? null);
    return change && after(this.#goOn(change.residual).#violateFromItem(isViolated), change.discards);
  }

  /** Of the `NOT`s in the current item and behind it. */
  #violateFromItem(isViolated: (slot: number) => boolean): Change | null {
    const change = this.#state.inner === null ? null : this.#state.inner.violate(isViolated);
    if (this.#state.inner !== null && change === null) return null;
    const self = change === null || change.residual === this.#state.inner ? this : this.#goOn(change.residual);
    const barred = self.#reachable().find((reachable) => self.#absencesOf(reachable).some(({ slot }) => isViolated(slot)));
    const discards = change?.discards ?? NO_MARKS;
    if (barred === undefined) return { residual: self, discards };
    return self.#hasOptionalBefore(barred.index) ? { residual: self.#with({ barredFrom: barred.index }), discards } : null;
  }

  /** Whether an optional item, not yet begun, could still come before the violated `NOT` and so put it off. */
  #hasOptionalBefore(index: number): boolean {
    return this.#node.items.some((item, at) => at > this.#state.at && at < index && item.kind !== 'absence');
  }

  settle(): Change | null {
    if (this.isSettled) return unchanged(this);
    const change = this.#state.inner?.settle() ?? null;
    return change && { residual: this.#goOn(change.residual), discards: change.discards };
  }

  pass(passing: Passing): Change {
    const inner = this.#state.inner?.pass(passing);
    if (inner !== undefined && inner.residual !== this.#state.inner) {
      return after(this.#goOn(inner.residual).pass(passing), inner.discards);
    }
    for (const reachable of this.#reachable()) {
      const passed = this.#passItem(reachable, passing);
      if (passed !== null) return after(passed.pass(passing), this.#state.inner?.unfinished() ?? NO_MARKS);
    }
    return unchanged(this);
  }

  #passItem({ index, item, since }: Reachable, passing: Passing): SequenceResidual | null {
    if (item.kind === 'absence') {
      const deadline = plus(since, item.withinMs);
      const isOver = item.until === 'pattern' ? passing.isPatternOver : item.until === 'gap' && passing.isOver(deadline);
      return isOver ? this.#passTo(index, deadline) : null;
    }
    const fresh = this.#factory.begin(item, since);
    const { residual } = fresh.pass(passing);
    return residual === fresh ? null : this.#moveTo(index, residual);
  }

  /** Behind a `NOT` whose time has run. */
  #passTo(index: number, deadline: number): SequenceResidual {
    return this.#with({ at: index, inner: null, since: deadline, held: NO_INDEXES, barredFrom: Infinity });
  }

  unfinished(): readonly Mark[] {
    return this.#state.inner?.unfinished() ?? NO_MARKS;
  }

  save(): Value {
    const { at, inner, since, held, barredFrom } = this.#state;
    return savedState.save({ at, inner: inner?.save() ?? null, since, held, barredFrom });
  }
}

/** The last time at which an item may come: one that can be left out helps only by an event of its own. */
function dueTimeOf({ reachable: { item }, outlook }: Prospect): number {
  return item.isNullable ? latestOf(outlook.enabledSteps) : outlook.dueTime;
}

function absencesOf(node: AbsenceNode, earliestTime: number, deadline: number): readonly Absence[] {
  return node.slots.map((slot) => ({ node, slot, earliestTime, deadline }));
}

function after<C extends Change | null>(change: C, discards: readonly Mark[]): C | Change {
  return change === null || discards.length === 0 ? change : { residual: change.residual, discards: [...discards, ...change.discards] };
}
