import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';

const hourMs = 3_600_000;
const slowMs = 500;

/** What happens to machines: somebody sets their clocks, their disks become slow. */
export const machineFaults: readonly Fault[] = [
  clockFault('the clock of the leader jumps', (arena) => arena.leader()),
  clockFault('the clock of a worker jumps', (arena) => arena.busyWorker()),
  slowFault('the disk of the leader is slow', 22, (arena) => arena.leader()),
  slowFault('the disk of a follower is slow', 23, (arena) => arena.follower()),
];

function clockFault(name: string, choose: (arena: Arena) => Promise<Part>): Fault {
  return {
    name,
    rows: [31],
    run: async (arena, recovers) => {
      const part = await choose(arena);
      const shiftMs = arena.pick([-hourMs, hourMs]);
      arena.note(`the clock of ${part.name} is set ${shiftMs / hourMs} h`);
      await part.machine.shiftClock(shiftMs);
      recovers();
      await arena.pause(2_000, 12_000);
      await part.machine.mend();
    },
  };
}

function slowFault(name: string, row: number, choose: (arena: Arena) => Promise<Part>): Fault {
  return {
    name,
    rows: [row],
    needsSlowDisks: true,
    run: async (arena, recovers) => {
      const part = await choose(arena);
      arena.note(`what ${part.name} syncs takes ${slowMs} ms`);
      await part.machine.slowSync(slowMs);
      recovers();
      await arena.pause(2_000, 12_000);
      await part.machine.mend();
    },
  };
}
