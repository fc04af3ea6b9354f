import type { Value } from '../../../../shared/events/value.ts';
import { anyValue, count, flag, list, number, orAbsent, record, requireBelow, type Saved } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import type { Mark } from '../captures.ts';
import type { AbsenceNode, SequenceNode, TreeNode } from '../pattern-tree.ts';
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
  /** By index, items behind the current one of which `NOT`s have made something. */
  readonly ahead: AheadItems;
  /** The current item may yet take what puts off the violated `NOT`s behind it. */
  readonly isPutOff: boolean;
}

type AheadItems = ReadonlyMap<number, Ahead>;

/** An item behind the current one that may be next, as the items between may be left out. */
interface Reachable {
  readonly index: number;
  readonly item: TreeNode | AbsenceNode;
  /** Time of the step before it. */
  readonly since: number;
  /** What `NOT`s have left of it, where they have. */
  readonly left: Residual | null;
}

/** What begins with an item that may be next. */
interface Prospect {
  readonly reachable: Reachable;
  readonly outlook: Outlook;
}

const savedAhead = record({ index: count, residual: anyValue, isViolated: flag });

/** `inner`: as its item saves it. `behind`: left out where there is nothing to say. */
const savedState = record({
  at: number,
  inner: anyValue,
  since: number,
  held: list(count),
  barredFrom: number,
  behind: orAbsent(record({ isPutOff: flag, ahead: list(savedAhead) })),
});

