import { limits } from '../../../limits.ts';
import type { Span } from '../../ast/nodes.ts';
import type { FieldType } from '../../plan/types.ts';
import { ProgramTooLarge } from '../budget.ts';
import type { CheckContext } from '../context.ts';
import type { RowShape } from '../scope.ts';

/** Lists that have been counted: streams that hand rows on share theirs. */
const counted = new WeakSet<readonly FieldType[]>();

/**
 * Counts the fields that rows of these shapes have together, as those of a match or a join are. Each pattern over a pattern has
 * the fields of the other once for each step, so what nests doubles.
 * @throws ProgramTooLarge when one stream or all of them have too many, which is E095
 */
export function countFields(shapes: readonly RowShape[], span: Span, context: CheckContext): void {
  let found = 0;
  for (const { fields } of shapes) found += fields.length;
  if (found > limits.streamFieldsMax) {
    const message = `the rows of this stream have ${found} fields, and at most ${limits.streamFieldsMax} are possible`;
    context.report('E095', span, message, 'name those that are read in a stream before it: `.select(..)` or `.emit(..)`');
    throw new ProgramTooLarge('fields');
  }
  for (const { fields } of shapes) {
    if (counted.has(fields)) continue;
    counted.add(fields);
    context.spend('fields', fields.length, span);
  }
}
