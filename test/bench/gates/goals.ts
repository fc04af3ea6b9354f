/** What a ratio must come to: `gate` for a release, `target` for what the design should give. */
export interface Goal {
  readonly gate: number;
  readonly target?: number;
}

/** Speed of a scenario as a share of its bound's, cold. */
export function goalOfScenario(name: string): Goal {
  return { gate: GATES_OF_SCENARIOS[name] ?? 0.5, target: Math.max(0.8, GATES_OF_SCENARIOS[name] ?? 0) };
}

const GATES_OF_SCENARIOS: Readonly<Record<string, number>> = { '01-filter': 0.9, '11-detection': 0.4, '11-detection-5000': 0.4 };

/** Two scenarios or cases whose events must cost about the same: the first may be slower by so much. */
export interface PairGoal extends Goal {
  readonly name: string;
  readonly than: string;
  readonly why: string;
}

export const pairGoals: readonly PairGoal[] = [
  { name: '08-open-runs', than: '07-sequence', gate: 0.9, why: 'a thousand open runs cost what one does' },
  { name: '09-many-rules', than: '01-filter', gate: 0.7, why: 'a thousand rules cost little more than one' },
  { name: '11-detection-5000', than: '11-detection', gate: 0.5, why: 'ten times as many rules cost at most twice as much' },
  { name: 'chain-10000', than: 'chain-100', gate: 0.5, why: 'a hundred times as many runs cost at most twice as much' },
];

export type Verdict = 'FAIL' | 'pass' | 'pass, target';

/** `ratio` is better the larger it is; NaN fails. */
export function verdictOf(ratio: number, { gate, target }: Goal): Verdict {
  if (!(ratio >= gate)) return 'FAIL';
  return target !== undefined && ratio >= target ? 'pass, target' : 'pass';
}
