import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Place } from './place.ts';
import { CannotFuse, type Typed } from './typed.ts';

/**
 * Evaluates values that may fail: names for them, in order. A failure is the stream's to count and report, and ends the row's
 * way.
 */
export function guarded(values: readonly Typed[], plan: OperatorPlan, place: Place): readonly string[] {
  const { body, columns, module, stream, index } = place;
  if (stream.onError === 'null') throw new CannotFuse('a failure gives null and the row goes on');
  const row = columns.row();
  const names = values.map(() => body.temporary());
  const thrown = module.names.mint('e');
  const runtime = module.late((program) => program.node(index));
  const assigned = values.map((value, i) => `${names[i]}=${value.text};`).join('');
  body.addEnd(`try{${assigned}}catch(${thrown}){${runtime}.fail(${thrown},${row},${module.constant(plan)});return;}`);
  return names;
}
