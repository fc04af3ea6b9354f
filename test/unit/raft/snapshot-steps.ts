import type { SnapshotMeta } from '../../../coordinator/raft/core/messages.ts';
import type { LogStorage, Step } from '../../../coordinator/raft/storage/log-storage.ts';

/** What is written for a snapshot of a node's own, in this order. */
export function* compacted(storage: LogStorage, meta: SnapshotMeta, bytes: Uint8Array, keep: number): Generator<Step> {
  const layout = storage.layOut(meta, bytes);
  yield* layout.steps();
  const { pointer, drop } = storage.compact(layout, keep);
  yield pointer;
  yield drop;
}

/** And for one of a leader, before it is installed. */
export function* staged(storage: LogStorage, meta: SnapshotMeta, chain: number, bytes: Uint8Array): Generator<Step> {
  const layout = storage.layOut(meta, bytes, chain);
  yield* layout.steps();
  yield storage.stage(layout);
}
