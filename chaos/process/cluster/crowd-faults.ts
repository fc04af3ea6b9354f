import type { Answer } from '../group-access.ts';
import type { Arena, Fault } from './arena.ts';
import { burningGroup } from './programs.ts';

const clients = 1_000;
const deadlineMs = 30_000;

/** Who asks for much at once, and has a right to. */
export const crowdFaults: readonly Fault[] = [
  {
    name: 'a thousand clients come at once',
    rows: [51],
    run: async (arena, recovers) => {
      arena.note(`${clients} clients ask for the groups at once`);
      const { fleet } = arena;
      const asked = Array.from({ length: clients }, () =>
        fleet.ask(arena.pick(fleet.ids), { method: 'GET', path: '/pipeline-groups', deadlineMs }),
      );
      recovers();
      const answers = await Promise.allSettled(asked);
      const counts = new Map<string, number>();
      for (const one of answers) {
        const told = one.status === 'fulfilled' ? String(one.value.status) : 'no answer';
        counts.set(told, (counts.get(told) ?? 0) + 1);
      }
      arena.note(`they were answered ${[...counts].map(([told, count]) => `${told} ${count} times`).join(', ')}`);
      const odd = [...counts.keys()].filter((told) => !['200', '429', '502', '503', '504', 'no answer'].includes(told));
      if (odd.length > 0) arena.options.violated(`of a thousand clients some were answered ${odd.join(', ')}`);
    },
  },
  {
    name: 'a pipeline burns its budget',
    rows: [33],
    run: async (arena, recovers) => {
      const name = `burning_${arena.options.random(1_000_000)}`;
      arena.note(`deploy ${name}, an event of which takes for ever`);
      const made = await arena.fleet.persist({ method: 'POST', path: '/pipeline-groups?wait=false', body: burningGroup(name) });
      requireStatus(arena, 'a group that burns', made, [202, 409]);
      for (let events = 0; events < 3; events++) {
        // It is answered when it is received, or not at all.
        await arena.fleet
          .ask(arena.pick(arena.fleet.ids), {
            method: 'POST',
            path: `/pipeline-groups/${name}/inject`,
            body: { event_type: 'Burn', fields: {} },
          })
          .catch(() => undefined);
        await arena.pause(0, 2_000);
      }
      await arena.pause(2_000, 10_000);
      requireStatus(arena, 'its end', await arena.fleet.persist({ method: 'DELETE', path: `/pipeline-groups/${name}` }), [200, 404]);
      recovers();
    },
  },
];

function requireStatus(arena: Arena, what: string, { status, body }: Answer, expected: readonly number[]): void {
  if (!expected.includes(status)) arena.options.violated(`${what} was answered ${status} ${JSON.stringify(body)}`);
}
