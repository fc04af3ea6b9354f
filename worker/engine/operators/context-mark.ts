import type { Row } from './row.ts';
import { StatelessOperator } from './stateless-operator.ts';

/** `.context(c)`, `.concurrent(..)`: says where the work runs, which is not for the engine to act on. */
export class ContextMark extends StatelessOperator {
  process(row: Row): void {
    this.next.process(row);
  }
}
