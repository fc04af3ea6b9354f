import type { Tracer } from '../../../shared/telemetry/tracing.ts';
import type { ConnectorEnvironment } from '../../connectors/connector.ts';
import type { DeadLetters } from '../../connectors/delivery/dead-letters.ts';
import type { RuntimeReport } from '../service.ts';
import type { EnginePool } from '../threads/engine-pool.ts';
import type { RuntimeStorage } from './runtime-storage.ts';

/** What all pipelines of a runtime share. */
export interface PipelineContext {
  readonly pool: EnginePool;
  readonly storage: RuntimeStorage | null;
  readonly workDir: string;
  readonly strictEvents: boolean;
  readonly checkpointIntervalMs: number;
  /** Numbers the inputs of all pipelines; never gives a number twice, in any process on the same state. */
  readonly nextSequence: () => number;
  readonly report: (report: RuntimeReport) => void;
  readonly deadLetters: DeadLetters;
  readonly tracer: Tracer | undefined;
  /** What connectors need of the process, on behalf of a tenant. */
  readonly environmentOf: (tenantId: string) => ConnectorEnvironment;
}
