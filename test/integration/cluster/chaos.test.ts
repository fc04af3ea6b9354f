import { expect, it } from 'vitest';
import { reportLines } from '../../../chaos/process/cluster/report-lines.ts';
import { isClean, runChaos } from '../../../chaos/process/cluster/run.ts';

it('three coordinators and two workers, killed and drained under load, lose nothing and say nothing twice', async () => {
  const script = ['kill the leader', 'kill a worker', 'drain a worker'];
  const options = { seed: 1, minutes: 1, coordinators: 3, workers: 2, producers: 3, usesNamespaces: false, script };
  const report = await runChaos(options);
  expect(isClean(report), reportLines(report).join('\n')).toBe(true);
  expect(reportLines(report).at(-1)).toContain('WITHOUT cut links and full disks');
  // Something was at stake.
  expect([report.done.length, report.outputs.expected > 20, report.history.writes > 0]).toEqual([script.length, true, true]);
}, 300_000);
