import { InvariantError } from '../../../shared/errors/error.ts';
import type { PipelineStatus } from '../service.ts';

/** What a pipeline may become. The diagram of the documentation is made of this. */
export const pipelineTransitions = {
  starting: ['running', 'stopped', 'failed'],
  running: ['degraded', 'draining', 'starting', 'failed'],
  degraded: ['running', 'draining', 'starting', 'failed'],
  draining: ['stopped', 'starting', 'failed'],
  stopped: ['starting', 'failed'],
  failed: ['starting', 'stopped'],
} as const satisfies Record<PipelineStatus, readonly PipelineStatus[]>;

export function requireTransition(from: PipelineStatus, to: PipelineStatus): void {
  const allowed: readonly PipelineStatus[] = pipelineTransitions[from];
  if (from !== to && !allowed.includes(to)) throw new InvariantError(`a pipeline that is ${from} does not become ${to}`);
}
