import { toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';

/** How a key is named: its values as text with `, ` between them; empty where there is no partition. */
export function keyText(values: readonly Value[]): string {
  return values.map(toText).join(', ');
}
