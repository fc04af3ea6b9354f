import { parseArgs } from 'node:util';
import { isClean, percentile } from './audit.ts';
import { killLeaders } from './kill-leaders.ts';

/**
 * `npm run chaos:raft -- [--minutes M] [--seed N]` kills the leader of three coordinators every five seconds under clients that write and
 * read, and says whether anything acknowledged was lost and whether one order of everything explains what clients were told. The exit code
 * is 1 when not. It runs `cli/bin.mjs`, so build first (`npm run build`): from sources a member takes seconds to start. The seed decides what
 * clients ask, and not when the machine answers.
 */
const everyMs = 5_000;
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } } });
const [minutes, seed] = [values.minutes, values.seed].map(Number) as [number, number];

if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  print(`--minutes is a number above 0 and --seed a whole one; found '${values.minutes}' and '${values.seed}'`);
  process.exitCode = 2;
} else {
  const kills = Math.max(1, Math.floor((minutes * 60_000) / everyMs));
  const onKill = (count: number, leader: number, writes: number): void =>
    print(`kill ${count} of ${kills}: member ${leader}; ${writes} writes acknowledged`);
  const report = await killLeaders({ seed, kills, everyMs, onKill });
  const { gapsMs, lost } = report;
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => `${Math.round(percentile(gapsMs, share))} ms`);
  print(`kills          ${report.kills}`);
  print(`writes         ${report.writes} acknowledged, ${report.unknown} of unknown outcome`);
  print(`strong reads   ${report.reads}`);
  print(`no write for   p50 ${p50}, p99 ${p99}, longest ${max}`);
  print(`lost           ${lost.length}${lost.length > 0 ? `: ${lost.slice(0, 20).join(', ')}` : ''}`);
  print(`linearizable   ${report.verdict === 'linearizable' ? 'yes' : `no: ${report.verdict}`}`);
  if (!isClean(report)) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
