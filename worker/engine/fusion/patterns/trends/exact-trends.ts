import { type EventValues, TrendTotals } from '../../../patterns/trends/trend-totals.ts';
import type { TrendOffer, TrendState } from './trend-states.ts';

/** Trends in one state. */
export interface ExactGroup {
  readonly state: TrendState;
  readonly totals: TrendTotals;
}

/** An event, as far as trends are concerned. */
export interface ExactEvent {
  /** Whether it fits the step or `NOT` of a slot. */
  readonly fits: (slot: number) => boolean;
  readonly valuesOf: (slot: number) => EventValues;
}

/** The trends of one window, exact however many they are: what generated code falls back upon where doubles end. */
export class ExactTrends {
  /** Oldest first. */
  groups: readonly ExactGroup[];
  completed: TrendTotals;
  readonly #initial: readonly TrendOffer[];
  readonly #calls: number;

  constructor(initial: readonly TrendOffer[], calls: number, groups: readonly ExactGroup[], completed: TrendTotals) {
    this.#initial = initial;
    this.#calls = calls;
    this.groups = groups;
    this.completed = completed;
  }

  /** Takes an event. Gives the slots by which some trend takes it. */
  take(event: ExactEvent): ReadonlySet<number> {
    const kept = this.groups.flatMap((group) => afterViolations(group, event) ?? []);
    const groups = new Map<TrendState, TrendTotals>();
    const taken = new Set<number>();
    const add = (state: TrendState, totals: TrendTotals): void => void groups.set(state, groups.get(state)?.union(totals) ?? totals);
    const extend = (offers: readonly TrendOffer[], totals: TrendTotals): void => {
      for (const { slot, target } of offers) {
        if (!event.fits(slot)) continue;
        taken.add(slot);
        const longer = totals.with(event.valuesOf(slot));
        if (target.isComplete) this.completed = this.completed.union(longer);
        if (!target.isComplete || target.offers.length > 0) add(target, longer);
      }
    };
    for (const { state, totals } of kept) add(state, totals);
    for (const { state, totals } of kept) extend(state.offers, totals);
    extend(this.#initial, TrendTotals.one(this.#calls));
    this.groups = [...groups].map(([state, totals]) => ({ state, totals }));
    return taken;
  }
}

function afterViolations(group: ExactGroup, { fits }: ExactEvent): ExactGroup | null {
  const violated = group.state.absent.filter(fits);
  if (violated.length === 0) return group;
  const state = group.state.violated(violated);
  return state && { ...group, state };
}
