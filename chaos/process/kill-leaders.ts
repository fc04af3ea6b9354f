import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../sim/event-queue.ts';
import { audit, type Report } from './audit.ts';
import { Clients } from './clients.ts';
import { Coordinators } from './coordinators.ts';

const resumedMaxMs = 60_000;

export interface KillLeadersOptions {
  readonly seed: number;
  readonly kills: number;
  /** From one kill to the next; longer when the group is not whole again by then. */
  readonly everyMs: number;
  /** Told after each kill, when writes go on again. */
  readonly onKill?: (kills: number, leader: number, writes: number) => void;
}

/**
 * Kills the leader of three processes again and again with SIGKILL and starts it again once another one acknowledges writes, while clients
 * write and read; then judges what they were told. Rejects when the group does not go on, or answers what it never promises.
 */
export async function killLeaders({ seed, kills, everyMs, onKill }: KillLeadersOptions): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'cep-chaos-'));
  const group = await Coordinators.start(folder);
  try {
    const clients = new Clients({ group, random: seededRandom(seed), seed });
    const killed: number[] = [];
    const killing = async (): Promise<void> => {
      try {
        for (let next = performance.now() + everyMs; killed.length < kills; next = Math.max(next, performance.now()) + everyMs) {
          await sleep(Math.max(0, next - performance.now()));
          const leader = await group.leader();
          const at = performance.now();
          killed.push(at);
          await group.kill(leader);
          await writesAfter(clients, at);
          group.start(leader);
          clients.nextRound();
          onKill?.(killed.length, leader, clients.acknowledgements.length);
        }
        await group.leader();
      } finally {
        clients.end();
      }
    };
    await Promise.all([clients.run(), killing()]);
    const last = await clients.readAll();
    return audit({ history: clients.history, acknowledgements: clients.acknowledgements, kills: killed, last });
  } finally {
    await group.killAll();
    await rm(folder, { recursive: true, force: true });
  }
}

async function writesAfter(clients: Clients, killedAt: number): Promise<void> {
  while (!clients.acknowledgements.some(({ sentAt }) => sentAt > killedAt)) {
    if (performance.now() > killedAt + resumedMaxMs) {
      throw new Error(`no write was acknowledged for ${resumedMaxMs / 1_000} s after the leader was killed, with two of three running`);
    }
    await sleep(10);
  }
}
