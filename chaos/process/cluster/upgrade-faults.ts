import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

/** Two builds of the product side by side. They can be done where a run is given the command of another build. */
export const upgradeFaults: readonly Fault[] = [
  {
    name: 'roll everything over to the other build',
    rows: [45],
    needsOtherBuild: true,
    run: async (arena) => {
      const { fleet } = arena;
      // As `docs/operations/rolling-upgrade.md` says, so that nobody has to read what only a later build writes.
      for (const worker of fleet.workers) await roll(arena, worker);
      const leader = await arena.leader();
      for (const one of fleet.coordinators) if (one !== leader) await roll(arena, one);
      await roll(arena, leader);
    },
  },
];

/** SIGTERM has a worker drained, and a leader hand over. */
async function roll(arena: Arena, part: Part): Promise<void> {
  const { otherBuild, violated } = arena.options;
  // One after the other, of a cluster that is whole: another fault may just have killed all that could have gone on with what is there.
  await arena.fleet.whole(60_000);
  const next = part.build === otherBuild ? undefined : otherBuild;
  arena.note(`SIGTERM ${part.name}; it goes on as ${next === undefined ? 'this' : 'the other'} build`);
  const code = await part.end(60_000);
  if (code !== 0) violated(`${part.name} ended with ${code} after SIGTERM`);
  part.become(next);
  part.start();
  await arena.fleet.whole(60_000);
}
