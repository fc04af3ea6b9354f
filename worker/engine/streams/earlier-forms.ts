import { isArray, type Value } from '../../../shared/events/value.ts';
import { earlierPattern, patternOneByOne, patternWithoutBlocks } from '../patterns/saved-runs.ts';

interface EarlierForm {
  /** The format of states from which it is written. */
  readonly since: number;
  /** The same state, as the format before has it. */
  readonly before: (saved: Value) => Value;
}

/** States that earlier formats have in another form, by the name and version that stand in front of them. */
const forms: Readonly<Record<string, EarlierForm>> = {
  'pattern 2': { since: 2, before: earlierPattern },
  'pattern 3': { since: 3, before: patternOneByOne },
  'pattern 4': { since: 4, before: patternWithoutBlocks },
};

/** What a source or an operator has saved, as a format has it. */
export function inFormat(saved: Value, format: number): Value {
  const head = isArray(saved) ? saved[0] : undefined;
  const form = typeof head === 'string' ? forms[head] : undefined;
  return form === undefined || format >= form.since ? saved : inFormat(form.before(saved), format);
}
