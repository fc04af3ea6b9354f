import { ratiosOf, type Spread, spreadOf } from '../statistics.ts';
import { type PairGoal, pairGoals, type Verdict, verdictOf } from './goals.ts';

/** What the comparison of two scenarios, or of two cases in memory, needs of each. */
export interface EventTimes {
  readonly name: string;
  /** Nanoseconds for an event, round by round. */
  readonly perEvent: readonly number[];
}

export interface PairGateFigures {
  readonly name: string;
  readonly than: string;
  readonly why: string;
  /** Events per second of the first as a share of the second's. */
  readonly ratio: Spread;
  readonly gate: number;
  readonly verdict: Verdict;
}

/** The pairs of which both were measured in this run. */
export function pairFigures(measured: readonly EventTimes[]): PairGateFigures[] {
  const named = new Map(measured.map((one) => [one.name, one]));
  return pairGoals.flatMap((goal) => {
    const one = named.get(goal.name);
    const other = named.get(goal.than);
    return one && other ? [figuresOf(goal, one, other)] : [];
  });
}

function figuresOf(goal: PairGoal, one: EventTimes, other: EventTimes): PairGateFigures {
  const ratio = spreadOf(ratiosOf(other.perEvent, one.perEvent));
  const { name, than, why, gate } = goal;
  return { name, than, why, ratio, gate, verdict: verdictOf(ratio.median, goal) };
}
