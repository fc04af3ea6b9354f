import type { Value } from '../../shared/events/value.ts';
import type { Tape } from './tape.ts';

/** Declarations of a field with which the events of a type come whole, not by columns. */
export const WHOLE_FIELDS = ['tags: [int]?', 'tags: {str: int}?', 'tags: any?'] as const;

/** Gives an event a value for such a field in `percent` of all cases that fits one of them. */
export function addWholeField(tape: Tape, fields: Map<string, Value>, percent: number): void {
  if (!tape.chance(percent)) return;
  fields.set('tags', tape.pick<Value>([[1, 2], new Map([['a', 1]]), [], new Map(), null, 'text']));
}
