import { ratiosOf, type Spread, spreadOf } from '../statistics.ts';
import { type PairGoal, pairGoals, type Verdict, verdictOf } from './goals.ts';

/** What the comparison of two scenarios needs of each. */
export interface ColdTimes {
  readonly name: string;
  readonly events: number;
  /** Round by round. */
  readonly coldMs: readonly number[];
}

export interface PairGateFigures {
  readonly name: string;
  readonly than: string;
  readonly why: string;
  /** Events per second of the first as a share of the second's, cold. */
  readonly ratio: Spread;
  readonly gate: number;
  readonly verdict: Verdict;
}

/** The pairs of which both were measured in this run. */
export function pairFigures(measured: readonly ColdTimes[]): PairGateFigures[] {
  const named = new Map(measured.map((one) => [one.name, one]));
  return pairGoals.flatMap((goal) => {
    const one = named.get(goal.name);
    const other = named.get(goal.than);
    return one && other ? [figuresOf(goal, one, other)] : [];
  });
}

function figuresOf(goal: PairGoal, one: ColdTimes, other: ColdTimes): PairGateFigures {
  const perEvent = ({ coldMs, events }: ColdTimes): number[] => coldMs.map((ms) => ms / events);
  const ratio = spreadOf(ratiosOf(perEvent(other), perEvent(one)));
  const { name, than, why, gate } = goal;
  return { name, than, why, ratio, gate, verdict: verdictOf(ratio.median, goal) };
}
