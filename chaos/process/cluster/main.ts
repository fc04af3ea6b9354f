import { parseArgs } from 'node:util';
import { reportLines } from './report-lines.ts';
import { isClean, runChaos } from './run.ts';

/**
 * `npm run chaos -- [--seed N] [--minutes M] [--coordinators 3] [--workers 4] [--only "kill a worker"] [--other PATH] [--nats URL [--durable]]` runs a cluster of real processes
 * under faults and says whether anything was lost, doubled or invented. Exit code 1: something was; 2: the command is wrong. It runs
 * `cli/bin.mjs`, so build first (`npm run build`); `--other` names that of another build, for upgrades and back, `--nats` a server with JetStream from which a pipeline reads too, by positions or as a durable consumer.
 * Links are cut and disks filled where this process may make network namespaces (root, on Linux, with `ip` and `iptables`), else not: the last line says so.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '5' },
    coordinators: { type: 'string', default: '3' },
    workers: { type: 'string', default: '4' },
    only: { type: 'string', multiple: true },
    other: { type: 'string' },
    nats: { type: 'string' },
    durable: { type: 'boolean', default: false },
    loopback: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const [seed, minutes, coordinators, workers] = [values.seed, values.minutes, values.coordinators, values.workers].map(Number) as [
  ...[number, number, number, number],
];

if (!(minutes > 0) || !Number.isSafeInteger(seed) || !(coordinators >= 3) || !(workers >= 2)) {
  print('--minutes is a number above 0, --seed a whole one, --coordinators at least 3, --workers at least 2');
  process.exitCode = 2;
} else {
  const options = {
    seed,
    minutes,
    coordinators,
    workers,
    only: values.only,
    otherBuild: values.other,
    nats: values.nats,
    isDurable: values.durable,
    usesNamespaces: !values.loopback,
    keepsLogs: values.keep,
  };
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  const report = await runChaos({ ...options, onNote: print, signal: end.signal });
  for (const line of reportLines(report)) print(line);
  if (!isClean(report)) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
