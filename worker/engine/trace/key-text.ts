import { toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';

/**
 * How a key is named: its values as text with `, ` between them; empty where there is no partition. What is null is `null`, and the text
 * of these four letters stands in quotes.
 */
export function keyText(values: readonly Value[]): string {
  return values.map((value) => (value === 'null' ? '"null"' : toText(value))).join(', ');
}
