import type { Automaton } from './automaton.ts';
import { collectsMatches } from './handler-names.ts';
import { isNumeric } from './number-columns.ts';
import type { PatternInput } from './pattern-input.ts';
import type { PatternParts } from './pattern-parts.ts';
import type { Kept } from './run-form.ts';

/**
 * Whether the runs of a pattern are numbers in columns: each is found by a number, keeps single values of few bytes, and ends with
 * the one match that it has or without anybody's notice. To be asked once all that runs keep is decided.
 */
export function isFlat(
  parts: Pick<PatternParts, 'automaton' | 'plan' | 'form' | 'indexKeys' | 'isWatched'>,
  inputs: readonly PatternInput[],
): boolean {
  const { automaton, plan, form, indexKeys, isWatched } = parts;
  const isSimple = !isWatched && !automaton.isTimed && !automaton.waits && plan.afterMatch !== 'skip_past_last';
  const isFound = automaton.states.every(({ id, isOver }) => isOver || isNumberKey(indexKeys[id] ?? null));
  const isCollected = inputs.some((input) => collectsMatches(automaton, input));
  return isSimple && isFound && !isCollected && hasOneMatch(automaton) && form.kept.every(isSmall);
}

function isNumberKey(indexKey: Kept | null): boolean {
  return indexKey !== null && isNumeric(indexKey.as);
}

function hasOneMatch({ initial, states, isList }: Automaton): boolean {
  const transitions = [initial, ...states].flatMap((state) => state.transitions);
  return !isList.includes(true) && transitions.every(({ emits, target }) => emits === target.isOver);
}

/** What a run kept may stay behind until its number is used again. */
function isSmall({ aspect, as }: Kept): boolean {
  return as !== 'value' && (aspect === 'field' || aspect === 'time' || aspect === 'order' || aspect === 'type');
}
