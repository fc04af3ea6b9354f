import type { TypeExpression } from '../ast/nodes.ts';
import type { Type } from '../plan/types.ts';
import type { CheckContext } from './context.ts';

/** A type as written. Unknown names are E033, tuples and `Stream<T>` E062; the answer is then `any`. */
export function resolveType(_node: TypeExpression, _context: CheckContext): { readonly type: Type; readonly optional: boolean } {
  throw new Error('not built');
}
