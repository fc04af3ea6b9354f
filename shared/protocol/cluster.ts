import Type from 'typebox';
import { errorSchema } from './error-schema.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const timestamp = Type.Integer({ minimum: 0, description: 'Epoch ms.' });

const connectorMembers = {
  connector_type: Type.String({ minLength: 1, maxLength: 64, examples: ['kafka'] }),
  params: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Parameters of the type. What is secret is given by `profile`, or as `ENC[..]`.',
    examples: [{ brokers: 'kafka:9092', profile: 'prod' }],
  }),
  description: Type.Optional(Type.String({ maxLength: 1_024 })),
};

export const connectorRequestSchema = Type.Object(
  { name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', examples: ['Orders'] }), ...connectorMembers },
  strict,
);

export const connectorChangeSchema = Type.Object(connectorMembers, strict);

export const connectorSchema = Type.Object(
  {
    name: Type.String(),
    ...connectorMembers,
    version: Type.Integer({ minimum: 1, description: 'One more with each change.' }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  strict,
);

const nodeId = Type.Integer({ minimum: 1, maximum: 2 ** 32 - 1 });
const nodeRole = Type.Enum(['leader', 'follower', 'learner'], {
  description: 'A learner receives everything and does not vote.',
});

export const memberRequestSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: 2 ** 32 - 1, description: 'One that no member has ever had.' }),
    url: Type.String({ minLength: 1, maxLength: 2_048, description: 'Of its API.', examples: ['http://10.0.0.4:9100'] }),
  },
  strict,
);

/** A member of the Raft group. */
export const memberSchema = Type.Object({ id: nodeId, url: Type.String(), role: nodeRole, reachable: Type.Boolean() }, strict);

export const memberAddedSchema = Type.Object({ id: nodeId, url: Type.String(), role: nodeRole }, strict);

const uncopied = Type.Optional(
  Type.Array(Type.String(), {
    description: 'Placements whose newest checkpoint could not be copied to a majority of the members that vote now, 100 at most.',
  }),
);

export const memberPromotedSchema = Type.Object({ id: nodeId, url: Type.String(), role: nodeRole, uncopied }, strict);

export const memberRemovedSchema = Type.Object({ removed: Type.Literal(true), uncopied }, strict);

export const transferRequestSchema = Type.Object({ to: Type.Optional(nodeId) }, strict);

export const transferredSchema = Type.Object({ leader_id: nodeId }, strict);

export const raftNodeSchema = Type.Object(
  {
    id: nodeId,
    url: Type.String(),
    role: nodeRole,
    match_index: Type.Optional(Type.Integer({ minimum: 0, description: 'Up to where its log is known to agree; only a leader knows.' })),
    reachable: Type.Boolean(),
    lag: Type.Union([count, Type.Null()], { description: "Entries that it is behind the leader's log; null where that is not known." }),
    log_format_max: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The latest format of the log that it takes; absent while it cannot be reached.' }),
    ),
  },
  strict,
);

export const raftStatusSchema = Type.Object(
  {
    enabled: Type.Boolean({ description: 'False: this coordinator is on its own.' }),
    node_id: nodeId,
    role: Type.Enum(['leader', 'follower', 'candidate', 'learner']),
    leader_id: Type.Union([nodeId, Type.Null()]),
    leader_url: Type.Union([Type.String(), Type.Null()]),
    term: count,
    commit_index: count,
    applied_index: count,
    last_index: count,
    nodes: Type.Array(raftNodeSchema),
    recovering: Type.Boolean({ description: 'It has lost what it had acknowledged, and does not vote before it has it again.' }),
    removed: Type.Optional(
      Type.Boolean({ description: 'It was removed from the group, does nothing for it any more, and is to be stopped.' }),
    ),
    log_format: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The format in which the group writes its log; earlier versions do not say it.' }),
    ),
  },
  strict,
);

