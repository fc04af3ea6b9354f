import type { Value } from '../../../../events/value.ts';
import { nearestName } from '../../../diagnostics/nearest-name.ts';
import { dottedName } from '../dotted-name.ts';
import { countFor, expressionFor, fieldFor } from '../operator-arguments.ts';
import { scopeOf } from '../stage.ts';
import { type LowerOperator, type Position, passing, planOf } from './position.ts';

/** `.context(c)`: E031 when there is no such context. */
export const lowerContext: LowerOperator = (at) => {
  const { call, context } = at;
  const node = expressionFor(call, 'context');
  if (!node) return passing(at);
  const name = dottedName(node);
  const symbol = name === undefined ? undefined : context.symbols.find('context', name);
  if (!symbol) {
    const nearest = name === undefined ? undefined : nearestName(name, context.symbols.names('context'));
    const hint = nearest ? `did you mean \`${nearest}\`?` : `declare it: \`context ${name ?? 'hot'} (cores: [0])\``;
    context.report('E031', node.span, `no context \`${context.text(node.span)}\` is declared`, hint);
    return passing(at);
  }
  symbol.used = true;
  return passing(at, planOf(at, 'context', { context: symbol.name, parameters: new Map() }));
};

/** `.concurrent(workers: n, partition_key: f)`. */
export const lowerConcurrent: LowerOperator = (at) => {
  const parameters = new Map<string, Value>();
  const workers = countFor(at.call, 'workers');
  const key = fieldFor(at.call, 'partition_key');
  if (workers !== undefined) parameters.set('workers', workers);
  if (key !== undefined) {
    parameters.set('partition_key', key);
    checkField(key, at);
  }
  return passing(at, planOf(at, 'context', { context: null, parameters }));
};

function checkField(name: string, { call, context, stage }: Position): void {
  const scope = scopeOf(stage);
  if (scope.meaning(name) || scope.openField(name)) return;
  const nearest = nearestName(name, scope.names());
  const span = call.given.get('partition_key')?.span ?? call.node.span;
  context.report('E034', span, `there is no field \`${name}\` here`, nearest && `did you mean \`${nearest}\`?`);
}
