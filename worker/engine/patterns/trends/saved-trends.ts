import { savedOrder } from '../../sources/event-order.ts';
import { count, list, number, orNull, record, stateOf, text } from '../../state/codec.ts';
import { savedExpiry } from '../../state/expiry.ts';
import { savedRow } from '../../state/saved-row.ts';
import { savedTrends } from './trend-groups.ts';

/**
 * `first` and `last`: the first and last event of a window, as far as the result tells of them. `bound`: by slot, the last event that a
 * trend took there.
 */
export const savedWindow = record({
  key: text,
  start: number,
  rank: number,
  first: savedRow,
  last: savedRow,
  trends: savedTrends,
  bound: list(orNull(savedRow)),
});

export const trendState = stateOf({
  name: 'trends',
  version: 1,
  members: { order: savedOrder, trends: record({ received: count, expiry: savedExpiry, windows: list(savedWindow) }) },
});
