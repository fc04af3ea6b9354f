import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

/** What happens to workers. */
export const workerFaults: readonly Fault[] = [
  {
    name: 'kill a worker',
    rows: [9],
    run: async (arena, recovers) => {
      const worker = await arena.busyWorker();
      arena.note(`kill -9 ${worker.name}`);
      await worker.kill();
      recovers();
      await arena.pause(0, 5_000);
      worker.start();
    },
  },
  {
    name: 'kill a worker in a checkpoint',
    rows: [10],
    run: async (arena, recovers) => {
      const worker = await arena.busyWorker();
      arena.note(`kill -9 ${worker.name} while it makes checkpoints`);
      const asked = checkpointAll(arena, worker);
      await arena.pause(0, 60);
      await worker.kill();
      recovers();
      await asked;
      await arena.pause(0, 3_000);
      worker.start();
    },
  },
  {
    name: 'kill half of the workers',
    rows: [47],
    run: async (arena, recovers) => {
      const parity = arena.options.random(2);
      const workers = arena.fleet.workers.filter((_, at) => at % 2 === parity);
      arena.note(`kill -9 ${workers.map(({ name }) => name).join(' and ')}`);
      await Promise.all(workers.map((one) => one.kill()));
      recovers();
      await arena.pause(0, 5_000);
      for (const one of workers) one.start();
    },
  },
  {
    name: 'kill all workers',
    rows: [47],
    run: async (arena) => {
      arena.note('kill -9 all workers');
      await Promise.all(arena.fleet.workers.map((one) => one.kill()));
      await arena.pause(0, 3_000);
      for (const one of arena.fleet.workers) one.start();
    },
  },
  {
    name: 'stop a worker past its lease',
    rows: [7],
    run: async (arena, recovers) => {
      const worker = await arena.busyWorker();
      arena.note(`SIGSTOP ${worker.name} for longer than its lease`);
      worker.stop();
      recovers();
      await arena.pause(arena.options.heartbeatTimeoutMs + 1_000, arena.options.heartbeatTimeoutMs + 6_000);
      worker.resume();
    },
  },
  {
    name: 'stop a worker for a moment',
    rows: [8],
    run: async (arena) => {
      const worker = await arena.busyWorker();
      arena.note(`SIGSTOP ${worker.name} for a moment`);
      worker.stop();
      await arena.pause(100, arena.options.heartbeatTimeoutMs / 4);
      worker.resume();
    },
  },
  {
    name: 'end a worker',
    rows: [45],
    run: async (arena) => {
      const worker = await arena.busyWorker();
      arena.note(`SIGTERM ${worker.name}`);
      const code = await worker.end(40_000);
      if (code !== 0) arena.note(`${worker.name} ended with ${code}`);
      worker.start();
    },
  },
];

/** Has everything that a worker runs saved at once. It does not matter what comes of it. */
async function checkpointAll({ fleet }: Arena, worker: Part): Promise<void> {
  try {
    const { body } = await fleet.askWorker(worker, 'GET', '/worker/placements');
    const held = body.placements as { placement_id: string; epoch: number }[];
    await Promise.allSettled(
      held.map(({ placement_id: id, epoch }) => {
        return fleet.askWorker(worker, 'POST', `/worker/placements/${encodeURIComponent(id)}/checkpoint`, { epoch });
      }),
    );
  } catch {
    // It was killed meanwhile.
  }
}
