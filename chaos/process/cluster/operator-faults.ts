import type { Arena, Fault } from './arena.ts';
import { migrate } from './migration-faults.ts';
import type { Part } from './part.ts';
import { groupName } from './programs.ts';

const group = `/pipeline-groups/${groupName}`;

/** What people do to a cluster while it works. */
export const operatorFaults: readonly Fault[] = [
  {
    name: 'drain a worker',
    rows: [45],
    run: async (arena) => {
      const worker = await arena.busyWorker();
      arena.note(`drain ${worker.name}`);
      const { status, body } = await arena.fleet.persist({
        ...{ method: 'POST', path: `/workers/${idOf(arena, worker)}/drain`, body: { timeout_secs: 20 } },
        deadlineMs: 30_000,
      });
      if (status !== 200) arena.note(`it was answered ${status} ${JSON.stringify(body)}; ${await workersNow(arena)}`);
      await worker.kill();
      worker.start();
    },
  },
  {
    name: 'remove a worker',
    rows: [45],
    run: async (arena) => {
      const worker = await arena.busyWorker();
      arena.note(`DELETE ${worker.name}`);
      await arena.fleet.persist({ method: 'DELETE', path: `/workers/${idOf(arena, worker)}` });
      await arena.pause(0, 5_000);
      await worker.kill();
      worker.start();
    },
  },
  { name: 'migrate a pipeline', rows: [11], run: async (arena) => void (await migrate(arena)) },
  {
    name: 'rebalance',
    rows: [11],
    run: async (arena) => {
      arena.note('rebalance');
      await arena.fleet.persist({ method: 'POST', path: '/rebalance' });
    },
  },
  {
    name: 'reload all programs',
    rows: [44],
    run: async (arena) => {
      arena.note('PUT programs of another version and the same meaning');
      const { status, body } = await arena.fleet.persist({ method: 'PUT', path: group, body: arena.options.nextPrograms() });
      if (status !== 200 && status !== 202) arena.options.violated(`the programs were answered ${status} ${JSON.stringify(body)}`);
    },
  },
  {
    name: 'reload a program with a mistake',
    rows: [44],
    run: async (arena) => {
      arena.note('PUT a program that cannot be read');
      const bad = { pipelines: [{ name: 'pairs', source: 'stream = = nothing' }] };
      const { status } = await arena.fleet.persist({ method: 'PUT', path: group, body: bad });
      if (status !== 400) arena.options.violated(`a program that cannot be read was answered ${status}`);
    },
  },
  {
    name: 'deploy another group and take it down',
    rows: [43],
    run: async (arena) => {
      arena.note('deploy another group');
      const name = `other_${arena.options.random(1_000_000)}`;
      const pipelines = ['a', 'b', 'c'].map((one) => ({ name: one, source: 'stream Hot = Reading.where(value > 30).emit(value: value)' }));
      const made = await arena.fleet.persist({ method: 'POST', path: '/pipeline-groups?wait=false', body: { name, pipelines } });
      if (made.status !== 202 && made.status !== 409)
        arena.options.violated(`a group was answered ${made.status} ${JSON.stringify(made.body)}`);
      await arena.pause(0, 2_000);
      const gone = await arena.fleet.persist({ method: 'DELETE', path: `/pipeline-groups/${name}` });
      if (gone.status !== 200 && gone.status !== 404)
        arena.options.violated(`its end was answered ${gone.status} ${JSON.stringify(gone.body)}`);
    },
  },
];

async function workersNow({ fleet }: Arena): Promise<string> {
  const { body } = await fleet.persist({ method: 'GET', path: '/workers' });
  const all = body as { id: string; status: string; pipelines: string[] }[];
  return all.map(({ id, status, pipelines }) => `${id} is ${status} with ${pipelines.length}`).join(', ');
}

function idOf({ fleet }: Arena, worker: Part): string {
  return `w${fleet.workers.indexOf(worker) + 1}`;
}
