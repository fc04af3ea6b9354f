import { durationText } from '../../../shared/events/time-text.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { keyPart } from '../joins/join-key.ts';
import { type Row, scopeOf } from '../operators/row.ts';
import { type ConditionReader, judge } from './condition.ts';
import { eventOf } from './explain-pattern.ts';
import type { ExplainRecorder } from './explain-recorder.ts';
import type { Candidate, JoinExplanation, JoinSideExplanation } from './explanation.ts';
import { keyText } from './key-text.ts';
import type { HeldRow, JoinView, WaitingView } from './views.ts';

export interface JoinEvidence {
  readonly plan: JoinSourcePlan;
  readonly view: JoinView;
  /** What waits until time has come to it. */
  readonly held: readonly HeldRow[];
  readonly recorder: ExplainRecorder;
  readonly reader: ConditionReader;
}

/** The key of an event of one side; null when it has none and so never joins. */
export function joinKeyText(plan: JoinSourcePlan, side: number, row: Row, reader: Pick<ConditionReader, 'evaluator'>): string | null {
  const values = (plan.sides[side]?.keys ?? []).map((key, part) => keyPart(plan, side, part, reader.evaluator(key))(scopeOf(row)));
  return values.includes(null) ? null : keyText(values);
}

/** Of one key; without one, of the event without partner that came last, else of the event that came last. */
export function explainJoin(evidence: JoinEvidence, asked: string | null): { readonly key: string | null; readonly join: JoinExplanation } {
  const { plan, view, reader } = evidence;
  const keyed = view.waiting.map((waiting) => ({ waiting, key: joinKeyText(plan, waiting.side, waiting.row, reader) }));
  const held = evidence.held.map(({ row, lane }) => ({ side: lane, key: joinKeyText(plan, lane, row, reader) }));
  const key = asked ?? (keyed.findLast(({ waiting }) => !waiting.isMatched) ?? keyed.at(-1) ?? held.at(-1))?.key ?? null;
  const waiting = keyed.filter((one) => one.key === key).map((one) => one.waiting);
  const sides = plan.sides.map(({ name }, side) => ({
    ...sideOf(evidence, name, side, waiting),
    heldBack: held.filter((one) => one.side === side && one.key === key).length,
  }));
  return { key, join: { sides, problems: problemsOf(evidence, waiting, key) } };
}

function sideOf(
  { recorder }: JoinEvidence,
  name: string,
  side: number,
  waiting: readonly WaitingView[],
): Omit<JoinSideExplanation, 'heldBack'> {
  const last = recorder.lastOfSide.get(side);
  return {
    name,
    waiting: waiting
      .filter((one) => one.side === side)
      .map(({ row, isMatched, until }) => ({ event: eventOf(row), isMatched, until: Number.isFinite(until) ? until : null })),
    last: last === undefined ? null : { event: eventOf(last.row), key: last.key },
  };
}

/** Why the newest events of different sides, with one key, gave nothing: too far apart, or the rest of `.on` does not hold. */
function problemsOf({ plan, recorder, reader }: JoinEvidence, waiting: readonly WaitingView[], key: string | null): readonly Candidate[] {
  const unmatched = waiting.findLast(({ isMatched }) => !isMatched);
  if (unmatched === undefined || key === null) return [];
  const record = recorder.record(key);
  return plan.sides.flatMap((_, side) => {
    if (side === unmatched.side) return [];
    const other = record?.seen.get(side)?.at(-1)?.row;
    return other === undefined ? [] : problemBetween(plan, reader, unmatched, side, other);
  });
}

function problemBetween(
  plan: JoinSourcePlan,
  reader: ConditionReader,
  unmatched: WaitingView,
  side: number,
  other: Row,
): readonly Candidate[] {
  const event = eventOf(other);
  const apartMs = Math.abs(other.time - unmatched.row.time);
  if (plan.withinMs !== null && apartMs > plan.withinMs) {
    return [{ event, problem: `${durationText(apartMs)} apart, more than ${durationText(plan.withinMs)}`, values: new Map() }];
  }
  if (plan.residual === null || plan.sides.length > 2) return [];
  const bound = plan.sides.map((_, at) => (at === side ? other : at === unmatched.side ? unmatched.row : null));
  const { failed } = judge(plan.residual, { row: other, bound, aggregates: [], locals: [] }, reader);
  return failed === null ? [] : [{ event, problem: failed.text, values: failed.values }];
}
