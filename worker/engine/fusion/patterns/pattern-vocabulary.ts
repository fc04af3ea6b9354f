import { keyOf } from '../../../../shared/events/text.ts';
import { plus } from '../../time/instants.ts';
import { pastAggregate, pastCauses, pastCopy, pastItem, pastRows } from './history.ts';
import { makeMatch, matchAttributes, matchIdOf, mergeCauses, stepRow } from './made-match.ts';
import { nanIfNull, nullIfNaN } from './number-columns.ts';
import { pastWith } from './shared-closure-log.ts';

/** Functions that the generated code of patterns calls. */
export const patternLibrary = {
  plusTime,
  keyText: keyOf,
  pastItem,
  pastAggregate,
  pastRows,
  pastCauses,
  pastCopy,
  pastWith,
  stepRow,
  makeMatch,
  nanIfNull,
  nullIfNaN,
  mergeCauses,
  matchAttributes,
  matchIdOf,
} as const;

/** Properties of runs, of the lists that they wait in, and of the kernel. */
export const patternProperties: readonly string[] = [
  'received',
  'begin',
  'size',
  'partition',
  'addPartition',
  'heads',
  'add',
  'remove',
  'collect',
  'nextCompleted',
  'finish',
  'over',
  'give',
  'giving',
  'skipped',
  'endUntil',
  'isAlive',
  'overflow',
  'push',
  'order',
  'keepBudget',
  'state',
  'indexKey',
  'key',
  'began',
  'first',
  'last',
  'base',
  'lastAt',
  'shared',
  'seen',
  'taken',
  'values',
  'past',
  'pastFrom',
  'trimAt',
  'fullAt',
  'least',
  'newest',
  'isPassed',
  'late',
  'takesAll',
  'overflowAll',
  'trim',
  'join',
  'wake',
  'queued',
  'moved',
  'before',
  'after',
  'previous',
  'next',
];

/** As `plus`; whole milliseconds, as most times are, without a detour. */
function plusTime(timeMs: number, durationMs: number): number {
  const sum = timeMs + durationMs;
  return Number.isInteger(sum) ? sum : plus(timeMs, durationMs);
}
