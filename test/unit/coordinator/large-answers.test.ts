import { afterEach, describe, expect, it } from 'vitest';
import { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import { topologyWire } from '../../../coordinator/server/group-wire.ts';
import { type CoordinatorServer, createCoordinatorServer } from '../../../coordinator/server/server.ts';
import { apply } from '../../../coordinator/state/apply.ts';
import { type ClusterState, emptyState } from '../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../coordinator/state/commands.ts';
import { limits } from '../../../shared/limits.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

type Pipeline = Extract<Command, { type: 'CreateGroup' }>['payload']['pipelines'][number];
type Route = Extract<Command, { type: 'CreateGroup' }>['payload']['routes'][number];

const pipeline = (name: string, replicas = 1, source = ''): Pipeline => ({ name, source, replicas, partitionKey: 'user' });
const route = (fromPipeline: string, toPipeline: string, ...eventTypes: string[]): Route => ({ fromPipeline, toPipeline, eventTypes });

/** A coordinator, and what commands have made of its state. */
class Fixture {
  readonly #member: GroupMember;
  readonly server: CoordinatorServer;

  private constructor(member: GroupMember, server: CoordinatorServer) {
    this.#member = member;
    this.server = server;
  }

  static async start(): Promise<Fixture> {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    const group = new GroupMember({ member, replica, clock: () => 1 });
    const server = await createCoordinatorServer({
      ...{ group, isGroup: false, apiKey: undefined, web: {} as never, validate: (() => undefined) as never, version: '1' },
      ...{ telemetry: new Telemetry(silentLogger, new MetricRegistry()), rateLimit: 0, corsOrigins: [] },
    });
    return new Fixture(group, server);
  }

  async deploy(name: string, pipelines: readonly Pipeline[]): Promise<void> {
    await this.#member.propose({ type: 'CreateGroup', payload: { name, pipelines: [...pipelines], routes: [] } }, undefined);
  }

  async get(path: string) {
    const answer = await this.server.api.inject(`/api/v1/cluster/${path}`);
    return { status: answer.statusCode, total: answer.headers['x-total-count'], body: answer.json() };
  }
}

/** Workers that are ready, and one group whose pipelines they have in turn. */
function placed(workers: readonly string[], pipelines: readonly Pipeline[], routes: readonly Route[]): ClusterState {
  let state = emptyState;
  const run = (command: Command): void => {
    const applied = apply(state, { command, request: undefined, atMs: 1 }, { index: state.index + 1, term: 1 });
    expect(applied.result.kind).toBe('done');
    ({ state } = applied);
  };
  for (const id of workers) {
    const process = { id, incarnation: 'i' };
    run({ type: 'RegisterWorker', payload: { ...process, address: `http://${id}`, version: '1', cpuCores: 1, pipelinesMax: 0 } });
    run({ type: 'SetWorkerStatus', payload: { ...process, status: 'ready' } });
  }
  run({ type: 'CreateGroup', payload: { name: 'fraud', pipelines: [...pipelines], routes: [...routes] } });
  const of = (replica: number): string => workers[replica % workers.length] as string;
  for (const { id, replica } of [...state.placements.values()]) run({ type: 'AssignPlacement', payload: { id, workerId: of(replica) } });
  return state;
}

let fixture: Fixture | undefined;

afterEach(async () => {
  await fixture?.server.close();
  fixture = undefined;
});

it('a list of groups with very much text goes on behind those that it holds', async () => {
  fixture = await Fixture.start();
  const source = 'x'.repeat(1_000_000);
  const fit = Math.floor(limits.groupPageCharsMax / 1_000_000);
  for (let at = 0; at < fit + 3; at++) await fixture.deploy(`g${at}`, [pipeline('p', 1, source)]);
  const first = await fixture.get('pipeline-groups?limit=1000');
  const second = await fixture.get(`pipeline-groups?limit=1000&offset=${first.body.length}`);
  expect([first.status, second.status, first.total]).toEqual([200, 200, String(fit + 3)]);
  expect(first.body.length).toBeLessThanOrEqual(fit);
  const names = [...first.body, ...second.body].map(({ name }) => name);
  expect(names).toEqual(Array.from({ length: fit + 3 }, (_, at) => `g${at}`));
});

describe('the topology', () => {
  it('has each route between two workers once, however many replicas they have', () => {
    const pipelines = [pipeline('a', 256), pipeline('b', 256)];
    const state = placed(['w1', 'w2'], pipelines, [route('_external', 'a', '*'), route('a', 'b', 'X', 'Y')]);
    const { workers, groups, routes, routes_omitted: omitted } = topologyWire(state);
    expect(routes.map((one) => `${one.source_pipeline}@${one.source_worker} ${one.target_pipeline}@${one.target_worker}`).sort()).toEqual([
      ...['_external@null a@w1', '_external@null a@w2'],
      ...['a@w1 b@w1', 'a@w1 b@w2', 'a@w2 b@w1', 'a@w2 b@w2'],
    ]);
    expect(routes.at(-1)?.event_types).toEqual(['X', 'Y']);
    expect([groups[0]?.pipelines.length, omitted]).toEqual([512, undefined]);
    expect(workers.map(({ pipeline_groups: own }) => own)).toEqual([['fraud'], ['fraud']]);
  });

  it('says how many routes it lacks where there are very many', () => {
    const workers = Array.from({ length: 20 }, (_, at) => `w${at}`);
    const types = Array.from({ length: 500 }, (_, at) => `T${at}${'x'.repeat(120)}`);
    const state = placed(workers, [pipeline('a', 20), pipeline('b', 20)], [route('a', 'b', ...types), route('b', 'a', '*')]);
    const { routes, routes_omitted: omitted = 0, groups } = topologyWire(state);
    expect(JSON.stringify(routes).length).toBeLessThan(1.1 * limits.topologyRouteCharsMax);
    expect(routes.length).toBeGreaterThan(100);
    expect(routes.length + omitted).toBe(2 * 20 * 20);
    expect(groups[0]?.routes).toHaveLength(2);
  });
});
