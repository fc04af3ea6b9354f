import { durationText, timestampText } from '../../shared/events/time-text.ts';
import type {
  Attempt,
  Candidate,
  Decision,
  EndedRunExplanation,
  Explanation,
  HeldBackExplanation,
  HeldEvent,
  JoinExplanation,
  PatternExplanation,
  RunExplanation,
  WaitingStep,
  WindowExplanation,
} from '../../worker/engine/trace/explanation.ts';
import type { Colors } from '../colors.ts';
import { counted } from '../counts.ts';
import { eventText, fieldsText, visible } from '../event-text.ts';

const DAY_MS = 86_400_000;
/** Events shown of those that did not fit a step. */
const CANDIDATES_SHOWN_MAX = 3;

/** `@9s` on the first day of the epoch, where offsets of an event file lie; later as a date. */
export function timeText(ms: number): string {
  if (!Number.isFinite(ms)) return 'the end of input';
  return ms >= 0 && ms < DAY_MS ? `@${durationText(ms)}` : timestampText(ms);
}

/** An explanation as a person reads it, in lines; the last one ends too. */
export function explanationText(explanation: Explanation, colors: Colors): string {
  return `${new ExplanationText(colors).lines(explanation).join('\n')}\n`;
}

class ExplanationText {
  readonly #colors: Colors;

  constructor(colors: Colors) {
    this.#colors = colors;
  }

