import type {
  Attempt,
  Explanation,
  HeldEvent,
  JoinExplanation,
  PatternExplanation,
  RunExplanation,
  WindowExplanation,
} from '../../worker/engine/trace/explanation.ts';
import { plain } from '../colors.ts';
import { counted } from '../counts.ts';
import { eventText, visible } from '../event-text.ts';
import { closureText, deadlineText, heldBackText, timeText } from './explanation-text.ts';

/**
 * The one thing that most likely kept a stream from giving a result, on one line; null when nothing is known. `isRecorded`: the engine
 * was made with `explain`, so it knows what came and did not fit.
 */
export function briefExplanation(explanation: Explanation, isRecorded = true): string | null {
  const { nothing, heldBack, pattern, join, attempts, windows } = explanation;
  if (nothing !== null) return visible(nothing);
  const blocked = blockedAttempt(explanation);
  if (blocked) return blockedText(blocked);
  if (pattern?.isTrend && windows.length > 0) return windowText(windows[0] as WindowExplanation);
  const held = heldBack == null ? null : `${heldBackText(heldBack)}, the last ${shortEvent(heldBack.event)}`;
  if (held !== null && pattern?.furthest == null) return held;
  if (pattern !== null && held !== null) return `${patternText(pattern, isRecorded)}; ${held}`;
  if (pattern !== null) return patternText(pattern, isRecorded);
  if (join !== null) return joinText(join);
  const [window] = windows;
  if (window === undefined) return failedText(attempts);
  return windowText(window);
}

function windowText(window: WindowExplanation): string {
  const closing =
    window.missing === null ? `closes at ${timeText(window.closesAt ?? Infinity)}` : `needs ${counted(window.missing, 'more event')}`;
  if (window.count !== null) return `${visible(window.operator)} holds ${counted(window.count, 'event')} and ${closing}`;
  return `${visible(window.operator)} has an open window, which ${closing}`;
}

/** What an operator of the stream held back, if that is what there is to tell. */
export function blockedAttempt({ nothing, attempts, furthest }: Explanation): Attempt | null {
  if (nothing !== null) return null;
  return [furthest, ...attempts].find((attempt) => attempt?.decisions.at(-1)?.verdict === 'BLOCK') ?? null;
}

function blockedText({ event, decisions }: Attempt): string {
  const decision = decisions.at(-1);
  const why = decision?.why ? `: ${visible(decision.why)}` : '';
  return `${shortEvent(event)} was held back by ${visible(decision?.operator ?? '')}${why}`;
}

function failedText(attempts: readonly Attempt[]): string | null {
  const failed = attempts.find(({ decisions }) => decisions.some(({ verdict }) => verdict === 'FAIL' || verdict === 'LATE'));
  const decision = failed?.decisions.find(({ verdict }) => verdict === 'FAIL' || verdict === 'LATE');
  if (!failed || !decision) return null;
  const what = decision.verdict === 'LATE' ? 'came too late for' : 'failed in';
  return `${shortEvent(failed.event)} ${what} ${visible(decision.operator)}${decision.why === '' ? '' : `: ${visible(decision.why)}`}`;
}

function patternText({ isTrend, furthest, ended, begins }: PatternExplanation, isRecorded: boolean): string | null {
  if (furthest !== null) return `${runText(furthest)}, which ${waitText(furthest)}`;
  const isFailed = ended !== null && ended.end !== 'matched';
  if (isFailed) {
    const waited = ended.waitsFor.length > 0 ? `; it ${waitText(ended, 'waited')}` : '';
    const by = ended.event === null ? '' : ` (${shortEvent(ended.event)})`;
    return `${runText(ended)}, which ended at ${timeText(ended.time)}: ${visible(ended.reason)}${by}${waited}`;
  }
  const [first] = begins;
  if (first === undefined || ended !== null) return null;
  if (first.candidates.length > 0) return `no ${isTrend ? 'trend' : 'run'} began: ${visible(first.step)}${candidateText(first)}`;
  return isRecorded
    ? `nothing came for ${visible(first.step)}`
    : `${isTrend ? 'no trend has begun' : 'no run is open'}; one begins with ${visible(first.step)}`;
}

function runText({ stepsTaken, steps, held }: RunExplanation): string {
  const last = held.at(-1);
  return `a run that has taken ${stepsTaken} of ${counted(steps, 'step')}${last === undefined ? '' : `, ${visible(last.name)} = ${shortEvent(last.event)}`}`;
}

function waitText({ waitsFor }: RunExplanation, verb = 'waits'): string {
  const [step] = waitsFor;
  if (step === undefined) return `${verb} for nothing`;
  return `${verb} for ${visible(step.step)}${closureText(step)}${deadlineText(step)}${candidateText(step)}`;
}

function candidateText({ candidates, isAbsence }: RunExplanation['waitsFor'][number]): string {
  const [candidate] = candidates;
  if (candidate === undefined) return '';
  return `; ${shortEvent(candidate.event)} ${isAbsence ? 'was no such event' : 'did not fit'}: ${visible(candidate.problem)}`;
}

function joinText({ sides, problems }: JoinExplanation): string | null {
  const [problem] = problems;
  if (problem !== undefined) return `${shortEvent(problem.event)} does not join: ${visible(problem.problem)}`;
  const lacking = sides
    .filter(({ waiting }) => waiting.length === 0)
    .map(({ name, last }) => `${visible(name)}${last === null ? '' : ` (the last was ${shortEvent(last.event)})`}`);
  return lacking.length === 0 ? null : `the join lacks ${lacking.join(' and ')}`;
}

function shortEvent({ type, time, fields }: HeldEvent): string {
  return time === null ? eventText(type, fields, plain) : `${eventText(type, fields, plain)} at ${timeText(time)}`;
}
