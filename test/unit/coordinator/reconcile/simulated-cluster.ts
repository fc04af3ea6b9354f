import { manifestWire } from '../../../../coordinator/reconcile/desired-placement.ts';
import type { ClusterState, GroupPipeline, Placement } from '../../../../coordinator/state/cluster-state.ts';
import { LATEST_FORMAT } from '../../../../coordinator/state/format.ts';
import { crc32c } from '../../../../shared/checksum/crc32c.ts';
import { CepError, invariant } from '../../../../shared/errors/error.ts';
import { externalSource, placedPipelineId } from '../../../../shared/protocol/placements.ts';
import { LATEST_STATE_FORMAT } from '../../../../worker/engine/state/format.ts';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from '../../../../worker/membership/coordinator-client.ts';
import { SimulatedCoordinators } from './simulated-coordinators.ts';
import { SimulatedNetwork, settled } from './simulated-network.ts';
import { SimulatedPipeline, type Worked } from './simulated-pipeline.ts';
import { SimulatedWorker } from './simulated-worker.ts';

/** How long a coordinator waits for a worker. */
const ANSWER_MS = 30_000;
const BEAT_MS = 5_000;
/** How fast the clocks of processes run. */
const PACES = [1, 0.94, 1.05];

/** A cluster without sockets, disks and engines: the reconciliation, the state, the leases and the placements that ship. */
export class SimulatedCluster {
  readonly network = new SimulatedNetwork();
  readonly coordinators: SimulatedCoordinators;
  /** Every process that there ever was. */
  readonly processes: SimulatedWorker[] = [];
  readonly problems: string[] = [];
  readonly #openedUnder = new Map<string, string>();
  /** By placement and batch, the program that worked it first. */
  readonly #workedBy = new Map<string, Map<number, string>>();
  groupId = '';

  constructor() {
    this.coordinators = new SimulatedCoordinators(this.network, this.#client(), (before, after) => this.#agreed(before, after));
    this.coordinators.agree({ type: 'RaiseFormat', payload: { format: LATEST_FORMAT } });
  }

  get state(): ClusterState {
    return this.coordinators.state;
  }

  /** The process that has the place of a worker now. */
  process(id: string): SimulatedWorker | undefined {
    return this.processes.findLast((one) => one.id === id && one.isAlive);
  }

  start(id: string): void {
    this.process(id)?.kill();
    this.startElsewhere(id);
  }

  /** On another machine, to which the name of the worker leads from now on. The process before it, if there is one, goes on where it is. */
  startElsewhere(id: string): void {
    const incarnation = `i${this.processes.length + 1}`;
    const worker: SimulatedWorker = new SimulatedWorker({
      ...{ id, incarnation, network: this.network, pace: PACES[this.processes.length % PACES.length] as number },
      askCluster: (request) => this.#askCluster(worker, request),
    });
    this.processes.push(worker);
  }

  deploy(names: readonly string[]): void {
    const made = this.coordinators.agree({ type: 'CreateGroup', payload: { name: 'g', pipelines: pipelinesOf(names, 1), routes: [] } });
    this.groupId = (made as { id: string }).id;
  }

  change(names: readonly string[], version: number): void {
    this.coordinators.agree({ type: 'UpdateGroup', payload: { id: this.groupId, pipelines: pipelinesOf(names, version), routes: [] } });
  }

  inject(placementId: string): void {
    const batch = { placementId, receivedAtMs: this.network.nowMs, events: '[{"event_type":"E","fields":{}}]', eventCount: 1 };
    this.coordinators.agree({ type: 'AppendIngress', payload: { batches: [batch] } });
  }

  placement(at: number): Placement | undefined {
    const all = [...this.state.placements.values()];
    return all[at % Math.max(1, all.length)];
  }

  /** A process tells the group what it runs, or first who it is. */
  beat(worker: SimulatedWorker): void {
    if (!worker.works || worker.isReplaced) return;
    if (!worker.isRegistered) {
      this.network.send(() => this.#register(worker));
      return;
    }
    worker.table.look();
    const report = worker.table.report();
    const sentAt = worker.now();
    const body = { incarnation: worker.incarnation, state_format: LATEST_STATE_FORMAT, ...report };
    const { heartbeats } = this.coordinators.leader;
    void this.network
      .ask(
        () => heartbeats.take(worker.id, body),
        () => new NoCoordinator(),
      )
      .then(
        ({ lease_ms: leaseMs, fenced, state_format: stateFormat }) =>
          worker.reach(() => worker.table.acknowledged(report, { sentAt, leaseMs, fenced, stateFormat })),
        (error: unknown) => worker.reach(() => this.#heartbeatRefused(worker, error)),
      );
  }

  #heartbeatRefused(worker: SimulatedWorker, error: unknown): void {
    if (!(error instanceof CepError)) return;
    if (error.code === 'worker_not_found') worker.isRegistered = false;
    if (error.code === 'stale_incarnation') this.#replaced(worker);
  }

  #replaced(worker: SimulatedWorker): void {
    worker.isReplaced = true;
    worker.table.close();
  }

  #register(worker: SimulatedWorker): void {
    if (!worker.isAlive) return;
    const { id, incarnation } = worker;
    const payload = { id, address: `http://${id}`, incarnation, version: '1', cpuCores: 1, pipelinesMax: 0 };
    const made = this.coordinators.agree({ type: 'RegisterWorker', payload });
    this.network.send(() => {
      if (made === undefined) this.#replaced(worker);
      else worker.isRegistered = true;
    });
  }

