import type { Arena, Fault } from './arena.ts';
import { dataDir } from './fleet.ts';
import type { Part } from './part.ts';

/** What happens to disks of coordinators. One that cannot write its log ends, and is started again once there is room. */
export const diskFaults: readonly Fault[] = [
  fault('the disk of the leader is full', async (arena) => [await arena.leader()]),
  fault('the disk of a follower is full', async (arena) => [await arena.follower()]),
  fault('the disks of a majority are full', async (arena) => {
    const spared = await arena.follower();
    return arena.fleet.coordinators.filter((one) => one !== spared);
  }),
];

function fault(name: string, choose: (arena: Arena) => Promise<readonly Part[]>): Fault {
  return {
    name,
    rows: [24],
    needsLinks: true,
    run: async (arena) => {
      const { disks, folder } = arena.options;
      if (disks === undefined) return;
      const full = await choose(arena);
      arena.note(`${name}: ${full.map(({ name }) => name).join(' and ')}`);
      for (const one of full) one.mayEnd(true);
      await Promise.all(full.map(({ at }) => disks.fill(dataDir(folder, at))));
      await arena.pause(1_000, 8_000);
      await Promise.all(full.map(({ at }) => disks.free(dataDir(folder, at))));
      // Whether it had to write meanwhile is chance.
      for (const one of full) {
        arena.note(`${one.name} ${one.isRunning ? 'goes on' : 'had ended'}`);
        await one.kill();
        one.mayEnd(false);
        one.start();
      }
    },
  };
}
