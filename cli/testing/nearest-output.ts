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

/** What keeps the output that comes closest from being the expected one; null when there is no output. */
export function nearestOutput(expected: Fields, outputs: readonly OutputEvent[]): string | null {
  const candidates = outputs.map(({ type, fields }) => ({ type, missing: differences(expected, fields) }));
  const [nearest] = candidates.sort((a, b) => a.missing.length - b.missing.length);
  if (!nearest) return null;
  const reasons = nearest.missing.map(({ field, expected: wanted, found }) => {
    return `${visible(field)} is ${visible(literalText(found))}, not ${visible(literalText(wanted))}`;
  });
  return `${visible(nearest.type)} whose ${reasons.join(', ')}`;
}
