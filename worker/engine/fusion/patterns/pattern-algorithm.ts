import type { PatternPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../shared/language/plan/types.ts';
import { isFollowingRuns } from '../../operators/operator-facts.ts';
import { originsOf } from '../../streams/routes.ts';
import { type Representation, representationOf } from '../typed.ts';
import { Automaton } from './automaton.ts';

/** How the runs of a pattern are found: by generated code for an automaton of their states, or by the general matcher, and why. */
export type PatternAlgorithm =
  | { readonly name: 'automaton'; readonly automaton: Automaton }
  | { readonly name: 'matcher'; readonly why: string };

/** Decided before anything is printed. `recordOf`: what is known of the fields of an origin's events; null = nothing. */
export function patternAlgorithmOf(stream: StreamPlan, recordOf: (origin: string) => RecordType | null): PatternAlgorithm {
  const { source } = stream;
  if (source.kind !== 'pattern') return { name: 'matcher', why: 'it is no pattern' };
  const { pattern: plan } = source;
  const more = whyNotPlain(plan, stream);
  if (more !== null) return { name: 'matcher', why: more };
  const automaton = Automaton.of(plan);
  if (typeof automaton === 'string') return { name: 'matcher', why: automaton };
  const why = whyNotOneByOne(automaton, plan) ?? whyNotTyped(plan, stream, recordOf);
  return why === null ? { name: 'automaton', automaton } : { name: 'matcher', why };
}

export function originNamesOf(plan: PatternPlan): readonly string[] {
  return [...originsOf([...plan.steps, ...plan.cancels].map((step) => step.input)).keys()];
}

/** The first of these that is so. */
function firstOf(reasons: readonly (readonly [isThere: boolean, why: string])[]): string | null {
  return reasons.find(([isThere]) => isThere)?.[1] ?? null;
}

/** More than steps, conditions and `within` say what matches. */
function whyNotPlain(plan: PatternPlan, stream: StreamPlan): string | null {
  return firstOf([
    [plan.selection === 'any', 'each event may extend a run in more than one way'],
    [plan.cancels.some((cancel) => cancel.input.operators.length > 0), 'what cancels it has operators of its own'],
    [plan.steps.some((step) => step.input.operators.length > 0), 'a step has operators of its own'],
    [plan.steps.some((step) => step.taps.length > 0), 'a step has taps'],
    [stream.partition.expireMs !== null, 'its keys expire'],
    [stream.onError === 'null', 'a failure gives null and its step goes on'],
    [stream.operators.some(isFollowingRuns), 'an operator follows the runs themselves'],
  ]);
}

/** A run has more than one match at a time, or ends in more than one way. */
function whyNotOneByOne(automaton: Automaton, { selection, emission }: PatternPlan): string | null {
  const { initial, states, completion, waits } = automaton;
  const { enumerated } = completion;
  const isEndedByTime = waits || states.some(({ passed }) => passed?.isOver);
  const isEach = enumerated?.kind === 'step' && emission === 'each' && !isEndedByTime;
  const emitting = [initial, ...states].flatMap(({ transitions }) => transitions).filter(({ emits }) => emits);
  const isSingle = emitting.every(
    ({ slot, target }) => slot === enumerated?.firstSlot || target.captured[enumerated?.firstSlot ?? 0] === false,
  );
  const hasAbsence = states.some(({ absence }) => absence !== null);
  return firstOf([
    [waits && hasAbsence, 'it waits for its end and for an absence at once'],
    [enumerated !== null && !(isEach && isSingle), 'an event may complete several matches of a run'],
    [selection === 'strict' && hasAbsence, 'a break of `.strict()` does more than end a run'],
    [initial.transitions.some(({ target }) => target.isOver), 'one event is all of the pattern'],
  ]);
}

/** Values that JavaScript's own signs compare. */
export function isCompared(as: Representation): boolean {
  return as === 'number' || as === 'timestamp' || as === 'duration';
}

/** Too little is known of the types of what is read. */
function whyNotTyped(plan: PatternPlan, { partition }: StreamPlan, recordOf: (origin: string) => RecordType | null): string | null {
  const records = originNamesOf(plan).map(recordOf);
  const rising = plan.monotone?.value;
  return firstOf([
    [records.includes(null), 'nothing is known of the fields of a step'],
    [rising !== undefined && (rising.kind !== 'field' || rising.of.kind !== 'current'), 'what rises or falls is computed'],
    [rising !== undefined && !isCompared(representationOf(rising.type)), 'what rises or falls is no number'],
    [partition.keys.some(({ value }) => representationOf(value.type) === 'value'), 'the key may be of any kind'],
  ]);
}