export const clusterHealthSchema = Type.Object(
  {
    status: Type.Enum(['healthy', 'degraded', 'critical', 'no_workers']),
    role: Type.Literal('coordinator'),
    version: Type.String(),
    uptime_seconds: Type.Number({ minimum: 0 }),
    raft: Type.Optional(
      Type.Object(
        {
          role: Type.String(),
          leader_id: Type.Union([nodeId, Type.Null()]),
          term: count,
          recovering: Type.Boolean(),
          removed: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
    workers: Type.Object({ total: count, ready: count, unhealthy: count, draining: count }, strict),
    pipeline_groups: count,
    active_migrations: count,
  },
  strict,
);

export const clusterReadySchema = Type.Object({ status: Type.Literal('ready'), applied_index: count }, strict);

/** Of `/ready` while requests should not be sent there: an error that says beside its own members what the probe says. */
export const clusterNotReadySchema = Type.Object(
  {
    ...errorSchema.properties,
    status: Type.Literal('not_ready'),
    reason: Type.Enum(['no_leader', 'recovering', 'removed', 'draining']),
  },
  strict,
);

export const clusterIndexSchema = Type.Object(
  {
    name: Type.Literal('cep'),
    role: Type.Literal('coordinator'),
    version: Type.String(),
    console: Type.String({ description: 'Pages for people, in a browser.' }),
    docs: Type.String({ description: 'A page about every path.' }),
    openapi: Type.String({ description: 'The same as an OpenAPI document.' }),
    api: Type.String({ description: 'Where the paths begin.' }),
    health: Type.String(),
    ready: Type.String(),
    metrics: Type.String(),
  },
  strict,
);

export const workerSchema = Type.Object(
  {
    id: Type.String(),
    address: Type.String(),
    status: Type.Enum(['registering', 'ready', 'unhealthy', 'draining', 'drained']),
    pipelines: Type.Array(Type.String({ description: '`<group>:<pipeline>:<replica>`' }), { description: 'What it is to run.' }),
    assigned_pipelines: Type.Array(Type.String({ description: 'The same.' })),
    pipelines_running: count,
    max_pipelines: Type.Integer({ minimum: 0, description: '0: no limit.' }),
    cpu_cores: count,
    events_processed: count,
    events_per_second: Type.Number({ minimum: 0 }),
    registered_at: timestamp,
    last_heartbeat: Type.Union([timestamp, Type.Null()], { description: 'Epoch ms; null while the leader has not heard one.' }),
    incarnation: Type.String(),
    version: Type.String(),
  },
  strict,
);

export const drainRequestSchema = Type.Object(
  { timeout_secs: Type.Optional(Type.Number({ minimum: 0, maximum: 600, description: 'How long the answer waits. Default: 20.' })) },
  strict,
);

export const drainedSchema = Type.Object({ worker_id: Type.String(), pipelines_migrated: count, status: Type.Literal('drained') }, strict);

/** Between coordinators: the one that was asked waits for the moves. */
export const drainingSchema = Type.Object({ worker_id: Type.String(), status: Type.Literal('draining') }, strict);

export const workerDeletedSchema = Type.Object({ deleted: Type.Literal(true), reassigned: count }, strict);

const name = Type.String({ minLength: 1, maxLength: 128 });

const groupPipelineMembers = {
  name,
  source: Type.String({ description: 'Text of a program.', examples: ['stream Hot = Reading.where(value > 30).emit(value: value)'] }),
  worker_affinity: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'A worker that is preferred while it has room.' }),
  ),
  replicas: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description: 'Default: 1.' })),
  partition_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'The field by which events are divided among replicas.' }),
  ),
};

const routeSchema = Type.Object(
  {
    from_pipeline: Type.String({ minLength: 1, maxLength: 128, description: '`_external`: events that are injected.' }),
    to_pipeline: name,
    event_types: Type.Array(name, { maxItems: 1_000, description: 'Types, beginnings of types with `*`, or `*`.' }),
  },
  strict,
);

const groupContent = {
  pipelines: Type.Array(Type.Object(groupPipelineMembers, strict), { minItems: 1, maxItems: 1_000 }),
  routes: Type.Optional(Type.Array(routeSchema, { maxItems: 1_000 })),
};

/** Pipelines that are run together, and what goes from one to the other. */
export const groupRequestSchema = Type.Object({ name, ...groupContent }, strict);

export const groupChangeSchema = Type.Object({ name: Type.Optional(name), ...groupContent }, strict);