  /** What happens one after the other, until nothing is on its way or so much has happened. */
  async settle(most: number): Promise<void> {
    for (let at = 0; at < most && this.network.size > 0; at++) {
      this.network.deliver(0);
      await this.turn();
    }
  }

  /** Everything that waits for nobody happens; then leaders look. */
  async turn(): Promise<void> {
    await settled();
    this.coordinators.look();
    await settled();
    this.#inspect();
  }

  // ---------------------------------------------------------------------------------------------- between them

  #client(): ConstructorParameters<typeof SimulatedCoordinators>[1] {
    const ask = <T>(address: string, handle: (worker: SimulatedWorker) => Promise<T>): Promise<T> =>
      this.network.ask(
        () =>
          new Promise<T>((resolve, reject) => {
            this.network.after(ANSWER_MS, () => reject(new Error('no answer in time')));
            const worker = this.process(address.slice('http://'.length));
            if (worker === undefined) reject(new Error('nobody listens there'));
            else worker.reach(() => void handle(worker).then(resolve, reject));
          }),
        () => new Error('no answer'),
      );
    return {
      put: ({ address, placementId }, body) => ask(address, (worker) => worker.act((table) => table.put(placementId, body))),
      prepare: async ({ address, placementId }, program) => {
        await ask(address, (worker) => worker.act((table) => table.prepare(placementId, program)));
      },
      delete: ({ address, placementId }, epoch, flushMs) =>
        ask(address, (worker) =>
          worker.act(async (table) => {
            await table.delete(placementId, epoch, flushMs);
            return worker.incarnation;
          }),
        ),
      close: ({ address, placementId }, epoch, options) =>
        ask(address, (worker) => worker.act((table) => table.get(placementId).close(epoch, options))),
      reopen: ({ address, placementId }, epoch) => ask(address, (worker) => worker.act((table) => table.get(placementId).reopen(epoch))),
      checkpoint: ({ address, placementId }, epoch) =>
        ask(address, (worker) => worker.act((table) => table.get(placementId).checkpoint(epoch))),
      deliver: ({ address, placementId }, { json }) =>
        ask(address, (worker) =>
          worker.act(async (table) => {
            const body = JSON.parse(Buffer.from(json).toString());
            const { received, results } = await table.deliver(placementId, body);
            return { received, results: results.map(({ sequence, isRepeat }) => resultOf(sequence, isRepeat)) };
          }),
        ),
    };
  }

  #askCluster(worker: SimulatedWorker, request: CoordinatorRequest): Promise<CoordinatorAnswer> {
    if (!worker.isAlive) return new Promise(() => undefined);
    const asked = this.network.ask(
      async () => this.#answer(request),
      () => new NoCoordinator(),
    );
    return new Promise((resolve, reject) => {
      asked.then(
        (answer) => worker.reach(() => resolve(answer)),
        (error: unknown) => worker.reach(() => reject(error)),
      );
    });
  }

  #answer({ method, path, body }: CoordinatorRequest): CoordinatorAnswer {
    const [, , id = '', epoch, sequence] = (path.split('?')[0] as string).split('/').map(decodeURIComponent);
    const name = `${id}/${epoch}/${sequence}`;
    if (method === 'PUT') {
      this.coordinators.blobs.set(`${name}/${crc32c(body as Buffer)}`, body as Buffer);
      return answer(201, { locations: ['node-1'] });
    }
    const manifests = this.state.manifests.get(id) ?? [];
    if (method === 'GET' && epoch === undefined) {
      const newest = manifests.at(-1);
      return newest === undefined ? answer(404, {}, 'checkpoint_not_found') : answer(200, manifestWire(newest));
    }
    if (method === 'GET') {
      const manifest = manifests.find((one) => `${one.epoch}/${one.sequence}` === `${epoch}/${sequence}`);
      const bytes = this.coordinators.blobs.get(`${name}/${manifest?.checksum}`);
      return bytes === undefined ? answer(404, {}, 'checkpoint_not_found') : { status: 200, bytes, code: undefined, message: undefined };
    }
    const { is_former: isFormer = false, ...manifest } = body as { readonly is_former?: boolean };
    const payload = { placementId: id, epoch: Number(epoch), sequence: Number(sequence), ...manifest, ...(isFormer && { isFormer }) };
    const isCurrent = this.state.placements.get(id)?.epoch === payload.epoch && this.state.placements.get(id)?.workerId !== undefined;
    const done = this.coordinators.agree({ type: 'CommitCheckpoint', payload: payload as never });
    if (done !== undefined) return answer(200, {});
    return answer(409, {}, isCurrent ? 'transition_refused' : 'stale_epoch');
  }

  // ---------------------------------------------------------------------------------------------- what must hold always

  #agreed(before: ClusterState, after: ClusterState): void {
    for (const { id, epoch } of before.placements.values()) {
      const now = after.placements.get(id);
      // What has failed, or is another one under the same name, need not go on as it was.
      if (now === undefined || now.status === 'failed') this.#workedBy.delete(placedPipelineId(id));
      if (now !== undefined && now.epoch < epoch) this.problems.push(`the epoch of ${id} went from ${epoch} to ${now.epoch}`);
    }
    if (before.placements !== after.placements) this.#removed(before, after);
    for (const { id, status, placementId, sourceWorker } of after.migrations.values()) {
      if (status === 'moved' && before.migrations.get(id)?.status === 'started') this.#moved(placementId, sourceWorker);
    }
  }

  /** What was accepted for a placement outlives its place in the group, until a checkpoint has it. */
  #removed(before: ClusterState, after: ClusterState): void {
    for (const { placementId, first, last } of before.ingressLogs.values()) {
      if (!after.placements.has(placementId) && first <= last)
        this.problems.push(`${placementId} has gone without what ${first} to ${last} are`);
    }
  }

  /** The target goes on with a checkpoint that has all that the source made something of. */
  #moved(id: string, source: string): void {
    const held = this.process(source)
      ?.table.list()
      .find(({ placement_id: one }) => one === id);
    const pipeline = [...(this.process(source)?.host.pipelines ?? [])].find((one) => one.id === held?.pipeline_id);
    const kept = this.state.manifests.get(id)?.at(-1)?.received[externalSource] ?? 0;
    const seen = pipeline?.seen.length ?? 0;
    if (seen > kept) this.problems.push(`${id} has moved with ${kept} of the ${seen} batches that ${source} had seen`);
  }

  #inspect(): void {
    for (const { host } of this.processes) for (const one of host.worked.splice(0)) this.#noteWorked(one);
    const holders = new Map<string, string>();
    for (const worker of this.processes) {
      for (const { id } of worker.open) {
        const other = holders.get(id);
        if (other !== undefined) this.problems.push(`${id} is open at ${other} and at ${worker.key}`);
        holders.set(id, worker.key);
        this.#noteOpen(worker, id);
      }
    }
  }

  /** However often a batch is worked, it is by one program, and what it makes has the ids of the first time: all workers are of one version. */
  #noteWorked({ pipelineId, createdIndex, sequence, program }: Worked): void {
    const now = [...this.state.placements.values()].find(({ id }) => placedPipelineId(id) === pipelineId);
    // Of one that was taken out of its group it does not matter any more.
    if (now === undefined || (createdIndex ?? now.createdIndex) !== now.createdIndex) return;
    if (createdIndex === undefined)
      this.problems.push(`batch ${sequence} of ${pipelineId} was worked by '${program}' with ids of nobody knows when`);
    const known = this.#workedBy.get(pipelineId) ?? new Map<number, string>();
    this.#workedBy.set(pipelineId, known);
    const first = known.get(sequence) ?? program;
    if (first !== program) this.problems.push(`batch ${sequence} of ${pipelineId} was worked by '${first}' and by '${program}'`);
    known.set(sequence, first);
  }

  #noteOpen(worker: SimulatedWorker, pipelineId: string): void {
    const placement = worker.table.list().find(({ pipeline_id: id }) => id === pipelineId);
    if (placement === undefined) return;
    const under = `${placement.placement_id}@${placement.epoch}`;
    const first = this.#openedUnder.get(under) ?? worker.key;
    if (first !== worker.key) this.problems.push(`${under} was opened by ${first} and by ${worker.key}`);
    this.#openedUnder.set(under, first);
  }

  // ---------------------------------------------------------------------------------------------- how it must end

  /** From here on nothing fails any more. Gives what is not as it must be after a while. */
  async heal(): Promise<readonly string[]> {
    for (const worker of this.processes) {
      worker.goOn();
      worker.host.refuses = false;
      // One of two processes of one name is ended, and one that another has replaced is started again.
      if (worker.isAlive && this.process(worker.id) !== worker) worker.kill();
    }
    for (const { id, isAlive, isReplaced } of [...this.processes]) if (isAlive && isReplaced) this.start(id);
    this.start('spare');
    let left: readonly string[] = [];
    for (let round = 0; round < 90; round++) {
      for (const worker of this.processes) this.beat(worker);
      await this.settle(2_000);
      left = this.#unfinished();
      if (left.length === 0) return [];
      this.#provenDeaths();
      this.network.advance(BEAT_MS);
      await this.turn();
    }
    return left;
  }

  /** The leader sees connections that break. */
  #provenDeaths(): void {
    const { leases } = this.coordinators.leader.reconciler;
    for (const worker of this.processes) if (!worker.isAlive) leases.died(worker);
  }

  #unfinished(): readonly string[] {
    const left: string[] = [];
    const { placements, migrations, ingressLogs, workers } = this.state;
    for (const placement of placements.values()) {
      const { id, workerId, epoch, status, leavingVersion } = placement;
      if (leavingVersion !== undefined) left.push(`${id} has not left`);
      const holders = this.processes.filter((worker) => worker.isAlive && worker.table.list().some((held) => held.placement_id === id));
      const owner = holders[0];
      const held = owner?.table.get(id);
      if (status !== 'running' || holders.length !== 1 || owner?.id !== workerId || held?.epoch !== epoch || held.status !== 'running') {
        left.push(
          `${id}: ${status} at ${workerId} under ${epoch}, held by ${holders.map((one) => `${one.key} ${one.table.get(id).status}`)}`,
        );
        continue;
      }
      const { pipeline } = held;
      invariant(pipeline instanceof SimulatedPipeline, 'simulated workers hold simulated pipelines');
      const { seen } = pipeline;
      const sent = ingressLogs.get(id)?.last ?? 0;
      const isWhole = seen.length === sent && seen.every((sequence, at) => sequence === at + 1);
      if (!isWhole) left.push(`${id} has seen ${seen} of ${sent}`);
    }
    for (const { key, isAlive, host } of this.processes)
      if (isAlive && host.warmed.size > 0) left.push(`${key} keeps ${host.warmed.size} engines`);
    for (const { id, status } of migrations.values()) if (status === 'started' || status === 'moved') left.push(`${id} is ${status}`);
    for (const { id, status } of workers.values()) if (status === 'draining') left.push(`${id} is draining`);
    return left;
  }
}

function pipelinesOf(names: readonly string[], version: number): GroupPipeline[] {
  return names.map((name) => ({ name, source: `version ${version}`, replicas: 1 }));
}

function answer(status: number, body: object, code?: string): CoordinatorAnswer {
  return { status, bytes: Buffer.from(JSON.stringify(body)), code, message: code };
}

function resultOf(sequence: number, isRepeat: boolean) {
  return { sequence, is_repeat: isRepeat, errors: [], outputs: '[]', outputsOmitted: 0 };
}
