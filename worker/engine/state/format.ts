/**
 * The format in which an engine writes its state, from 1. It counts up when the state of any operator, or what the checkpoint of a placed
 * pipeline has besides, gets a version that the cep before cannot read; what an earlier format had instead is in `earlier-forms.ts`. Workers tell their coordinator the latest that they read, and
 * write what all workers of the cluster read: so what any of them has saved any other can go on with.
 */
export const FIRST_STATE_FORMAT = 1;
/**
 * 2: the open runs of patterns, member by member. 3: events that a run only counts stand in one capture. 4: so do those that it has taken
 * together with others, whose rows stand once for all of them. 5: ids of
 * received events stand by batch, without what all of their source have in common (`COMPACT_RECEIPTS_FORMAT`); and a
 * worker takes the index at which a placement came.
 */
export const LATEST_STATE_FORMAT = 5;
