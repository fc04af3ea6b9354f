import { expect, it } from 'vitest';
import { reportLines } from '../../../chaos/process/cluster/report-lines.ts';
import { isClean, runChaos } from '../../../chaos/process/cluster/run.ts';

it('three coordinators and four workers lose nothing and say nothing twice under minutes of random faults', async () => {
  const report = await runChaos({ seed: 7, minutes: 4, coordinators: 3, workers: 4, usesNamespaces: true });
  expect(isClean(report), reportLines(report).join('\n')).toBe(true);
  expect(report.done.length).toBeGreaterThan(0);
}, 900_000);
