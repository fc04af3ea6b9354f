import { durationText } from '../../../shared/events/time-text.ts';
import type { PatternPlan, PlanExpression, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { bindingsOf, type Captures, lastCapture, rollBack } from '../patterns/captures.ts';
import type { Absence, Offer } from '../patterns/residual.ts';
import type { Run } from '../patterns/run.ts';
import { type ConditionReader, judge, type Verdict } from './condition.ts';
import type {
  Candidate,
  EndedRunExplanation,
  ExplainedEvent,
  HeldStep,
  PatternExplanation,
  RunExplanation,
  WaitingStep,
} from './explanation.ts';
import type { PatternView } from './views.ts';
import { type EndedRun, firstRowOf, type KeyRecord, type Seen, type StreamWitness } from './witness.ts';

/** What a pattern is explained from. */
export interface PatternEvidence {
  readonly plan: PatternPlan;
  readonly view: PatternView;
  readonly witness: StreamWitness;
  /** The stream's watermark. */
  readonly now: number;
  readonly reader: ConditionReader;
}

/** Of one key, or (null) of all. */
export function explainPattern(evidence: PatternEvidence, key: string | null): PatternExplanation {
  const { view, witness } = evidence;
  const runs = view.runs.filter((run) => key === null || keyOfRun(run, witness) === key);
  const furthest = furthestOf(runs);
  const keyTold = key ?? (furthest === null ? null : keyOfRun(furthest, witness));
  const record = keyTold === null ? witness.latest : (witness.record(keyTold) ?? null);
  return {
    openRuns: runs.length,
    furthest: furthest === null ? null : explainRun(evidence, furthest),
    begins: furthest === null ? view.first.map((offer) => begin(evidence, offer, record)) : [],
    ended: record?.ended == null ? null : explainEnd(evidence, record.ended),
  };
}

/** The run that has taken most steps, of several the latest. */
function furthestOf(runs: readonly Run[]): Run | null {
  let furthest: Run | null = null;
  for (const run of runs) if (furthest === null || compareProgress(run, furthest) > 0) furthest = run;
  return furthest;
}

function compareProgress(a: Run, b: Run): number {
  return taken(a.progress.captures) - taken(b.progress.captures) || a.began - b.began || a.serial - b.serial;
}

function taken(captures: Captures): number {
  return captures.filter((capture) => capture !== null).length;
}

function keyOfRun(run: Run, witness: StreamWitness): string {
  const first = firstRowOf(run);
  return first === null ? '' : witness.keyTextOf(first);
}

function explainRun(evidence: PatternEvidence, run: Run): RunExplanation {
  const { plan, witness } = evidence;
  const key = keyOfRun(run, witness);
  const record = witness.record(key) ?? null;
  const { captures, state, base } = run.progress;
  const absences = state.absences.map((absence) => waitForAbsence(evidence, run, absence, record));
  const offers = distinctOffers(state.offers).map((offer) =>
    waitFor(evidence, offer, {
      captures,
      deadline: Math.min(run.lastTime, base + offer.latestTime),
      seen: seenSince(record, offer.step.slot, run),
    }),
  );
  return {
    key: key === '' ? null : key,
    stepsTaken: taken(captures),
    steps: plan.steps.filter((step) => !step.negated).length,
    held: heldSteps(plan, captures),
    waitsFor: [...offers, ...absences],
  };
}

function heldSteps(plan: PatternPlan, captures: Captures): readonly HeldStep[] {
  return plan.steps.flatMap((step) => {
    const capture = captures[step.slot] ?? null;
    return capture === null ? [] : [{ name: stepName(step), count: capture.length, event: eventOf(capture.row) }];
  });
}

/** Several ways to the same step are one to the reader. */
function distinctOffers(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter((offer, index) => offers.findIndex((other) => other.step.slot === offer.step.slot) === index);
}

/** What came for a step after the run took its last event. */
function seenSince(record: KeyRecord | null, slot: number, run: Run): readonly Seen[] {
  const at = lastCapture(run.progress.captures)?.at ?? 0;
  return (record?.seen.get(slot) ?? []).filter((seen) => seen.at > at);
}

interface Waiting {
  readonly captures: Captures;
  readonly deadline: number;
  readonly seen: readonly Seen[];
}

function waitFor(evidence: PatternEvidence, offer: Offer, { captures, deadline, seen }: Waiting): WaitingStep {
  const step = evidence.plan.steps[offer.step.slot] as StepPlan;
  const candidates = candidatesOf(evidence, step.where, { captures: rollBack(captures, offer.losses), deadline, seen });
  return { step: stepText(step), isAbsence: false, ...deadlineOf(deadline, evidence.now), candidates };
}

function waitForAbsence(evidence: PatternEvidence, run: Run, { node, deadline }: Absence, record: KeyRecord | null): WaitingStep {
  const step = evidence.plan.steps[node.slot] as StepPlan;
  const { captures, base } = run.progress;
  const until = node.until === 'pattern' ? run.lastTime : base + deadline;
  const candidates = candidatesOf(evidence, step.where, { captures, deadline: Infinity, seen: seenSince(record, node.slot, run) });
  return { step: stepText(step), isAbsence: true, ...deadlineOf(until, evidence.now), candidates };
}

/** A step that opens a run, and what came for it lately without opening one. */
function begin(evidence: PatternEvidence, offer: Offer, record: KeyRecord | null): WaitingStep {
  const captures = evidence.plan.steps.map(() => null);
  return waitFor(evidence, offer, { captures, deadline: Infinity, seen: record?.seen.get(offer.step.slot) ?? [] });
}

function deadlineOf(deadline: number, now: number): Pick<WaitingStep, 'deadline' | 'leftMs'> {
  if (!Number.isFinite(deadline)) return { deadline: null, leftMs: null };
  return { deadline, leftMs: Number.isFinite(now) ? Math.max(0, deadline - now) : null };
}

/** Nearest first: those for which most of the condition held, of several the latest. */
function candidatesOf(
  evidence: PatternEvidence,
  where: PlanExpression | null,
  { captures, deadline, seen }: Waiting,
): readonly Candidate[] {
  const judged = seen.flatMap(({ row }) => {
    const verdict = judgeStep(evidence, where, captures, row);
    const candidate = candidateOf(row, verdict, deadline);
    return candidate === null ? [] : [{ candidate, held: verdict.failed === null ? Infinity : verdict.held }];
  });
  return judged
    .reverse()
    .sort((a, b) => (a.held === b.held ? 0 : b.held - a.held))
    .map(({ candidate }) => candidate);
}

function judgeStep({ plan, reader }: PatternEvidence, where: PlanExpression | null, captures: Captures, row: Row): Verdict {
  if (where === null) return { held: 0, failed: null };
  const bound = bindingsOf(
    captures,
    plan.steps.map(() => true),
  );
  return judge(where, { row, bound, aggregates: [], locals: [] }, reader);
}

/** Null for an event against which nothing is known: another step took it. */
function candidateOf(row: Row, { failed }: Verdict, deadline: number): Candidate | null {
  const event = eventOf(row);
  if (failed !== null) return { event, problem: failed.text, values: failed.values };
  if (row.time <= deadline) return null;
  return { event, problem: `${durationText(row.time - deadline)} too late`, values: new Map() };
}

function explainEnd(evidence: PatternEvidence, ended: EndedRun): EndedRunExplanation {
  const explained = explainRun(evidence, ended.run);
  return {
    ...explained,
    waitsFor: ended.end === 'deadline' ? explained.waitsFor : [],
    end: ended.end,
    time: ended.time,
    reason: reasonOf(evidence.plan, ended),
    event: ended.row === null ? null : eventOf(ended.row),
  };
}

function reasonOf(plan: PatternPlan, { end, by }: EndedRun): string {
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

function stepName(step: StepPlan): string {
  return step.alias ?? step.input.name;
}

/** The step as written, on one line. */
function stepText({ origin }: StepPlan): string {
  return origin.source.text.slice(origin.span.start, origin.span.end).replace(/\s+/g, ' ').trim();
}

export function eventOf({ type, time, fields }: Row): ExplainedEvent {
  return { type, time, fields };
}
