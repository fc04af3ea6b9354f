import Type from 'typebox';

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

export const memberRemovedSchema = Type.Object({ removed: Type.Literal(true) }, strict);

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
      Type.Object({ role: Type.String(), leader_id: Type.Union([nodeId, Type.Null()]), term: count, recovering: Type.Boolean() }, strict),
    ),
    workers: Type.Object({ total: count, ready: count, unhealthy: count, draining: count }, strict),
    pipeline_groups: count,
    active_migrations: count,
  },
  strict,
);

export const clusterReadySchema = Type.Object({ status: Type.Literal('ready'), applied_index: count }, strict);

export const clusterIndexSchema = Type.Object(
  {
    name: Type.Literal('cep'),
    role: Type.Literal('coordinator'),
    version: Type.String(),
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

export const workerDeletedSchema = Type.Object({ deleted: Type.Literal(true), reassigned: count }, strict);
