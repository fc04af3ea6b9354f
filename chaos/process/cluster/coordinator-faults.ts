import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

/** What happens to coordinators. */
export const coordinatorFaults: readonly Fault[] = [
  {
    name: 'kill the leader',
    rows: [1, 2, 50],
    run: async (arena, recovers) => {
      const leader = await arena.leader();
      arena.note(`kill -9 ${leader.name}, which leads`);
      await leader.kill();
      recovers();
      await arena.pause(0, 4_000);
      leader.start();
    },
  },
  {
    name: 'kill a follower',
    rows: [3],
    run: async (arena, recovers) => {
      const follower = await arena.follower();
      arena.note(`kill -9 ${follower.name}, which follows`);
      await follower.kill();
      recovers();
      await arena.pause(0, 4_000);
      follower.start();
    },
  },
  {
    name: 'kill a majority',
    rows: [4],
    run: async (arena) => {
      const [spared = undefined, ...killed] = shuffled(arena, arena.fleet.coordinators);
      arena.note(`kill -9 all coordinators but ${spared?.name}`);
      await Promise.all(killed.map((one) => one.kill()));
      const from = performance.now();
      await arena.pause(500, 4_000);
      const to = performance.now();
      for (const one of killed) one.start();
      if (arena.options.hasAcknowledged(from, to)) arena.options.violated('events were acknowledged while a majority was dead');
    },
  },
  {
    name: 'kill all coordinators',
    rows: [5],
    run: async (arena) => {
      arena.note('kill -9 all coordinators');
      await Promise.all(arena.fleet.coordinators.map((one) => one.kill()));
      await arena.pause(0, 2_000);
      for (const one of arena.fleet.coordinators) one.start();
    },
  },
  {
    name: 'stop the leader',
    rows: [6],
    run: async (arena, recovers) => {
      const leader = await arena.leader();
      arena.note(`SIGSTOP ${leader.name}, which leads`);
      leader.stop();
      recovers();
      await arena.pause(1_000, 15_000);
      leader.resume();
    },
  },
  {
    // What waited for it is there at once when it goes on, and must not cost the leader its place.
    name: 'stop a follower',
    rows: [6],
    run: async (arena, recovers) => {
      const follower = await arena.follower();
      arena.note(`SIGSTOP ${follower.name}, which follows`);
      follower.stop();
      recovers();
      await arena.pause(1_000, 15_000);
      follower.resume();
    },
  },
  {
    name: 'hand leadership over',
    rows: [45],
    run: async (arena) => {
      const follower = await arena.follower();
      arena.note(`let ${follower.name} lead`);
      await arena.fleet.persist({ method: 'POST', path: '/raft/transfer', body: { to: follower.at } });
    },
  },
  {
    name: 'restart coordinators one by one',
    rows: [45],
    run: async (arena) => {
      // One that has only just begun after another fault dies of the signal, as any process does before it listens to it.
      await arena.fleet.whole(60_000);
      for (const one of arena.fleet.coordinators) {
        arena.note(`SIGTERM ${one.name}`);
        const code = await one.end(30_000);
        if (code !== 0) arena.options.violated(`${one.name} ended with ${code} after SIGTERM`);
        one.start();
        await arena.fleet.whole(60_000);
      }
    },
  },
];

function shuffled(arena: Arena, parts: readonly Part[]): Part[] {
  const left = [...parts];
  const order: Part[] = [];
  while (left.length > 0) order.push(...left.splice(arena.options.random(left.length), 1));
  return order;
}
