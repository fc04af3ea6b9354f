/** What the API answers, as the schemas of its routes say. */
import type { Static } from 'typebox';
import type {
  clusterHealthSchema,
  clusterIndexSchema,
  clusterMetricsSchema,
  groupSchema,
  migrationSchema,
  raftStatusSchema,
  scalingSchema,
  workerSchema,
} from '../../../shared/protocol/cluster.ts';
import type {
  alertCausesSchema,
  alertListSchema,
  alertSchema,
  alertWithCausesSchema,
  connectorListSchema,
  tenantMetricsSchema,
} from '../../../shared/protocol/overview.ts';
import type {
  deadLettersSchema,
  pastReloadsSchema,
  pipelineMetricsSchema,
  pipelineSchema,
  programMessagesSchema,
  reloadReportSchema,
  replayedSchema,
} from '../../../shared/protocol/pipelines.ts';
import type { healthSchema, indexSchema, readySchema } from '../../../shared/protocol/probes.ts';
import type { diagnosticSchema, topologySchema, validationSchema } from '../../../shared/protocol/program.ts';
import type { settingsSchema } from '../../../shared/protocol/settings.ts';
import type { tenantListSchema, usageSchema } from '../../../shared/protocol/tenants.ts';

export type Index = Static<typeof indexSchema> | Static<typeof clusterIndexSchema>;
export type Health = Static<typeof healthSchema>;
export type Settings = Static<typeof settingsSchema>;
export type RaftStatus = Static<typeof raftStatusSchema>;
export type Ready = Static<typeof readySchema>;
export type AllMetrics = Static<typeof tenantMetricsSchema>;
export type PipelineEntry = AllMetrics['pipelines'][number];
export type Pipeline = Static<typeof pipelineSchema>;
export type PipelineMetrics = Static<typeof pipelineMetricsSchema>;
export type StreamMetrics = PipelineMetrics['streams'][number];
export type Topology = Static<typeof topologySchema>;
export type Connectors = Static<typeof connectorListSchema>;
export type Connector = Connectors['connectors'][number];
export type Alert = Static<typeof alertSchema>;
export type AlertWithCauses = Static<typeof alertWithCausesSchema>;
export type AlertCauses = Static<typeof alertCausesSchema>;
export type Alerts = Static<typeof alertListSchema>;
export type DeadLetters = Static<typeof deadLettersSchema>;
export type Replayed = Static<typeof replayedSchema>;
export type Messages = Static<typeof programMessagesSchema>;
export type PastReloads = Static<typeof pastReloadsSchema>;
export type ReloadReport = Static<typeof reloadReportSchema>;
export type Diagnostic = Static<typeof diagnosticSchema>;
export type Validation = Static<typeof validationSchema>;
export type Usage = Static<typeof usageSchema>;
export type Tenants = Static<typeof tenantListSchema>;
export type ClusterHealth = Static<typeof clusterHealthSchema>;
export type Worker = Static<typeof workerSchema>;
export type Group = Static<typeof groupSchema>;
export type Deployment = Group['deployments'][number];
export type Migration = Static<typeof migrationSchema>;
export type Scaling = Static<typeof scalingSchema>;
export type ClusterMetrics = Static<typeof clusterMetricsSchema>;

/** Of `/api/v1/cluster/events`. */
export interface ClusterEvent {
  readonly index: number;
  readonly type: string;
  readonly id: string;
  readonly timestamp: number;
}
