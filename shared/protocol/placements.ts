import Type from 'typebox';
import { batchInjectedSchema, eventSchema } from './events.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const placementId = Type.String({ minLength: 1, maxLength: 512, description: '`<group id>:<pipeline>:<replica>`' });
const epoch = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Of the decision who runs the placement; whoever acts under an older one is refused.',
});

/** Where injected events come from: the source of their batches, and of the routes that say where they go. */
export const externalSource = '_external';

/**
 * `starting`: it may not run before a heartbeat that reported it was acknowledged. `closed`: it has stopped with everything it had in a
 * committed checkpoint, for another worker to go on. `fenced`: its lease has ended, and its state with it.
 */
export const workerPlacementStatuses = ['starting', 'running', 'degraded', 'failed', 'closed', 'fenced'] as const;
export type WorkerPlacementStatus = (typeof workerPlacementStatuses)[number];

/** Of the pipeline of a placement at its worker: it begins all ids of its outputs, and names it for brokers, in letters that all of them take. */
export function placedPipelineId(placementId: string): string {
  return placementId.replaceAll(':', '-');
}

/** How far the batches of each source are part of a pipeline's state, by the source. */
export const receivedSchema = Type.Record(Type.String(), count);

/** A checkpoint that counts. */
export const manifestSchema = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    epoch,
    bytes: count,
    checksum: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: 'CRC-32C.' }),
    locations: Type.Array(Type.String(), { minItems: 1, description: 'Coordinators that have its bytes, or `shared`.' }),
    received: receivedSchema,
  },
  strict,
);

/** Where output events of a placement go. */
export const placementRouteSchema = Type.Object(
  {
    event_types: Type.Array(Type.String({ description: 'A type, a prefix with `*`, or `*`.' })),
    partition_key: Type.Optional(Type.String({ description: 'By whose hash events are divided among the targets.' })),
    targets: Type.Array(
      Type.Object(
        {
          placement_id: placementId,
          replica: count,
          address: Type.Optional(Type.String({ description: 'Missing while no worker has it: what is for it waits.' })),
          epoch,
        },
        strict,
      ),
      { description: 'All replicas, in their order.' },
    ),
  },
  strict,
);

/** What a worker is to run. The same request may come any number of times. */
export const placementRequestSchema = Type.Object(
  {
    epoch,
    tenure: Type.Integer({
      minimum: 0,
      description:
        'The epoch since which the worker has had it without a break: what it holds since then, or later, has a state to go on with.',
    }),
    created_index: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'When it came, whoever has had it since. What there was before under the same id is another one: its outputs had other ids.',
      }),
    ),
    revision: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Of all below: another one under the same epoch has other routes.',
    }),
    group: Type.String(),
    group_id: Type.String(),
    pipeline: Type.String(),
    replica: count,
    replicas: Type.Integer({ minimum: 1 }),
    partition_key: Type.Optional(Type.String()),
    source: Type.String(),
    former_source: Type.Optional(
      Type.String({
        description:
          'The program that the checkpoint is of, and what was worked behind it: who begins here begins with that, and works it through first.',
      }),
    ),
    connectors: Type.Array(
      Type.Object({ name: Type.String(), connector_type: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) }, strict),
    ),
    checkpoint: Type.Optional(manifestSchema),
    ingress_sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The last batch of injected events that there is: time stands still until it was received.',
      }),
    ),
    routes: Type.Array(placementRouteSchema),
  },
  strict,
);

/** The program of a placement that is about to come to a worker. */
export const placementPreparationSchema = Type.Pick(placementRequestSchema, ['source', 'connectors'], strict);

export const placementPreparedSchema = Type.Object({ prepared: Type.Boolean() }, strict);

/** A placement as its worker has it. */
export const heldPlacementSchema = Type.Object({
  placement_id: placementId,
  epoch,
  revision: Type.String(),
  status: Type.Enum([...workerPlacementStatuses]),
  pipeline_id: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  checkpoint_sequence: Type.Optional(count),
  received: receivedSchema,
  /** What `close` and `checkpoint` have committed. */
  checkpoint: Type.Optional(manifestSchema),
});

export const heldPlacementsSchema = Type.Object({
  worker_id: Type.String(),
  incarnation: Type.String(),
  placements: Type.Array(heldPlacementSchema),
});

export const placementEpochSchema = Type.Object({ epoch }, strict);

/** That a placement which leaves may have for what it was given. */
export const FLUSH_MS_MAX = 600_000;

export const placementCloseSchema = Type.Object(
  {
    epoch,
    state_format: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The latest format of states in which its last checkpoint may be written.' }),
    ),
    flush_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FLUSH_MS_MAX,
        description: 'It leaves: for so long its sinks are waited for, and that receivers have what it made in checkpoints of their own.',
      }),
    ),
  },
  strict,
);

const batchSchema = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'One more than the batch before of the same source.',
    }),
    received_at: Type.Integer({
      minimum: 0,
      description: 'Epoch ms: when events arrived that have no time of their own, also on a repeat.',
    }),
    events: Type.Array(eventSchema),
  },
  strict,
);

const unrepeatedSchema = Type.Object(
  { from: Type.Integer({ minimum: 1 }), through: count },
  {
    ...strict,
    description:
      'Batches, from one to another, whose events the placement that sends never sends again, wherever it goes on: their ids can be forgotten. Only to who has said that it reads this.',
  },
);

/** Events of one source, in its order. */
export const deliveryRequestSchema = Type.Object(
  {
    epoch,
    from: Type.Object({ placement_id: placementId, epoch }, strict),
    unrepeated: Type.Optional(unrepeatedSchema),
    batches: Type.Array(batchSchema),
  },
  strict,
);

const resultSchema = Type.Object({
  sequence: count,
  is_repeat: Type.Boolean({ description: 'It was part of the state already, and did nothing now.' }),
  ...batchInjectedSchema.properties,
  errors: Type.Array(
    Type.Object(
      {
        ...batchInjectedSchema.properties.errors.items.properties,
        field: Type.Optional(
          Type.String({
            description: 'The one that is wrong, empty when the event as a whole is; a worker of an earlier version does not say it.',
          }),
        ),
      },
      strict,
    ),
  ),
});

export const deliveryAnswerSchema = Type.Object({
  received: Type.Integer({
    minimum: 0,
    description: 'The last batch of the source: of injected events that is part of the state, of another placement that was taken in.',
  }),
  durable: Type.Integer({ minimum: 0, description: 'The last one that is part of a committed checkpoint: it is not asked for again.' }),
  reads_unrepeated: Type.Optional(
    Type.Boolean({
      description: 'To another placement: deliveries may say `unrepeated`. A worker of an earlier version refuses them then.',
    }),
  ),
  results: Type.Array(resultSchema),
});

export const placementDeletedSchema = Type.Object(
  { deleted: Type.Boolean(), incarnation: Type.String({ description: 'Of the process that answers.' }) },
  strict,
);
