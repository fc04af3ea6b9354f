import type { Arena, Fault } from './arena.ts';
import type { Conditions } from './machine.ts';
import type { Part } from './part.ts';

const hourMs = 3_600_000;
const slowMs = 500;
const blockedMs = 3_000;
/** What is left is what the process needs itself. */
const nearlyAll = 0.75;
const tooMuch = 1.5;
const exhaustedMsMax = 60_000;

/** What happens to machines: somebody sets their clocks, they have too much to do or to remember, their disks become slow. */
export const machineFaults: readonly Fault[] = [
  clockFault('the clock of the leader jumps', (arena) => arena.leader()),
  clockFault('the clock of a worker jumps', (arena) => arena.busyWorker()),
  speedFault('the clocks of the leader run at double speed', 2, (arena) => arena.leader()),
  speedFault('the clocks of a worker run at double speed', 2, (arena) => arena.busyWorker()),
  speedFault('the clocks of a worker run at half speed', 0.5, (arena) => arena.busyWorker()),
  blockFault('the main thread of the leader stands still', (arena) => arena.leader()),
  blockFault('the main thread of a worker stands still', (arena) => arena.busyWorker()),
  memoryFault('the leader has little memory left', (arena) => arena.leader()),
  memoryFault('a worker has little memory left', (arena) => arena.busyWorker()),
  exhaustionFault('the leader runs out of memory', (arena) => arena.leader()),
  exhaustionFault('a worker runs out of memory', (arena) => arena.busyWorker()),
  slowFault('the disk of the leader is slow', 22, (arena) => arena.leader()),
  slowFault('the disk of a follower is slow', 23, (arena) => arena.follower()),
];

interface MachineFault {
  readonly name: string;
  readonly rows: readonly number[];
  readonly choose: (arena: Arena) => Promise<Part>;
  readonly conditions: (arena: Arena) => Conditions;
  /** What the timeline says of the part. */
  readonly what: (conditions: Conditions) => string;
}

/** A machine is like this for some seconds, and then as any other. */
function conditionFault({ name, rows, choose, conditions, what }: MachineFault): Fault {
  return {
    name,
    rows,
    run: async (arena, recovers) => {
      const part = await choose(arena);
      const found = conditions(arena);
      arena.note(`${part.name}: ${what(found)}`);
      await part.machine.become(found);
      recovers();
      await arena.pause(2_000, 12_000);
      await part.machine.mend();
    },
  };
}

function clockFault(name: string, choose: MachineFault['choose']): Fault {
  return conditionFault({
    ...{ name, rows: [31], choose },
    conditions: (arena) => ({ shiftMs: arena.pick([-hourMs, hourMs]) }),
    what: ({ shiftMs = 0 }) => `its clock is set ${shiftMs / hourMs} h`,
  });
}

function speedFault(name: string, speed: number, choose: MachineFault['choose']): Fault {
  return conditionFault({ name, rows: [32], choose, conditions: () => ({ speed }), what: () => `its clocks run ${speed} times as fast` });
}

/** It is over by itself. */
function blockFault(name: string, choose: MachineFault['choose']): Fault {
  return conditionFault({
    ...{ name, rows: [33], choose },
    conditions: () => ({ blockedMs }),
    what: () => `its main thread does nothing for ${blockedMs} ms`,
  });
}

function memoryFault(name: string, choose: MachineFault['choose']): Fault {
  return conditionFault({
    ...{ name, rows: [34], choose },
    conditions: () => ({ heldShare: nearlyAll }),
    what: () => `${100 * nearlyAll} % of its heap is in use`,
  });
}

/** The process ends itself; whoever watches over it starts it again. */
function exhaustionFault(name: string, choose: MachineFault['choose']): Fault {
  return {
    name,
    rows: [34],
    run: async (arena, recovers) => {
      const part = await choose(arena);
      arena.note(`${part.name} takes more memory than it has`);
      part.mayEnd(true);
      await part.machine.become({ heldShare: tooMuch });
      const until = performance.now() + exhaustedMsMax;
      while (part.isRunning && performance.now() < until) await arena.pause(50, 51);
      if (part.isRunning) arena.options.violated(`${part.name} goes on without memory`);
      await part.machine.mend();
      await part.kill();
      part.mayEnd(false);
      recovers();
      await arena.pause(0, 3_000);
      part.start();
    },
  };
}

function slowFault(name: string, row: number, choose: MachineFault['choose']): Fault {
  return {
    name,
    rows: [row],
    needsTools: true,
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
