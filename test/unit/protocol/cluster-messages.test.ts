import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { checkpointCommitSchema, checkpointStoredSchema } from '../../../shared/protocol/cluster-checkpoints.ts';
import {
  heartbeatAnswerSchema,
  heartbeatRequestSchema,
  placementMetricsSchema,
  registeredSchema,
  registerRequestSchema,
} from '../../../shared/protocol/membership.ts';
import {
  deliveryAnswerSchema,
  deliveryRequestSchema,
  externalSource,
  heldPlacementSchema,
  heldPlacementsSchema,
  manifestSchema,
  placementEpochSchema,
  placementRequestSchema,
  placementRouteSchema,
  receivedSchema,
  type WorkerPlacementStatus,
} from '../../../shared/protocol/placements.ts';

const status: WorkerPlacementStatus = 'running';
const id = 'g_0000000000000a:joins:0';
const received = { [externalSource]: 4, 'g_0000000000000a:feeds:1': 2 };
const manifest = { sequence: 3, epoch: 17, bytes: 120, checksum: 4_294_967_295, locations: ['http://c1:9100', 'http://c2:9100'], received };
const route = {
  event_types: ['Alert*'],
  partition_key: 'region',
  targets: [{ placement_id: id, replica: 0, address: 'http://w2', epoch: 17 }],
};
const held = { placement_id: id, epoch: 17, revision: 'r1', status, pipeline_id: 'p1', checkpoint_sequence: 3, received };
const metrics = { group: 'fraud', pipeline: 'joins', replica: 0, events_in: 10, events_out: 1 };
const event = { event_type: 'Login', fields: { user: 'ada' } };
const notes = { accepted: 1, rejected: 0, errors: [], output_events: [], processing_time_us: 12 };

/** One of each message as it goes over the wire: a member that is renamed or becomes required breaks workers of the version before. */
const messages: readonly (readonly [name: string, schema: TSchema, message: unknown])[] = [
  [
    'registration',
    registerRequestSchema,
    {
      ...{ worker_id: 'w1', address: 'http://w1:9000', incarnation: 'i1', version: '0.1.0' },
      capacity: { cpu_cores: 2, pipelines_running: 0, max_pipelines: 100 },
    },
  ],
  [
    'answer to a registration',
    registeredSchema,
    {
      ...{ worker_id: 'w1', status: 'registered', heartbeat_interval_secs: 5, heartbeat_timeout_secs: 15 },
      ...{ lease_ms: 13_500, epoch: 9, coordinators: ['http://c1:9100'] },
    },
  ],
  ['heartbeat of a worker that has nothing', heartbeatRequestSchema, { incarnation: 'i1' }],
  [
    'heartbeat',
    heartbeatRequestSchema,
    {
      ...{ incarnation: 'i1', events_processed: 10, pipelines_running: 1, load: { cpu: 0.5, queue: 3 }, pipeline_metrics: [metrics] },
      pipelines: [{ placement_id: id, group: 'fraud', pipeline: 'joins', replica: 0, epoch: 17, status, revision: 'r1', received }],
    },
  ],
  ['answer to a heartbeat', heartbeatAnswerSchema, { acknowledged: true, lease_ms: 13_500, fenced: [id], coordinators: [] }],
  ['counts of a placement', placementMetricsSchema, metrics],
  [
    'placement to run',
    placementRequestSchema,
    {
      ...{
        epoch: 17,
        tenure: 12,
        revision: 'r1',
        group: 'fraud',
        group_id: 'g_0000000000000a',
        pipeline: 'joins',
        replica: 0,
        replicas: 2,
      },
      ...{ partition_key: 'user', source: 'stream S = Login', connectors: [], checkpoint: manifest, routes: [route] },
    },
  ],
  ['route', placementRouteSchema, route],
  ['placement as it is held', heldPlacementSchema, held],
  ['placement that has closed', heldPlacementSchema, { ...held, status: 'closed', checkpoint: manifest }],
  ['all placements of a worker', heldPlacementsSchema, { worker_id: 'w1', incarnation: 'i1', placements: [held] }],
  ['epoch', placementEpochSchema, { epoch: 17 }],
  ['what was received', receivedSchema, received],
  [
    'delivery',
    deliveryRequestSchema,
    {
      epoch: 17,
      from: { placement_id: externalSource, epoch: 0 },
      batches: [{ sequence: 5, received_at: 1_700_000_000_000, events: [event] }],
    },
  ],
  ['answer to a delivery', deliveryAnswerSchema, { received: 5, durable: 4, results: [{ sequence: 5, is_repeat: false, ...notes }] }],
  ['checkpoint', manifestSchema, manifest],
  [
    'checkpoint that is safe',
    checkpointStoredSchema,
    { placement_id: id, epoch: 17, sequence: 3, bytes: 120, checksum: 1, locations: ['http://c1:9100'] },
  ],
  ['commit of a checkpoint', checkpointCommitSchema, { bytes: 120, checksum: 1, locations: ['http://c1:9100'], received }],
];

describe('messages between coordinators and workers', () => {
  it.each(messages)('takes the %s', (_name, schema, message) => {
    expect([...Value.Errors(schema, message)]).toEqual([]);
  });

  it('takes a heartbeat of a later version, which says more', () => {
    expect(Value.Check(heartbeatRequestSchema, { incarnation: 'i1', mood: 'good', load: { cpu: 1, disk: 2 } })).toBe(true);
  });

  it('refuses a batch without a place in the order of its source', () => {
    const delivery = {
      epoch: 17,
      from: { placement_id: externalSource, epoch: 0 },
      batches: [{ sequence: 0, received_at: 1, events: [event] }],
    };
    expect(Value.Check(deliveryRequestSchema, delivery)).toBe(false);
  });
});
