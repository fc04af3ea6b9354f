import type { PastReloads } from './shapes.ts';

type Streams = Pick<PastReloads['reloads'][number], 'reset' | 'changed' | 'lost_state'>;

/** Those that mean something else, and whose state, if they had any, is all there. */
export function changedWithState({ reset, changed, lost_state: lost }: Streams): readonly string[] {
  return [...changed, ...reset].filter((name) => !lost.includes(name));
}
