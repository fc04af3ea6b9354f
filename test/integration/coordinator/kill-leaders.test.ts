import { expect, it } from 'vitest';
import { killLeaders } from '../../../chaos/process/kill-leaders.ts';

it('three coordinators whose leader is killed every five seconds lose nothing, and show one order of everything', async () => {
  const kills = 3;
  const { lost, verdict, gapsMs, writes, reads } = await killLeaders({ seed: 1, kills, everyMs: 5_000 });
  expect([lost, verdict]).toEqual([[], 'linearizable']);
  // Clients did get on, before and after each kill.
  expect([gapsMs.length, gapsMs.every(Number.isFinite), writes > 10 * kills, reads > 10 * kills]).toEqual([kills, true, true, true]);
}, 300_000);
