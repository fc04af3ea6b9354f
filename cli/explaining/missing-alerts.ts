import { modelOf } from '../../shared/language/plan/alike.ts';
import type { OperatorPlan, Plan } from '../../shared/language/plan/plan.ts';
import type { Explanation } from '../../worker/engine/trace/explanation.ts';
import { counted } from '../counts.ts';
import { visible } from '../event-text.ts';
import { briefExplanation } from './brief-explanation.ts';

/** How far a stream that emits alerts came without giving one. */
export interface StreamMiss {
  readonly stream: string;
  /** One line. */
  readonly text: string;
}

/** Streams that are told of. */
const STREAMS_TOLD_MAX = 5;

/** Names of the streams that emit, in order of declaration. */
export function emittingStreams({ streams }: Plan): readonly string[] {
  return streams.filter((stream) => emits(modelOf(stream).operators)).map(({ name }) => name);
}

/** Names of the streams that emit and whose results are not their alerts, one for one: something stands behind an `.emit`, or beside it in a `.fork`. */
export function streamsWithOtherResults({ streams }: Plan): readonly string[] {
  // Streams beside each other often have one model.
  let last: readonly OperatorPlan[] | null = null;
  let hasOthers = false;
  const found: string[] = [];
  for (const stream of streams) {
    const { operators } = modelOf(stream);
    if (operators !== last) hasOthers = hasOtherResults(operators);
    last = operators;
    if (hasOthers) found.push(stream.name);
  }
  return found;
}

function hasOtherResults(operators: readonly OperatorPlan[]): boolean {
  const behind = operators.filter(({ kind }) => kind !== 'context');
  return emits(operators) && (behind.at(-1)?.kind !== 'emit' || emits(behind.slice(0, -1)));
}

/** Those of these streams that are told of: all when they are few, else the first that events reached. */
export function toldStreams(streams: readonly string[], isReached: (stream: string) => boolean): readonly string[] {
  if (streams.length <= STREAMS_TOLD_MAX) return streams;
  const reached = streams.filter(isReached);
  return (reached.length > 0 ? reached : streams).slice(0, STREAMS_TOLD_MAX);
}

/** For each stream what came closest. `isRecorded` as `briefExplanation`. */
export function streamMisses(explanations: readonly Explanation[], isRecorded = true): readonly StreamMiss[] {
  return explanations.map((explanation) => {
    const { stream, eventsIn, eventsOut } = explanation;
    const text = briefExplanation(explanation, isRecorded);
    return { stream, text: text ?? `${counted(eventsIn, 'event')} came in, ${counted(eventsOut, 'result')} came out` };
  });
}

/**
 * What a person is told where no alert came, whichever command says it: what of the input had no effect, and how far the streams came.
 * `notes` are lines about the input.
 */
export function missingAlertsText(events: number, notes: readonly string[], misses: readonly StreamMiss[]): readonly string[] {
  return [
    `No alerts from ${counted(events, 'event')}${notes.length + misses.length === 0 ? '' : ':'}`,
    ...notes.map((line) => `  ${line}`),
    ...misses.map(({ stream, text }) => `  ${visible(stream)}: ${text}`),
  ];
}

function emits(operators: readonly OperatorPlan[]): boolean {
  return operators.some((operator) => {
    if (operator.kind === 'fork') return operator.branches.some((branch) => emits(branch.operators));
    return operator.kind === 'emit' || operator.kind === 'process';
  });
}
