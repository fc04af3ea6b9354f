import type { Tracer } from '../../../shared/telemetry/tracing.ts';
import type { ConnectorEnvironment } from '../../connectors/connector.ts';
import type { ProgramFolder } from '../programs/program-folder.ts';
import type { RuntimeOptions, RuntimeReport } from '../service.ts';
import type { Admission } from '../tenants/event-meter.ts';
import type { TenantLetters } from '../tenants/tenant-letters.ts';
import type { EnginePool } from '../threads/engine-pool.ts';
import type { RuntimeStorage } from './runtime-storage.ts';

/** What all pipelines of a runtime share. */
export interface PipelineContext {
  readonly pool: EnginePool;
  readonly storage: RuntimeStorage | null;
  /** What programs of a tenant may read. */
  readonly folderOf: (tenantId: string) => ProgramFolder;
  readonly strictEvents: boolean;
  readonly checkpointIntervalMs: number;
  /** Numbers the inputs of all pipelines; never gives a number twice, in any process on the same state. */
  readonly nextSequence: () => number;
  /** Epoch ms; when what comes now arrives. Never goes back, in any process on the same state. */
  readonly arrivalTime: () => number;
  /** Since some moment in this process. */
  readonly elapsedMs: () => number;
  readonly report: (report: RuntimeReport) => void;
  readonly deadLetters: TenantLetters;
  readonly tracer: Tracer | undefined;
  readonly outputs: RuntimeOptions['outputs'];
  /** Takes events of a source into the quota of a tenant. @throws CepError `quota_exceeded` */
  readonly admit: (tenantId: string, events: number) => Admission;
  /** Resolves when everything from before is back: nothing is read from connectors until then. */
  readonly recovered: Promise<void>;
  /** What connectors need of the process, on behalf of a tenant. */
  readonly environmentOf: (tenantId: string) => ConnectorEnvironment;
}
