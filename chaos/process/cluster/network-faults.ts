import type { Arena, Fault } from './arena.ts';
import type { Links } from './network.ts';
import type { Part } from './part.ts';

/** What happens between processes. Everything heals when a fault is over. */
export const networkFaults: readonly Fault[] = [
  fault('cut the leader off from the others', [12], async ({ arena, links, leader, others }) => {
    await both(links, [leader], others);
    await arena.pause(1_000, 12_000);
  }),
  fault('the leader sends, and hears nothing', [13], async ({ arena, links, leader, others }) => {
    for (const one of others) await links.cut(one.at, leader.at);
    await arena.pause(1_000, 12_000);
  }),
  fault('a follower hears nothing of the leader', [14], async ({ arena, links, leader, others }) => {
    await links.cut(leader.at, arena.pick(others).at);
    await arena.pause(1_000, 12_000);
  }),
  fault('a chain of coordinators', [15], async ({ arena, links }) => {
    const [one, , three] = arena.fleet.coordinators as [Part, Part, Part];
    await both(links, [one], [three]);
    await arena.pause(1_000, 12_000);
  }),
  fault('a worker cannot reach the leader', [16], async ({ arena, links, leader }) => {
    await both(links, [await arena.busyWorker()], [leader]);
    await arena.pause(1_000, 15_000);
  }),
  fault('a worker reaches its sinks and no coordinator', [18], async ({ arena, links }) => {
    await both(links, [await arena.busyWorker()], arena.fleet.coordinators);
    await arena.pause(1_000, 20_000);
  }),
  fault('a worker cannot reach its sinks for a moment', [17, 36], async ({ arena, links }) => {
    await links.cut((await arena.busyWorker()).at, 0);
    await arena.pause(500, 2_500);
  }),
  fault('two workers cannot reach each other', [18], async ({ arena, links }) => {
    const [one, two] = [await arena.busyWorker(), await arena.busyWorker()];
    if (one !== two) await both(links, [one], [two]);
    await arena.pause(1_000, 10_000);
  }),
  fault('a link that flaps', [19], async ({ arena, links, leader, others }) => {
    const other = arena.pick([...others, await arena.busyWorker()]);
    for (let times = arena.between(5, 20); times > 0; times--) {
      await both(links, [leader], [other]);
      await arena.pause(200, 201);
      await links.heal();
      await arena.pause(200, 201);
    }
  }),
  fault('one packet in twenty is lost', [20], async ({ arena, links }) => {
    for (const one of [...arena.fleet.coordinators, ...arena.fleet.workers]) await links.lose(one.at, 0.05);
    await arena.pause(2_000, 10_000);
  }),
  fault('packets are late, overtake each other and come twice', [20], async ({ arena, links, leader }) => {
    const { tools } = arena.options;
    if (tools === undefined) return arena.note('left out: there is no C compiler');
    for (const one of [leader, await arena.follower(), await arena.busyWorker()]) await links.unsettle(one.at, tools.unsteadyLink);
    await arena.pause(3_000, 15_000);
  }),
];

interface Cutting {
  readonly arena: Arena;
  readonly links: Links;
  readonly leader: Part;
  /** The coordinators that follow. */
  readonly others: readonly Part[];
}

function fault(name: string, rows: readonly number[], cut: (cutting: Cutting) => Promise<void>): Fault {
  return {
    name,
    rows,
    needsLinks: true,
    run: async (arena) => {
      const { links } = arena.options;
      if (links === undefined) return;
      const leader = await arena.leader();
      arena.note(`${name}; ${leader.name} leads`);
      try {
        await cut({ arena, links, leader, others: arena.fleet.coordinators.filter((one) => one !== leader) });
      } finally {
        await links.heal();
        arena.note('healed');
      }
    },
  };
}

async function both(links: Links, some: readonly Part[], others: readonly Part[]): Promise<void> {
  for (const one of some) {
    for (const other of others) {
      await links.cut(one.at, other.at);
      await links.cut(other.at, one.at);
    }
  }
}
