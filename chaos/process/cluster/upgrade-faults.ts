import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

/** Two builds of the product side by side. They can be done where a run is given the command of another build. */
export const upgradeFaults: readonly Fault[] = [
  {
    name: 'roll everything over to another build and back',
    rows: [45],
    needsOtherBuild: true,
    run: async (arena) => {
      await roll(arena, arena.options.otherBuild);
      await arena.pause(2_000, 5_000);
      await roll(arena, undefined);
    },
  },
  {
    name: 'start one process as another build',
    rows: [45],
    needsOtherBuild: true,
    run: async (arena) => {
      const part = arena.pick([...arena.fleet.coordinators, ...arena.fleet.workers]);
      await restart(arena, part, arena.pick([arena.options.otherBuild, undefined]));
    },
  },
];

/** Coordinator by coordinator, then worker by worker, as `docs/operations` says. */
async function roll(arena: Arena, build: string | undefined): Promise<void> {
  for (const part of [...arena.fleet.coordinators, ...arena.fleet.workers]) {
    await restart(arena, part, build);
    await arena.fleet.whole(60_000);
  }
}

/** SIGTERM has a worker drained. */
async function restart(arena: Arena, part: Part, build: string | undefined): Promise<void> {
  arena.note(`SIGTERM ${part.name}; it goes on as ${build === undefined ? 'this' : 'the other'} build`);
  const code = await part.end(60_000);
  if (code !== 0) arena.options.violated(`${part.name} ended with ${code} after SIGTERM`);
  part.become(build);
  part.start();
}
