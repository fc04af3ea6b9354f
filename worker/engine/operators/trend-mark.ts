import type { Row } from './row.ts';
import { StatelessOperator } from './stateless-operator.ts';

/** `.trend_aggregate(..)` in the chain: the stream's source has made its results in place of matches, so they pass. */
export class TrendMark extends StatelessOperator {
  process(row: Row): void {
    this.next.process(row);
  }
}
