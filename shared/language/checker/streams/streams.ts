import type { SourceBinding, StreamPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';

export interface StreamsResult {
  /** In the order of `context.table.streams`. */
  readonly streams: readonly StreamPlan[];
  /** `sources[0]` is the default input. */
  readonly sources: readonly SourceBinding[];
}

/**
 * All streams of the merged program. `context` looks at the main file; a stream's own nodes are checked with
 * `context.in(stream.module)`. Never throws; what cannot be planned is reported and left out.
 */
export function checkStreams(_context: CheckContext): StreamsResult {
  return { streams: [], sources: [] };
}
