import { keyOf } from '../../../../shared/events/text.ts';
import { mergeCauses } from '../../joins/join-results.ts';
import type { Row } from '../../operators/row.ts';

/** What the generated code of joins may call by name. */
export const joinLibrary = {
  keyOf,
  mergeCauses,
  withSlots: (row: Row, bound: readonly Row[]): Row => ({ ...row, bound }),
} as const;

/** Properties of a join's kernel, of its keys and of the rows that wait. */
export const joinProperties: readonly string[] = [
  'waiting',
  'keys',
  'at',
  'left',
  'right',
  'lefts',
  'rights',
  'rows',
  'row',
  'order',
  'type',
  'causes',
  'arrival',
  'isMatched',
  'hold',
  'meets',
  'meetRows',
  'isLate',
  'late',
  'waitAlone',
  'endIfOver',
  'recycled',
  'trimmed',
  'push',
  'first',
  'next',
];
