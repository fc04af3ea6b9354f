import { durationText } from '../../../shared/events/time-text.ts';
import type { PatternPlan, PlanExpression, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { type Captures, lastCapture, rollBack } from '../patterns/captures.ts';
import type { Absence, EnabledStep } from '../patterns/residual.ts';
import type { PartialMatch } from '../patterns/run.ts';
import { type ConditionReader, judge, scopeBehind, type Verdict } from './condition.ts';
import { type ExplainRecorder, firstRowOf } from './explain-recorder.ts';
import type {
  Candidate,
  EndedRunExplanation,
  ExplainedEvent,
  HeldStep,
  PatternExplanation,
  RunExplanation,
  WaitingStep,
} from './explanation.ts';
import type { EndedRun, KeyRecord, Seen } from './key-record.ts';
import type { PatternView } from './pattern-view.ts';
import { furthestOf, stepsTaken } from './progress.ts';

/** What a pattern is explained from. */
export interface PatternEvidence {
  readonly plan: PatternPlan;
  readonly view: PatternView;
  readonly recorder: ExplainRecorder;
  /** The stream's watermark. */
  readonly now: number;
  readonly reader: ConditionReader;
}

/** Of one key, or (null) of all. */
export function explainPattern(evidence: PatternEvidence, key: string | null): PatternExplanation {
  const { view, recorder } = evidence;
  const runs = view.runs.filter((run) => key === null || keyOfRun(run, recorder) === key);
  const furthest = furthestOf(runs);
  const keyTold = key ?? (furthest === null ? null : keyOfRun(furthest, recorder));
  const record = keyTold === null ? recorder.latest : (recorder.record(keyTold) ?? null);
  return {
    isTrend: view.isTrend === true,
    openRuns: runs.length,
    furthest: furthest === null ? null : explainRun(evidence, furthest),
    begins: furthest === null ? view.first.map((enabled) => begin(evidence, enabled, record)) : [],
    ended: record?.ended == null ? null : explainEnd(evidence, record.ended),
    endedLast: record?.endedLast == null ? null : explainEnd(evidence, record.endedLast),
  };
}

export function keyOfRun(run: PartialMatch, recorder: ExplainRecorder): string {
  const first = firstRowOf(run);
  return first === null ? '' : recorder.keyTextOf(first);
}

function explainRun(evidence: PatternEvidence, run: PartialMatch): RunExplanation {
  const { plan, recorder } = evidence;
  const key = keyOfRun(run, recorder);
  const record = recorder.record(key) ?? null;
  const { captures, state, base } = run.progress;
  const absences = state.absences.map((absence) => waitForAbsence(evidence, run, absence, record));
  const enabledSteps = distinctOffers(state.enabledSteps).map((enabled) => {
    const waiting = {
      at: lastCapture(captures)?.at ?? 0,
      captures,
      earliest: Math.max(run.firstTime - (plan.withinMs ?? Infinity), base + enabled.earliestTime),
      deadline: Math.min(run.lastTime, base + enabled.latestTime),
    };
    const step = waitFor(evidence, enabled, waiting, record);
    return step.candidates.length > 0 ? step : { ...step, candidates: ofAnotherKey(evidence, enabled, waiting, run) };
  });
  return {
    key: key === '' ? null : key,
    stepsTaken: stepsTaken(captures),
    steps: plan.steps.filter((step) => !step.negated).length,
    held: heldSteps(evidence, run),
    waitsFor: [...enabledSteps, ...absences],
  };
}

function heldSteps({ plan, view }: PatternEvidence, run: PartialMatch): readonly HeldStep[] {
  return plan.steps.flatMap((step) => {
    const capture = run.progress.captures[step.slot] ?? null;
    if (capture === null) return [];
    const event = eventOf(capture.row);
    return [{ name: stepName(step), count: capture.length, event: view.hasTime(run, step.slot) ? event : { ...event, time: null } }];
  });
}

/** Several ways to the same step are one to the reader. */
function distinctOffers(enabledSteps: readonly EnabledStep[]): readonly EnabledStep[] {
  return enabledSteps.filter((enabled, index) => enabledSteps.findIndex((other) => other.step.slot === enabled.step.slot) === index);
}

/** What came for a step behind a position: that of the last event that the run took. */
function seenSince(record: KeyRecord | null, slot: number, at: number): readonly Seen[] {
  return (record?.seen.get(slot) ?? []).filter((seen) => seen.at > at);
}

interface Waiting {
  /** Position of the last event that the run took. */
  readonly at: number;
  readonly captures: Captures;
  readonly earliest: number;
  readonly deadline: number;
}

/**
 * The last event that would have been taken but for its key, and that nothing took under its own: a key that is written in two ways, or a
 * partition by the wrong field.
 */
function ofAnotherKey(
  evidence: PatternEvidence,
  enabled: EnabledStep,
  { at, captures, earliest, deadline }: Waiting,
  run: PartialMatch,
): readonly Candidate[] {
  const { plan, view, recorder } = evidence;
  const key = keyOfRun(run, recorder);
  const { slot } = enabled.step;
  const { where } = plan.steps[slot] as StepPlan;
  const standing = rollBack(captures, enabled.discards);
  const records = recorder.keys.filter((other) => other !== key).flatMap((other) => recorder.record(other) ?? []);
  const matched = records.flatMap(({ ended }) => (ended?.end === 'matched' ? [ended.run] : []));
  // By their number: a kernel makes the rows of its runs when they are asked for.
  const taken = new Set([...view.runs, ...matched].flatMap(rowsOf).map(({ order }) => order));
  const fits = ({ row }: Seen): boolean =>
    !taken.has(row.order) &&
    timeProblem(row.time, { earliest, latest: deadline }) === null &&
    judgeStep(evidence, where, standing, row).failed === null;
  const found = records.flatMap((record) => seenSince(record, slot, at).findLast(fits) ?? []);
  const last = found.toSorted((one, other) => other.at - one.at)[0];
  if (last === undefined) return [];
  const problem = `its key is ${JSON.stringify(recorder.keyTextOf(last.row))}, not ${JSON.stringify(key)}`;
  return [{ event: eventOf(last.row), problem, values: new Map() }];
}

function rowsOf({ progress }: PartialMatch): readonly Row[] {
  return progress.captures.flatMap((capture) => (capture === null ? [] : [capture.row, capture.oldest.row]));
}

function waitFor(evidence: PatternEvidence, enabled: EnabledStep, waiting: Waiting, record: KeyRecord | null): WaitingStep {
  const { captures, deadline } = waiting;
  const step = evidence.plan.steps[enabled.step.slot] as StepPlan;
  const came = comersOf(evidence, step, { ...waiting, captures: rollBack(captures, enabled.discards) }, record);
  const closure = step.max > 1 ? { taken: captures[step.slot]?.length ?? 0, least: step.min } : null;
  return { step: stepText(step), isAbsence: false, closure, ...deadlineOf(deadline, evidence.now), ...came };
}

/** What came for a step and did not fit, as far as it is remembered. */
function comersOf(
  evidence: PatternEvidence,
  { slot, where }: StepPlan,
  waiting: Waiting,
  record: KeyRecord | null,
): Pick<WaitingStep, 'candidates' | 'forgotten'> {
  const candidates = candidatesOf(evidence, where, { ...waiting, seen: seenSince(record, slot, waiting.at) });
  return { candidates, forgotten: evidence.recorder.forgottenSince(record, slot, waiting.at) };
}

function waitForAbsence(
  evidence: PatternEvidence,
  run: PartialMatch,
  { node, slot, deadline }: Absence,
  record: KeyRecord | null,
): WaitingStep {
  const step = evidence.plan.steps[slot] as StepPlan;
  const { captures, base } = run.progress;
  const until = node.until === 'pattern' ? run.lastTime : base + deadline;
  const at = lastCapture(captures)?.at ?? 0;
  const came = comersOf(evidence, step, { at, captures, earliest: -Infinity, deadline: Infinity }, record);
  return { step: stepText(step), isAbsence: true, closure: null, ...deadlineOf(until, evidence.now), ...came };
}

/** A step that opens a run, and what came for it lately without opening one. */
function begin(evidence: PatternEvidence, enabled: EnabledStep, record: KeyRecord | null): WaitingStep {
  const captures = evidence.plan.steps.map(() => null);
  return waitFor(evidence, enabled, { at: -Infinity, captures, earliest: -Infinity, deadline: Infinity }, record);
}

function deadlineOf(deadline: number, now: number): Pick<WaitingStep, 'deadline' | 'leftMs'> {
  if (!Number.isFinite(deadline)) return { deadline: null, leftMs: null };
  return { deadline, leftMs: Number.isFinite(now) ? Math.max(0, deadline - now) : null };
}

/** Nearest first: those for which most of the condition held, of several those in time, of these the latest. */
function candidatesOf(
  evidence: PatternEvidence,
  where: PlanExpression | null,
  { captures, earliest, deadline, seen }: Waiting & { readonly seen: readonly Seen[] },
): readonly Candidate[] {
  const judged = seen.flatMap(({ row }) => {
    const verdict = judgeStep(evidence, where, captures, row);
    const candidate = candidateOf(row, verdict, { earliest, latest: deadline });
    const isInTime = row.time >= earliest && row.time <= deadline;
    return candidate === null ? [] : [{ candidate, isInTime, held: verdict.failed === null ? Infinity : verdict.held }];
  });
  return judged
    .reverse()
    .sort((a, b) => (a.held === b.held ? Number(b.isInTime) - Number(a.isInTime) : b.held - a.held))
    .map(({ candidate }) => candidate);
}

function judgeStep({ plan, reader }: PatternEvidence, where: PlanExpression | null, captures: Captures, row: Row): Verdict {
  return where === null ? { held: 0, failed: null } : judge(where, scopeBehind(captures, plan, row), reader);
}

/** Null for an event against which nothing is known: another step took it. */
function candidateOf(row: Row, { failed }: Verdict, span: TimeSpan): Candidate | null {
  const event = eventOf(row);
  if (failed !== null) return { event, problem: failed.text, values: failed.values };
  const problem = timeProblem(row.time, span);
  return problem === null ? null : { event, problem, values: new Map() };
}

interface TimeSpan {
  readonly earliest: number;
  readonly latest: number;
}

/** What is against an event of this time; null when it lies within. */
export function timeProblem(time: number, { earliest, latest }: TimeSpan): string | null {
  if (time > latest) return `${durationText(time - latest)} too late`;
  return time < earliest ? `${durationText(earliest - time)} further back than \`within\` allows` : null;
}

function explainEnd(evidence: PatternEvidence, ended: EndedRun): EndedRunExplanation {
  const explained = explainRun(evidence, ended.run);
  return {
    ...explained,
    waitsFor: ended.end === 'deadline' ? explained.waitsFor : [],
    end: ended.end,
    time: ended.time,
    reason: endReason(evidence.plan, ended),
    event: ended.row === null ? null : eventOf(ended.row),
  };
}

/** One clause. */
export function endReason(plan: PatternPlan, { end, by }: EndedRun): string {
  switch (end) {
    case 'matched':
      return 'it matched';
    case 'forbidden':
      return `${stepText(plan.steps[by ?? 0] as StepPlan)} forbids the event`;
    case 'cancelled':
      return `.not(${plan.cancels[by ?? 0]?.input.name}) cancels it`;
    case 'deadline':
      return 'its deadline passed';
    case 'broken':
      return plan.selection === 'strict'
        ? 'under .strict() the next event must be the next step'
        : `.${plan.monotone?.direction}() was broken`;
    case 'skipped':
      return `.after_match(${plan.afterMatch}) drops it behind a match`;
    case 'dropped':
      return 'the state budget was used up';
    case 'expired':
      return 'its key expired';
  }
}

export function stepName(step: StepPlan): string {
  return step.alias ?? step.input.name;
}

/** As it is written, on one line; one of several in a `NOT (B OR C)` with the `NOT` that it stands under. */
export function stepText({ origin, negated }: StepPlan): string {
  const text = origin.source.text.slice(origin.span.start, origin.span.end).replace(/\s+/g, ' ').trim();
  return negated && !text.startsWith('NOT') ? `NOT ${text}` : text;
}

export function eventOf({ type, time, fields }: Row): ExplainedEvent {
  return { type, time, fields };
}
