import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import type { FusionContext } from './fusion-context.ts';
import { Refusal, type Typed } from './typed.ts';

/**
 * Evaluates values that may fail: names for them, in order. A failure is the stream's to count and report, and ends the row's
 * way.
 */
export function guarded(values: readonly Typed[], plan: OperatorPlan, context: FusionContext): readonly string[] | Refusal {
  const { body, columns, module, stream, index, program } = context;
  if (stream.onError === 'null') return new Refusal('a failure gives null and the row goes on');
  if (columns.isPartial) return partial();
  const row = columns.row();
  const names = values.map(() => body.temporary());
  const thrown = module.names.mint('e');
  const node = module.lateOf(index, (stream, runtime) => runtime.node(stream));
  const at = stream.operators.indexOf(plan);
  const failed = (): string =>
    at < 0 ? module.constant(plan) : module.knownOf(index, (other) => program.plan.streams[other]?.operators[at]);
  body.addEnd(() => {
    const assigned = values.map((value, i) => `${names[i]}=${value.text};`).join('');
    return `try{${assigned}}catch(${thrown}){${node}.fail(${thrown},${row},${failed()});return;}`;
  });
  return names;
}

/** What stands where a row is made of columns that are no whole row. */
function partial(): Refusal {
  return new Refusal('the fields of the row are not all known');
}

/** Text of the row that columns make. */
export function rowOf(columns: Columns): string | Refusal {
  return columns.isPartial ? partial() : columns.row();
}
