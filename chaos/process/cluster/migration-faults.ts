import type { Arena, Fault } from './arena.ts';
import type { Part } from './part.ts';
import { groupName } from './programs.ts';

/** How far a migration is, as anybody sees who asks: by the migration itself, or by what its workers hold. */
const steps = ['begun', 'closed at its source', 'moved', 'taken up by its target', 'over'] as const;
type Step = (typeof steps)[number];

const victims = ['source', 'target', 'leader'] as const;
const triesMax = 20;
const lookMs = 5;
const stepMsMax = 30_000;

/** One of those that take part is killed at each step of a migration. */
export const migrationFaults: readonly Fault[] = steps.flatMap((step) => victims.map((victim) => killAt(step, victim)));

interface Migration {
  readonly id: string;
  readonly placementId: string;
  readonly source: Part;
  readonly target: Part;
}

function killAt(step: Step, victim: (typeof victims)[number]): Fault {
  return {
    name: `kill the ${victim} once a migration is ${step}`,
    rows: [11],
    run: async (arena, recovers) => {
      const migration = await begun(arena);
      if (migration === undefined) return;
      const { source, target } = migration;
      const seen = await reached(arena, migration, step);
      const part = { source, target, leader: await arena.leader() }[victim];
      arena.note(`kill -9 ${part.name}, ${victim} of a migration that is ${seen}`);
      await part.kill();
      recovers();
      await arena.pause(0, 3_000);
      part.start();
    },
  };
}

/** A migration that has begun; undefined when none can begin now. */
async function begun(arena: Arena): Promise<Migration | undefined> {
  for (let tries = 0; tries < triesMax; tries++) {
    const told = await migrate(arena);
    if (told !== undefined) return told;
    await arena.pause(100, 300);
  }
  return undefined;
}

/** Begins to move a pipeline. Undefined when it cannot be moved now. */
export async function migrate(arena: Arena): Promise<Migration | undefined> {
  const { fleet } = arena;
  const pipeline = arena.pick(['pairs', 'totals', 'counts', 'joins', 'beats', 'pongs']);
  const wanted = arena.pick(fleet.workers.map((_, at) => `w${at + 1}`));
  const path = `/pipelines/${groupName}/${pipeline}/migrate`;
  const { status, body } = await fleet.persist({ method: 'POST', path, body: { target_worker_id: wanted } });
  arena.note(`move ${pipeline} to ${wanted}: ${status === 202 ? `from ${body.source_worker}` : `${status} ${body.code ?? ''}`}`);
  const [source, target] = [body.source_worker, body.target_worker].map((id) => fleet.workers[Number(String(id).slice(1)) - 1]);
  if (status !== 202 || source === undefined || target === undefined) return undefined;
  return { id: body.id, placementId: `:${pipeline}:${body.replica}`, source, target };
}

/** Resolves when a migration is at a step, or behind it. Gives the step. */
async function reached(arena: Arena, migration: Migration, step: Step): Promise<Step> {
  const until = performance.now() + stepMsMax;
  for (;;) {
    const seen = await stepOf(arena, migration).catch((): Step => 'begun'); // Those asked may be gone by another fault.
    if (steps.indexOf(seen) >= steps.indexOf(step) || performance.now() > until) return seen;
    await arena.pause(lookMs, lookMs + 1);
  }
}

async function stepOf({ fleet }: Arena, { id, placementId, source, target }: Migration): Promise<Step> {
  const { body } = await fleet.persist({ method: 'GET', path: `/migrations/${encodeURIComponent(id)}` });
  if (body.status === 'completed' || body.status === 'failed') return 'over';
  if (body.status === 'moved') return (await heldBy(target)) === undefined ? 'moved' : 'taken up by its target';
  return (await heldBy(source)) === 'closed' ? 'closed at its source' : 'begun';

  async function heldBy(worker: Part): Promise<string | undefined> {
    const { body: held } = await fleet.askWorker(worker, 'GET', '/worker/placements');
    const all = held.placements as { placement_id: string; status: string }[];
    return all.find((one) => one.placement_id.endsWith(placementId))?.status;
  }
}
