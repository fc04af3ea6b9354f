import Type from 'typebox';
import { receivedSchema, workerPlacementStatuses } from './placements.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const workerId = Type.String({ pattern: '^(?!\\.\\.?$)[A-Za-z0-9._-]{1,128}$', examples: ['worker-1'] });
const incarnation = Type.String({ minLength: 1, maxLength: 64, description: 'Of the process: another one for each start.' });
const coordinators = Type.Array(Type.String(), { description: 'The URLs of all members of the group, to go on with another one.' });
const leaseMs = Type.Integer({
  minimum: 1,
  description: 'How long the placements of the heartbeat that are not fenced may run, counted from before it was sent.',
});

/** A process says that it is there. Members that a later version adds are not looked at. */
export const registerRequestSchema = Type.Object({
  worker_id: workerId,
  address: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'Where coordinators and workers reach it.',
    examples: ['http://10.0.0.7:9000'],
  }),
  api_key: Type.Optional(Type.String({ description: 'Not looked at: the request itself carries the key.' })),
  incarnation,
  version: Type.String({ maxLength: 64 }),
  capacity: Type.Object({
    cpu_cores: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    pipelines_running: count,
    max_pipelines: Type.Integer({ minimum: 0, maximum: 1_000_000, description: '0: as many as there are.' }),
  }),
});

/** Registration grants nothing: the first heartbeat makes the worker `ready`, and its answer is the first lease. */
export const registeredSchema = Type.Object(
  {
    worker_id: Type.String(),
    status: Type.Literal('registered'),
    heartbeat_interval_secs: Type.Number({ exclusiveMinimum: 0 }),
    heartbeat_timeout_secs: Type.Number({ exclusiveMinimum: 0 }),
    lease_ms: leaseMs,
    epoch: count,
    coordinators,
  },
  strict,
);

/** What a worker holds, whatever its status. */
const reportedPlacementSchema = Type.Object({
  placement_id: Type.Optional(Type.String({ maxLength: 512, description: 'Taken from group, pipeline and replica when it is missing.' })),
  group: Type.String({ maxLength: 128 }),
  pipeline: Type.String({ maxLength: 128 }),
  replica: Type.Optional(count),
  epoch: count,
  status: Type.Enum([...workerPlacementStatuses]),
  revision: Type.Optional(Type.String({ maxLength: 128 })),
  /** The id of the placement is that of its pipeline. */
  pipeline_id: Type.Optional(Type.String({ maxLength: 512 })),
  error: Type.Optional(Type.String({ maxLength: 4_096 })),
  checkpoint_sequence: Type.Optional(count),
  received: Type.Optional(receivedSchema),
});

/** What a pipeline has counted since it started there. */
export const placementMetricsSchema = Type.Object({
  group: Type.String({ maxLength: 128 }),
  pipeline: Type.String({ maxLength: 128 }),
  replica: Type.Optional(count),
  events_in: count,
  events_out: count,
  events_invalid: Type.Optional(count),
  events_late: Type.Optional(count),
  dlq_events: Type.Optional(count),
  active_runs: Type.Optional(count),
  state_bytes: Type.Optional(count),
});

export const heartbeatRequestSchema = Type.Object({
  incarnation,
  clock_ms: Type.Optional(
    Type.Number({ minimum: 0, maximum: 8.64e15, description: 'Epoch ms by the clock of the worker, as it was sent.' }),
  ),
  state_format: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The latest format of states that it reads; 1 for a worker that does not say.' }),
  ),
  events_processed: Type.Optional(count),
  pipelines_running: Type.Optional(count),
  pipelines: Type.Optional(Type.Array(reportedPlacementSchema, { maxItems: 10_000 })),
  pipeline_metrics: Type.Optional(Type.Array(placementMetricsSchema, { maxItems: 10_000 })),
  load: Type.Optional(
    Type.Object({
      cpu: Type.Optional(Type.Number({ minimum: 0, description: 'Cores in use.' })),
      queue: Type.Optional(Type.Number({ minimum: 0, description: 'Events that wait.' })),
    }),
  ),
});

/** An acknowledgement is a lease: what the heartbeat reported and is not fenced may run until it ends. */
export const heartbeatAnswerSchema = Type.Object(
  {
    acknowledged: Type.Literal(true),
    lease_ms: leaseMs,
    clock_ms: Type.Optional(
      Type.Integer({
        description: 'Epoch ms: the middle of the clocks of the leader and of the workers. Absent while too few were heard.',
      }),
    ),
    state_format: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The latest format of states that all workers read: checkpoints are written in it. Absent while one was not heard.',
      }),
    ),
    fenced: Type.Array(Type.String(), { description: 'Placements to stop at once; what they have not sent is not to be sent.' }),
    coordinators,
  },
  strict,
);