const NO_INDEXES: readonly number[] = [];
const NOTHING_AHEAD: AheadItems = new Map();
/** No `NOT` behind the current item has done anything. */
const UNBARRED = { barredFrom: Infinity, ahead: NOTHING_AHEAD, isPutOff: false };

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
    return new SequenceResidual(node, factory, { at: -1, inner: null, since, held: NO_INDEXES, ...UNBARRED });
  }

  static load(node: SequenceNode, factory: ResidualFactory, saved: Value): SequenceResidual {
    const { at, inner, since, held, barredFrom, behind } = savedState.load(saved);
    for (const index of [at, ...held, ...(behind?.ahead ?? []).map(({ index }) => index)])
      requireBelow(index, node.items.length, 'the index of an item');
    const loaded = (index: number, residual: Value): Residual | null => {
      const item = node.items[index];
      return residual !== null && item !== undefined && item.kind !== 'absence' ? factory.load(item, residual) : null;
    };
    return new SequenceResidual(node, factory, {
      ...{ at, inner: loaded(at, inner), since, held, barredFrom },
      ahead: new Map(behind?.ahead.map(({ index, residual, isViolated }) => [index, { residual: loaded(index, residual), isViolated }])),
      isPutOff: behind?.isPutOff ?? false,
    });
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
    if (!this.#isInnerComplete) return { ...inner, enabledSteps: inner.enabledSteps.map((enabled) => this.#within(enabled)) };
    const behind = this.#reachable().map((reachable) => this.#prospectOf(reachable, context));
    const own = this.#ownSteps(inner.enabledSteps);
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

  /** Further rounds of the current item put off no violated `NOT`: where nothing else can, they lead nowhere. */
  #ownSteps(enabledSteps: readonly EnabledStep[]): readonly EnabledStep[] {
    const isLost = this.#isBarred && !this.#mayMoveOn;
    const left = isLost ? enabledSteps.filter(({ prolongs }) => prolongs !== 'rounds') : enabledSteps;
    return left.map((enabled) => this.#within(enabled));
  }

  /** An enabled step of the current item, seen from the sequence. */
  #within(enabled: EnabledStep): EnabledStep {
    if (!this.#hasBarriers) return { ...enabled, take: (taking) => this.#goOn(enabled.take(taking)) };
    return {
      ...enabled,
      take: (taking) => {
        const next = this.#goOn(enabled.take(taking));
        return next.#with(this.#barriersBehind(enabled, next, taking));
      },
    };
  }

  get #hasBarriers(): boolean {
    return this.#isBarred || this.#state.ahead.size > 0;
  }

  /** What stays of what `NOT`s have done, when the current item has taken an event. */
  #barriersBehind(enabled: EnabledStep, next: SequenceResidual, taking: Taking): Partial<State> {
    const { isPutOff, ahead } = this.#state;
    if (isPutOff && enabled.prolongs === 'nothing' && isKept(next, enabled, taking)) return UNBARRED;
    return { ahead: violatedOf(ahead, -1), isPutOff: isPutOff && enabled.prolongs !== 'rounds' };
  }

  #prospectOf(reachable: Reachable, context: RunContext): Prospect {
    return { reachable, outlook: this.#beginOf(reachable)?.outlook(context) ?? NO_OUTLOOK };
  }

  /** The item before it has taken an event; null for a `NOT`. */
  #beginOf({ item, since, left }: Reachable): Residual | null {
    return left ?? (item.kind === 'absence' ? null : this.#factory.begin(item, since));
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
      take: (taking) => this.#take(index, enabled, taking),
    }));
  }

  /** An item that has only begun, and may be left out, puts off no violated `NOT` yet. */
  #take(index: number, enabled: EnabledStep, taking: Taking): SequenceResidual {
    const next = this.#moveTo(index, enabled.take(taking));
    const ahead = violatedOf(this.#state.ahead, index);
    if ((!this.#isBarred && ahead.size === 0) || isKept(next, enabled, taking)) return next;
    return next.#with({ barredFrom: this.#state.barredFrom, ahead, isPutOff: true });
  }

  #moveTo(index: number, inner: Residual): SequenceResidual {
    return this.#with({ at: index, inner, held: this.#heldAt(index, inner), ...UNBARRED });
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
      const ahead = this.#state.ahead.get(index);
      if (ahead?.residual !== null) reachable.push({ index, item, since: this.endTime, left: ahead?.residual ?? null });
      if (!item.isNullable) break;
    }
    return reachable;
  }

  absences(): readonly Absence[] {
    const held = this.#state.held.flatMap((index) => absencesOf(this.#node.items[index] as AbsenceNode, -Infinity, Infinity));
    const inner = this.#state.inner?.absences() ?? [];
    return [...held, ...inner, ...this.#reachable().flatMap((reachable) => this.#absencesOf(reachable))];
  }

  #absencesOf(reachable: Reachable): readonly Absence[] {
    const { item, since } = reachable;
    if (item.kind !== 'absence') return this.#beginOf(reachable)?.absences() ?? NO_ABSENCES;
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
    const discards = change?.discards ?? NO_MARKS;
    const residual = self.#violateBehind(isViolated);
    return residual && { residual, discards };
  }

  /** Of the `NOT`s behind the current item; null when none of the ways is left. */
  #violateBehind(isViolated: (slot: number) => boolean): SequenceResidual | null {
    const isHit = (reachable: Reachable): boolean => this.#absencesOf(reachable).some(({ slot }) => isViolated(slot));
    const hit = this.#reachable().filter(isHit);
    if (hit.length === 0) return this;
    const bar = hit.findIndex(({ item }) => item.kind === 'absence');
    const ahead = new Map(this.#state.ahead);
    for (const reachable of bar === -1 ? hit : hit.slice(0, bar)) {
      ahead.set(reachable.index, { residual: this.#beginOf(reachable)?.violate(isViolated)?.residual ?? null, isViolated: true });
    }
    const { inner } = this.#state;
    const wasViolated = this.#isBarred || violatedOf(this.#state.ahead, -1).size > 0;
    const isPutOff = (!wasViolated || this.#state.isPutOff) && inner !== null && mayTakeMore(inner);
    const violated = this.#with({ barredFrom: hit[bar]?.index ?? this.#state.barredFrom, ahead, isPutOff });
    return isPutOff || violated.isComplete || violated.#mayMoveOn ? violated : null;
  }

  /** By an event of an item that may be next, or by the time of a `NOT`. */
  get #mayMoveOn(): boolean {
    return this.#reachable().some(({ item }) => item.kind !== 'absence' || item.until !== 'next_step');
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
      if (passed !== null) return after(passed.pass(passing), passed.#state.at === this.#state.at ? NO_MARKS : this.unfinished());
    }
    return unchanged(this);
  }

  #passItem(reachable: Reachable, passing: Passing): SequenceResidual | null {
    const { index, item, since } = reachable;
    if (item.kind === 'absence') {
      const deadline = plus(since, item.withinMs);
      const isOver = item.until === 'pattern' ? passing.isPatternOver : item.until === 'gap' && passing.isOver(deadline);
      return isOver ? this.#passTo(index, deadline) : null;
    }
    const begun = this.#beginOf(reachable);
    const residual = begun?.pass(passing).residual ?? null;
    if (residual === null || residual === begun) return null;
    return item.isNullable ? this.#withAhead(index, residual) : this.#moveTo(index, residual);
  }

  /** Time alone does not make the run take an item that it may leave out. */
  #withAhead(index: number, residual: Residual): SequenceResidual {
    const { ahead } = this.#state;
    return this.#with({ ahead: new Map(ahead).set(index, { residual, isViolated: ahead.get(index)?.isViolated ?? false }) });
  }

  /** Behind a `NOT` whose time has run. */
  #passTo(index: number, deadline: number): SequenceResidual {
    return this.#with({ at: index, inner: null, since: deadline, held: NO_INDEXES, ...UNBARRED });
  }

  unfinished(): readonly Mark[] {
    return this.#state.inner?.unfinished() ?? NO_MARKS;
  }

  save(): Value {
    const { at, inner, since, held, barredFrom, ahead, isPutOff } = this.#state;
    const items = [...ahead].sort(([a], [b]) => a - b);
    return savedState.save({
      ...{ at, inner: inner?.save() ?? null, since, held, barredFrom },
      behind: isPutOff || items.length > 0 ? { isPutOff, ahead: items.map(([index, item]) => savedItem(index, item)) } : undefined,
    });
  }
}

function savedItem(index: number, { residual, isViolated }: Ahead): Saved<typeof savedAhead> {
  return { index, residual: residual?.save() ?? null, isViolated };
}

/** What events have made of the items behind an index. */
function violatedOf(ahead: AheadItems, index: number): AheadItems {
  if (ahead.size === 0) return ahead;
  return new Map([...ahead].filter(([at, item]) => item.isViolated && at > index));
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