  lines(explanation: Explanation): readonly string[] {
    const { nothing, heldBack, pattern, join, windows, attempts, furthest } = explanation;
    const head = this.#head(explanation);
    if (nothing !== null) return [head, `  ${visible(nothing)}`];
    const told = pattern === null ? attempts : attempts.filter((attempt) => furthest === null || !isOutcome(attempt, furthest));
    const isRepeated = furthest === null || told.some((attempt) => attempt.event === furthest.event || isSame(attempt, furthest));
    return [
      head,
      // A server of an earlier build does not say it.
      ...(heldBack == null ? [] : [`  ${heldBackText(heldBack)}, the last: ${this.#event(heldBack.event)}`]),
      ...(pattern === null ? [] : this.#pattern(pattern)),
      ...(join === null ? [] : this.#join(join)),
      ...told.flatMap((attempt) => this.#attempt(attempt.kind === 'event' ? 'last event' : 'last result', attempt)),
      ...(isRepeated ? [] : this.#attempt('what came furthest', furthest)),
      ...windows.flatMap((window) => this.#window(window)),
    ];
  }

  #head({ stream, key, time, eventsIn, eventsOut }: Explanation): string {
    const parts = [
      this.#colors.bold(visible(stream)),
      ...(key === null ? [] : [`key ${visible(key)}`]),
      ...(time === null ? [] : [timeText(time)]),
      `${counted(eventsIn, 'event')} in, ${counted(eventsOut, 'result')} out`,
    ];
    return parts.join(' | ');
  }

  #pattern({ isTrend, openRuns, furthest, begins, ended, endedLast }: PatternExplanation): readonly string[] {
    const lines: string[] = [];
    if (furthest === null)
      lines.push(isTrend ? '  a trend begins with' : '  no run is open; one begins with', ...begins.flatMap((step) => this.#step(step)));
    else {
      const which = openRuns === 1 ? 'open run' : `furthest of ${openRuns} open runs`;
      lines.push(`  ${which}: ${progressText(furthest)}`, ...this.#run(furthest));
    }
    if (ended === null) return lines;
    const told = furthest === null ? this.#run(ended, 'waited') : [];
    // A server of an earlier build has no `endedLast`.
    if (endedLast == null) return [...lines, this.#end('last run that ended', ended), ...told];
    return [...lines, this.#end('furthest run that ended', ended), ...told, this.#end('last run that ended', endedLast)];
  }

  #run({ held, waitsFor }: RunExplanation, verb = 'waits'): readonly string[] {
    const lines = held.map(({ name, count, event }) => {
      const more = count > 1 ? ` ${this.#colors.dim(`(the last of ${count})`)}` : '';
      return `    ${visible(name)} = ${this.#event(event)}${more}`;
    });
    return waitsFor.length === 0 ? lines : [...lines, `  ${verb} for`, ...waitsFor.flatMap((step) => this.#step(step))];
  }

  #step(step: WaitingStep): readonly string[] {
    const shown = step.candidates.slice(0, CANDIDATES_SHOWN_MAX);
    const hidden = step.candidates.length - shown.length;
    return [
      `    ${visible(step.step)}${closureText(step)}${deadlineText(step)}`,
      ...shown.map((candidate) => `      ${this.#candidate(candidate, step.isAbsence)}`),
      ...(hidden > 0 ? [`      and ${hidden} more that did not fit`] : []),
      ...forgottenLines(step),
    ];
  }

  #candidate({ event, problem }: Candidate, isAbsence: boolean): string {
    return `${this.#event(event)} ${isAbsence ? 'was no such event' : 'did not fit'}: ${this.#colors.red(visible(problem))}`;
  }

  #end(which: string, ended: EndedRunExplanation): string {
    const by = ended.event === null ? '' : `, by ${this.#event(ended.event)}`;
    return `  ${which}: ${progressText(ended)}, at ${timeText(ended.time)}: ${visible(ended.reason)}${by}`;
  }

  #join({ sides, problems }: JoinExplanation): readonly string[] {
    const lines = sides.flatMap(({ name, heldBack = 0, waiting, last }) => {
      if (waiting.length > 0) {
        return [
          `  ${visible(name)} waits`,
          ...waiting.map(({ event, isMatched, until }) => {
            const limit = until === null ? '' : `, until ${timeText(until)}`;
            return `    ${this.#event(event)}${limit}${isMatched ? ', has been joined' : ''}`;
          }),
        ];
      }
      const came = last === null ? 'none came' : `the last was ${this.#event(last.event)}, key ${visible(last.key)}`;
      if (heldBack > 0) return [`  ${visible(name)} lacks: ${counted(heldBack, 'event')} that time has not reached`];
      return [`  ${visible(name)} lacks: ${came}`];
    });
    return [
      ...lines,
      ...problems.map(({ event, problem }) => `  ${this.#event(event)} does not join: ${this.#colors.red(visible(problem))}`),
    ];
  }

  #attempt(title: string, { event, decisions }: Attempt): readonly string[] {
    return [`  ${title}: ${this.#event(event)}`, ...decisions.map((decision) => `    ${this.#decision(decision)}`)];
  }

  #decision({ operator, verdict, why }: Decision): string {
    const { green, red } = this.#colors;
    const word = verdict === 'PASS' || verdict === 'HELD' ? green(verdict) : red(verdict);
    return `${visible(operator)} ${word}${why === '' ? '' : ` ${visible(why)}`}`;
  }

  #window({ operator, key, count, start, end, closesAt, missing, soFar }: WindowExplanation): readonly string[] {
    const bounds = end === null ? `since ${timeText(start)}` : `${timeText(start)} to ${timeText(end)}`;
    const closing = missing === null ? `closes at ${timeText(closesAt ?? Infinity)}` : `${counted(missing, 'more event')} to a result`;
    const name = key === null ? '' : ` of ${visible(key)}`;
    return [
      `  open window${name}: ${visible(operator)}, ${bounds}, ${count === null ? '' : `holds ${counted(count, 'event')}, `}${closing}`,
      ...(soFar === null ? [] : [`    so far ${fieldsText(soFar, this.#colors)}`]),
    ];
  }

  #event({ type, time, fields }: HeldEvent): string {
    const when = time === null ? 'at a time that is not kept' : timeText(time);
    return `${this.#colors.dim(when)} ${eventText(type, fields, this.#colors)}`;
  }
}

/** `2 events wait until time reaches @1s to @5s`. */
export function heldBackText({ count, first, until }: HeldBackExplanation): string {
  const times = first === until ? timeText(first) : `${timeText(first)} to ${timeText(until)}`;
  return `${counted(count, 'event')} ${count === 1 ? 'waits' : 'wait'} until time reaches ${times}`;
}

/** A server of an earlier build does not say it. */
function forgottenLines({ forgotten = 0 }: Partial<WaitingStep>): readonly string[] {
  if (forgotten === 0) return [];
  return [`      and ${forgotten === null ? 'perhaps others' : `${forgotten} more`} that are not remembered`];
}

function progressText({ stepsTaken, steps }: RunExplanation): string {
  return `${stepsTaken} of ${counted(steps, 'step')}`;
}

/** How far a closure has come: `, 4 of at least 5`. */
export function closureText({ closure }: WaitingStep): string {
  if (closure === null || closure.taken === 0) return '';
  return closure.least > 1 ? `, ${closure.taken} of at least ${closure.least}` : `, ${closure.taken} so far`;
}

/** ``, until @10s, 1s left``; empty where nothing ends it. */
export function deadlineText({ isAbsence, deadline, leftMs }: WaitingStep): string {
  if (deadline === null) return '';
  const left = leftMs === null || leftMs === 0 ? '' : `, ${durationText(leftMs)} left`;
  return `${isAbsence ? ', in force until' : ', until'} ${timeText(deadline)}${left}`;
}

function isSame(a: Attempt, b: Attempt): boolean {
  return a.event.fields === b.event.fields && a.event.time === b.event.time && a.decisions.length === b.decisions.length;
}

/** Whether a match is what the event that came furthest has brought. */
function isOutcome(match: Attempt, furthest: Attempt): boolean {
  if (match.event.time !== furthest.event.time || match.decisions.length !== furthest.decisions.length) return false;
  return match.decisions.every(
    ({ operator, why }, at) => operator === furthest.decisions[at]?.operator && why === furthest.decisions[at].why,
  );
}
