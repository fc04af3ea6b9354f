import { expect, it } from 'vitest';
import { migrationFaults } from '../../../chaos/process/cluster/migration-faults.ts';
import { reportLines } from '../../../chaos/process/cluster/report-lines.ts';
import { isClean, runChaos } from '../../../chaos/process/cluster/run.ts';

it('three coordinators and four workers lose nothing and say nothing twice under minutes of random faults', async () => {
  const report = await runChaos({ seed: 7, minutes: 4, coordinators: 3, workers: 4, usesNamespaces: true });
  expect(isClean(report), reportLines(report).join('\n')).toBe(true);
  expect(report.done.length).toBeGreaterThan(0);
}, 900_000);

it('a migration of which the source, the target or the leader is killed at any step leaves one owner, and nothing lost or twice', async () => {
  const script = migrationFaults.map(({ name }) => name);
  const report = await runChaos({ seed: 11, minutes: 1, coordinators: 3, workers: 3, usesNamespaces: false, script });
  expect(isClean(report), reportLines(report).join('\n')).toBe(true);
  expect(report.done.map(({ fault }) => fault.name)).toEqual(script);
}, 1_200_000);
