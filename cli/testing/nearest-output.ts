import type { Fields, OutputEvent } from '../../shared/events/event.ts';
import type { Value } from '../../shared/events/value.ts';
import { equal } from '../../shared/language/functions/comparison.ts';
import { literalText, visible } from '../event-text.ts';

/** A field that is not as expected; null stands for a missing one too. */
export interface Difference {
  readonly field: string;
  readonly expected: Value;
  readonly found: Value;
}

/** The expected fields that are otherwise, as `==` has it; null is null. */
export function differences(expected: Fields, found: Fields): readonly Difference[] {
  return Array.from(expected, ([field, value]) => ({ field, expected: value, found: found.get(field) ?? null })).filter(
    (difference) => difference.expected !== difference.found && equal(difference.expected, difference.found) !== true,
  );
}

export interface NearestOutput {
  /** What keeps it from being the expected one. */
  readonly text: string;
  /** Fields that are otherwise. */
  readonly missing: number;
  /** It is of the partition that was expected, as far as that is said. */
  readonly isOfKey: boolean;
}

/** The output that comes closest to the expected one, of its partition if there is one; null when there is no output. */
export function nearestOutput(expected: Fields, outputs: readonly OutputEvent[], keyFields: readonly string[]): NearestOutput | null {
  const candidates = outputs.map(({ type, fields }) => {
    const missing = differences(expected, fields);
    return { type, missing, isOfKey: !missing.some(({ field }) => keyFields.includes(field) && fields.has(field)) };
  });
  const [nearest] = candidates.sort((a, b) => Number(b.isOfKey) - Number(a.isOfKey) || a.missing.length - b.missing.length);
  if (!nearest) return null;
  const reasons = nearest.missing.map(({ field, expected: wanted, found }) => {
    return `${visible(field)} is ${visible(literalText(found))}, not ${visible(literalText(wanted))}`;
  });
  return { text: `${visible(nearest.type)} whose ${reasons.join(', ')}`, missing: nearest.missing.length, isOfKey: nearest.isOfKey };
}
