import fc from 'fast-check';
import { type Applied, apply } from '../../../../coordinator/state/apply.ts';
import type { ClusterState } from '../../../../coordinator/state/cluster-state.ts';
import { emptyState, indexKey } from '../../../../coordinator/state/cluster-state.ts';
import type { Command, Proposal, RequestId } from '../../../../coordinator/state/commands.ts';

const name = fc.constantFrom('a', 'b', 'c');
const workerId = fc.constantFrom('w1', 'w2', 'w3');
const incarnation = fc.constantFrom('i1', 'i2', 'i3');
/** Ids are made of the index of the command that made the thing, so early ones are met often. */
const early = fc.integer({ min: 1, max: 14 });
const firstGroup = `g_${indexKey(5)}`;
const groupId = fc.oneof(
  fc.constant(firstGroup),
  early.map((index) => `g_${indexKey(index)}`),
);
const migrationId = fc.oneof(fc.constant(8), fc.integer({ min: 1, max: 60 })).map((index) => `m_${indexKey(index)}`);
const placementId = fc
  .tuple(groupId, name, fc.integer({ min: 0, max: 1 }))
  .map(([group, pipeline, replica]) => `${group}:${pipeline}:${replica}`);
const epoch = fc.oneof(fc.constantFrom(6, 7), fc.integer({ min: 0, max: 60 }));
const error = fc.option(fc.constantFrom('boom', 'no disk'), { nil: undefined });

const pipeline = fc.record(
  { name, source: fc.constantFrom('', 'stream S = E'), replicas: fc.integer({ min: 1, max: 2 }), partitionKey: name },
  { requiredKeys: ['name', 'source', 'replicas'] },
);
const route = fc.record({
  fromPipeline: fc.oneof(name, fc.constant('_external')),
  toPipeline: name,
  eventTypes: fc.array(name, { maxLength: 2 }),
});
const content = { pipelines: fc.array(pipeline, { minLength: 1, maxLength: 3 }), routes: fc.array(route, { maxLength: 2 }) };
const connector = fc.record({
  name,
  type: fc.constantFrom('kafka', 'http'),
  parameters: fc.dictionary(name, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<never>),
});

const anyRequest: fc.Arbitrary<RequestId> = fc.record({
  session: fc.constantFrom('s1', 's2', 's3'),
  sequence: fc.integer({ min: 1, max: 4 }),
  lowestUnacknowledged: fc.integer({ min: 1, max: 4 }),
  digest: fc.constantFrom('x', 'y'),
});

const ingressBatch = fc.record({ placementId, receivedAtMs: fc.nat(), eventCount: fc.integer({ min: 1, max: 2 }) });

