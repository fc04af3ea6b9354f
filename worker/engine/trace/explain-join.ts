import { durationText } from '../../../shared/events/time-text.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import { keyPart } from '../joins/join-key.ts';
import { type Row, scopeOf } from '../operators/row.ts';
import { type ConditionReader, type FailedCondition, weigh } from './condition.ts';
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
  const key =
    asked ??
    (keyed.findLast(({ waiting }) => !waiting.isMatched) ?? keyed.at(-1) ?? held.at(-1))?.key ??
    evidence.recorder.latest?.text ??
    null;
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

/** Why events of different sides gave nothing: their key is null, they are too far apart, or the rest of `.on` does not hold. */
function problemsOf(evidence: JoinEvidence, waiting: readonly WaitingView[], key: string | null): readonly Candidate[] {
  const keyless = [...evidence.recorder.lastOfSide].flatMap(([side, last]) => {
    const isTold = last.key === NO_KEY && !waiting.some((one) => one.side === side);
    return isTold ? [{ event: eventOf(last.row), problem: 'its key is null, and null joins nothing', values: new Map() }] : [];
  });
  const nearest = key === null || key === NO_KEY ? null : nearestProblem(evidence, waiting, rowsOf(evidence, waiting, key));
  return nearest === null ? keyless : [nearest, ...keyless];
}

/** The text of a key that is none. */
export const NO_KEY = 'null';

/** Choices of one event of each side that are judged. */
const CHOICES_MAX = 1_024;

/** By side, the events of the key that have come lately. */
function rowsOf({ plan, recorder }: JoinEvidence, waiting: readonly WaitingView[], key: string): readonly (readonly Row[])[] {
  const record = recorder.record(key);
  const each = Math.max(1, Math.floor(CHOICES_MAX ** (1 / plan.sides.length)));
  return plan.sides.map((_, side) => {
    const seen = record?.seen.get(side)?.map(({ row }) => row) ?? waiting.filter((one) => one.side === side).map(({ row }) => row);
    return seen.slice(-each);
  });
}

/** One event of each side. */
interface Choice {
  readonly bound: readonly Row[];
  readonly near: number;
  /** Null where the events fit together. */
  readonly failed: (() => FailedCondition) | null;
}

/**
 * Of all choices of one event of each side that gave nothing the one that came nearest to a result: near enough, most of `.on` held, the
 * latest. An event of it has no partner: it waits for one, or came when all that joined had come.
 */
function nearestProblem(evidence: JoinEvidence, waiting: readonly WaitingView[], rows: readonly (readonly Row[])[]): Candidate | null {
  const choices = [...choicesOf(rows)].map((bound) => judgeChoice(evidence, bound));
  const waitsAlone = evidence.plan.sides.map(
    (_, side) => new Set(waiting.flatMap((one) => (one.side === side && !one.isMatched ? [one.row.order] : []))),
  );
  const joined = [
    ...waiting.flatMap(({ row, isMatched }) => (isMatched ? [row] : [])),
    ...choices.flatMap(({ bound, failed }) => (failed === null ? bound : [])),
  ];
  const lastJoined = joined.reduce((last, { order }) => Math.max(last, order), -Infinity);
  let nearest: { readonly row: Row; readonly near: number; readonly failed: () => FailedCondition } | null = null;
  for (const { bound, near, failed } of choices) {
    const alone = bound.filter((row, side) => waitsAlone[side]?.has(row.order) || row.order > lastJoined);
    if (failed === null || alone.length === 0 || (nearest !== null && near < nearest.near)) continue;
    nearest = { row: latestOf(alone), near, failed };
  }
  return nearest === null ? null : problemOf(nearest.row, nearest.failed());
}

function judgeChoice({ plan, reader }: JoinEvidence, bound: readonly Row[]): Choice {
  const apartMs = Math.max(...bound.map(({ time }) => time)) - Math.min(...bound.map(({ time }) => time));
  if (plan.withinMs !== null && apartMs > plan.withinMs) return { bound, near: -apartMs, failed: () => apartText(apartMs, plan) };
  if (plan.residual === null) return { bound, near: 0, failed: null };
  const { held, failed } = weigh(plan.residual, { row: latestOf(bound), bound, aggregates: [], locals: [] }, reader);
  return { bound, near: held, failed };
}

function latestOf(rows: readonly Row[]): Row {
  return rows.reduce((last, row) => (row.order > last.order ? row : last));
}

function* choicesOf(rows: readonly (readonly Row[])[]): Generator<readonly Row[]> {
  const [first, ...others] = rows;
  if (first === undefined) return yield [];
  for (const row of first) for (const rest of choicesOf(others)) yield [row, ...rest];
}

function apartText(apartMs: number, { withinMs }: JoinSourcePlan): FailedCondition {
  return { text: `${durationText(apartMs)} apart, more than ${durationText(withinMs ?? Infinity)}`, values: new Map() };
}

function problemOf(row: Row, { text, values }: FailedCondition): Candidate {
  return { event: eventOf(row), problem: text, values };
}
