import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

/** Who has no right to anything, and must change nothing. */
export const strangerFaults: readonly Fault[] = [
  {
    name: 'start another process under the id of a worker',
    rows: [49],
    run: async (arena) => {
      const { fleet } = arena;
      const worker = fleet.workers[0] as Part;
      const before = await incarnationOf(arena);
      arena.note(`start ${fleet.twin.name}`);
      fleet.twin.start();
      for (let tries = 0; tries < 400 && (await incarnationOf(arena)) === before; tries++) await arena.pause(50, 51);
      await arena.pause(0, 3_000);
      arena.note(`kill -9 ${fleet.twin.name} and ${worker.name}, start the latter`);
      await Promise.all([fleet.twin.kill(), worker.kill()]);
      worker.start();
    },
  },
  {
    name: 'start a process with another key under the id of a worker',
    rows: [49],
    run: async (arena, recovers) => {
      const { fleet } = arena;
      arena.note(`start ${fleet.twin.name} with another key`);
      fleet.twin.start({ CEP_API_KEY: 'the-key-of-another-cluster' });
      recovers();
      await arena.pause(2_000, 6_000);
      // By its address: the worker itself may have been started just before, and registers meanwhile.
      const { address } = (await workerOf(arena)).body;
      if (address === fleet.twin.url) arena.options.violated('a process with another key took the place of a worker');
      await fleet.twin.kill();
    },
  },
  {
    name: 'ask under an epoch that is over',
    rows: [18],
    run: async (arena, recovers) => {
      const worker = await arena.busyWorker();
      arena.note(`ask ${worker.name} and the coordinators under epochs that are over`);
      recovers();
      const { body } = await arena.fleet.askWorker(worker, 'GET', '/worker/placements');
      for (const held of body.placements as Held[]) await askUnderOld(arena, worker, held);
    },
  },
];

interface Held {
  readonly placement_id: string;
  readonly epoch: number;
}

async function askUnderOld(arena: Arena, worker: Part, { placement_id: id, epoch }: Held): Promise<void> {
  const { fleet } = arena;
  const [placement, old] = [encodeURIComponent(id), epoch - 1];
  const from = { placement_id: '_external', epoch: 0 };
  const commit = { bytes: 1, checksum: 1, locations: ['node-1'], received: {} };
  const answers = [
    await fleet.askWorker(worker, 'POST', `/worker/placements/${placement}/close`, { epoch: old }),
    await fleet.askWorker(worker, 'POST', `/worker/placements/${placement}/events`, { epoch: old, from, batches: [] }),
    await fleet.persist({ method: 'POST', path: `/checkpoints/${placement}/${old}/1/commit`, body: commit }),
  ];
  for (const { status, body } of answers) {
    if (status < 400) arena.options.violated(`what was asked of ${id} under epoch ${old} was answered ${status} ${JSON.stringify(body)}`);
  }
}

async function incarnationOf(arena: Arena): Promise<string | undefined> {
  return (await workerOf(arena)).body.incarnation;
}

/** As the cluster sees the worker that the twin takes itself for. */
function workerOf({ fleet }: Arena) {
  return fleet.persist({ method: 'GET', path: '/workers/w1' });
}