const ingressOfMany = fc
  .array(
    fc.record({ request: fc.option(anyRequest, { nil: undefined }), batches: fc.array(ingressBatch, { minLength: 1, maxLength: 2 }) }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((requests) => {
    const count = requests.reduce((sum, { batches }) => sum + batches.length, 0);
    return fc.record({
      requests: fc.constant(requests),
      texts: fc.array(fc.constantFrom('[{}]', '[{"ä":1}]'), { minLength: count, maxLength: count }),
    });
  });

const payloads: { readonly [T in Command['type']]: fc.Arbitrary<unknown> } = {
  CreateConnector: connector,
  UpdateConnector: connector,
  DeleteConnector: fc.record({ name }),
  SetMember: fc.record({ id: fc.integer({ min: 1, max: 5 }), url: fc.constantFrom('http://a', 'http://b', 'http://c') }),
  RemoveMember: fc.record({ id: fc.integer({ min: 1, max: 5 }) }),
  RegisterWorker: fc.record({
    id: workerId,
    address: fc.constant('http://w'),
    incarnation,
    version: fc.constant('1'),
    cpuCores: fc.constant(2),
    pipelinesMax: fc.constant(10),
  }),
  SetWorkerStatus: fc.record({
    id: workerId,
    incarnation,
    status: fc.constantFrom('registering', 'ready', 'ready', 'ready', 'unhealthy', 'draining', 'drained', 'removed'),
  }),
  RemoveWorker: fc.record({ id: workerId }),
  CreateGroup: fc.record({ name, ...content }),
  UpdateGroup: fc.record({ id: groupId, ...content }),
  DrainGroup: fc.record({ id: groupId }),
  DeleteGroup: fc.record({ id: groupId }),
  AssignPlacement: fc.record({ id: placementId, workerId }),
  ReleasePlacement: fc.record({ id: placementId, epoch }),
  ReportPlacement: fc.record({ id: placementId, epoch, status: fc.constantFrom('running', 'degraded', 'failed'), error }),
  RemovePlacement: fc.record({ id: placementId, epoch }),
  StartMigration: fc.record({ placementId, targetWorker: workerId }),
  MovePlacement: fc.record({ migrationId }),
  EndMigration: fc.record({ migrationId, status: fc.constantFrom('completed', 'failed'), error }),
  CommitCheckpoint: fc.record({
    placementId,
    epoch,
    sequence: fc.integer({ min: 1, max: 4 }),
    bytes: fc.nat(),
    checksum: fc.nat(),
    locations: fc.constant(['file:a']),
    received: fc.dictionary(fc.constantFrom('_external', 'a'), fc.integer({ min: 0, max: 4 })),
  }),
  AppendIngress: fc.record({
    batches: fc.array(
      fc.record({
        placementId,
        receivedAtMs: fc.nat(),
        events: fc.constantFrom('[{}]', '[{},{}]'),
        eventCount: fc.integer({ min: 1, max: 2 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  AppendIngressOfMany: ingressOfMany,
  AppendDividedIngress: fc
    .tuple(ingressOfMany, fc.array(fc.record({ id: groupId, version: fc.integer({ min: 1, max: 2 }) }), { minLength: 1, maxLength: 2 }))
    .map(([ofMany, groups]) => ({ groups, ...ofMany })),
  RaiseFormat: fc.record({ format: fc.constantFrom(1, 2, 3, 4) }),
  SetScalingPolicy: fc.record({ workersMin: fc.nat(3), workersMax: fc.nat(3), upThreshold: fc.nat(3), downThreshold: fc.nat(3) }),
};

/** Any command, most of them about a few workers, groups and connectors, so that they meet. */
const anyCommand: fc.Arbitrary<Command> = fc
  .constantFrom(...(Object.keys(payloads) as Command['type'][]))
  .chain((type) => (payloads[type] as fc.Arbitrary<never>).map((payload) => ({ type, payload }) as Command));

/** Times go forward and back, and seldom far ahead, so that sessions end. */
const anyTime = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 1_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 10_000_000 }) },
);

/** Fields that are undefined are left out, as JSON does. */
export const anyProposal: fc.Arbitrary<Proposal> = fc
  .record({ command: anyCommand, request: fc.option(anyRequest, { nil: undefined }), atMs: anyTime })
  .map(({ request, ...rest }) => ({ ...(JSON.parse(JSON.stringify(rest)) as Omit<Proposal, 'request'>), request }));

/** A log in which workers are ready and a group is there, and then anything. */
export const anyLog: fc.Arbitrary<readonly Proposal[]> = fc
  .array(anyProposal, { minLength: 1, maxLength: 60, size: 'max' })
  .map((rest) => [...prelude, ...rest]);

const proposal = (command: Command): Proposal => ({ command, request: undefined, atMs: 0 });

const worker = (id: string): Proposal[] => [
  proposal({ type: 'RegisterWorker', payload: { id, address: 'http://w', incarnation: 'i1', version: '1', cpuCores: 2, pipelinesMax: 9 } }),
  proposal({ type: 'SetWorkerStatus', payload: { id, incarnation: 'i1', status: 'ready' } }),
];

/** Two workers, a group with two pipelines, both running. */
const prelude: readonly Proposal[] = [
  ...worker('w1'),
  ...worker('w2'),
  proposal({
    type: 'CreateGroup',
    payload: {
      name: 'first',
      pipelines: [
        { name: 'a', source: '', replicas: 2, partitionKey: 'k' },
        { name: 'b', source: '', replicas: 1 },
      ],
      routes: [],
    },
  }),
  proposal({ type: 'AssignPlacement', payload: { id: `${firstGroup}:a:0`, workerId: 'w1' } }),
  proposal({ type: 'AssignPlacement', payload: { id: `${firstGroup}:b:0`, workerId: 'w1' } }),
  proposal({ type: 'StartMigration', payload: { placementId: `${firstGroup}:b:0`, targetWorker: 'w2' } }),
];

/** Applies a log from the place behind the state on. */
export function applyAll(log: readonly Proposal[], from: ClusterState = emptyState): ClusterState {
  return log.reduce((state, one) => step(state, one).state, from);
}

export function step(state: ClusterState, one: Proposal): Applied {
  return apply(state, one, { index: state.index + 1, term: 1 });
}