const deploymentSchema = Type.Object(
  {
    worker_id: Type.Union([Type.String(), Type.Null()], { description: 'Null while no worker has it.' }),
    worker_address: Type.Union([Type.String(), Type.Null()]),
    pipeline_name: Type.String(),
    pipeline_id: Type.Union([Type.String(), Type.Null()], { description: 'At its worker; null while no worker has it.' }),
    replica: count,
    status: Type.Enum(['pending', 'assigned', 'running', 'degraded', 'failed']),
    epoch: count,
    error: Type.Optional(Type.String()),
  },
  strict,
);

export const groupSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(['deploying', 'running', 'degraded', 'failed', 'draining']),
    version: Type.Integer({ minimum: 1, description: 'One more with each change.' }),
    created_at: timestamp,
    updated_at: timestamp,
    pipelines: Type.Array(Type.Object({ ...groupPipelineMembers, replicas: Type.Integer({ minimum: 1 }) }, strict)),
    routes: Type.Array(routeSchema),
    deployments: Type.Array(deploymentSchema),
  },
  strict,
);

/** The group after a change. */
export const groupChangedSchema = Type.Object(
  {
    ...groupSchema.properties,
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'What the change does to state and sources; not there where it does nothing.' }),
    ),
  },
  strict,
);

export const tornDownSchema = Type.Object({ torn_down: Type.Boolean({ description: 'False: workers are still stopping it.' }) }, strict);

const migrationStatus = Type.Enum(['started', 'moved', 'completed', 'failed']);

export const migrationSchema = Type.Object(
  {
    id: Type.String(),
    group: Type.String(),
    pipeline: Type.String(),
    replica: count,
    source_worker: Type.String(),
    target_worker: Type.String(),
    status: migrationStatus,
    epoch: count,
    error: Type.Optional(Type.String()),
  },
  strict,
);

export const migrateRequestSchema = Type.Object(
  {
    target_worker_id: Type.Optional(Type.String({ description: 'Default: the one that new pipelines would get.' })),
    replica: Type.Optional(count),
  },
  strict,
);

export const topologySchema = Type.Object(
  {
    workers: Type.Array(
      Type.Object({ id: Type.String(), address: Type.String(), status: Type.String(), pipeline_groups: Type.Array(Type.String()) }, strict),
    ),
    groups: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          pipelines: Type.Array(
            Type.Object({ name: Type.String(), worker_id: Type.Union([Type.String(), Type.Null()]), replica: count }, strict),
          ),
          routes: Type.Array(routeSchema),
        },
        strict,
      ),
    ),
    routes: Type.Array(
      Type.Object(
        {
          source_worker: Type.Union([Type.String(), Type.Null()]),
          source_pipeline: Type.String(),
          target_worker: Type.Union([Type.String(), Type.Null()]),
          target_pipeline: Type.String(),
          event_types: Type.Array(Type.String()),
        },
        strict,
      ),
      { description: 'Each route between each two workers.' },
    ),
    routes_omitted: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Where there are very many: how many `routes` lacks. Those of `groups` are all there.' }),
    ),
  },
  strict,
);

const load = Type.Object({ cpu: Type.Optional(Type.Number()), queue: Type.Optional(Type.Number()) }, strict);

export const clusterMetricsSchema = Type.Object(
  {
    totals: Type.Object(
      { workers: count, pipeline_groups: count, deployments: count, events_processed: count, events_in: count, events_out: count },
      strict,
    ),
    workers: Type.Array(
      Type.Object(
        {
          ...{ id: Type.String(), status: Type.String(), events_processed: count, events_per_second: Type.Number({ minimum: 0 }) },
          ...{ pipelines_running: count, load },
        },
        strict,
      ),
    ),
    pipelines: Type.Array(
      Type.Object(
        { group: Type.String(), pipeline: Type.String(), replica: count, worker_id: Type.String(), events_in: count, events_out: count },
        strict,
      ),
    ),
  },
  strict,
);

export const scalingSchema = Type.Object(
  {
    action: Type.Enum(['scale_up', 'scale_down', 'stable']),
    current_workers: count,
    target_workers: count,
    reason: Type.String(),
    avg_pipelines_per_worker: Type.Number({ minimum: 0 }),
    total_pipelines: count,
    load: Type.Number({ minimum: 0, description: 'Pipelines of each ready worker.' }),
    timestamp,
  },
  strict,
);
