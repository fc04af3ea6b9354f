import { percentile } from '../audit.ts';
import type { Done } from './nemesis.ts';
import { type ChaosReport, isClean } from './run.ts';

const shownMax = 10;

/** A run as a table. */
export function reportLines(report: ChaosReport): readonly string[] {
  const { seed, done, outputs, history, acknowledgements, violations, folder } = report;
  return [
    '',
    `seed           ${seed}`,
    ...faultLines(done),
    '',
    `events         ${outputs.events} taken, of which came ${outputs.expected} outputs`,
    list('lost', outputs.lost),
    list('under two ids', outputs.doubled),
    list('of one id', outputs.collided),
    list('invented', outputs.invented),
    list('two contents', outputs.contradicted),
    list('out of order', outputs.disordered),
    `repeats        ${outputs.repeats} deliveries under an id that had been delivered`,
    `no event for   ${longestGapMs(acknowledgements.map(({ at }) => at))} ms at most`,
    `API            ${history.writes} writes acknowledged, ${history.unknown} of unknown outcome, ${history.reads} strong reads`,
    list('lost writes', history.lost),
    `linearizable   ${history.verdict === 'linearizable' ? 'yes' : `no: ${history.verdict}`}`,
    list('else', violations),
    ...(folder === undefined ? [] : [`logs           ${folder}`]),
    '',
    summary(report),
  ];
}

/** A run in one line, to be put beside others. */
function summary(report: Omit<ChaosReport, 'folder'>): string {
  const { seed, coordinators, workers, minutes, kills, done, outputs, history, acknowledgements, leftOut } = report;
  const { lost, doubled, collided, invented, contradicted, disordered } = outputs;
  const ran = `seed ${seed}, ${coordinators} coordinators, ${workers} workers, ${minutes.toFixed(1)} min`;
  const met = `${done.length} faults, ${kills} kills, ${outputs.events} events, ${outputs.expected} outputs`;
  const wrong = `lost ${lost.length}, twice ${doubled.length + collided.length + contradicted.length}, invented ${invented.length}, disordered ${disordered.length}`;
  const recovered = Math.max(0, ...done.map(({ recoveredMs }) => recoveredMs));
  const times = `recovered in ${seconds(recovered)}, no event for ${seconds(longestGapMs(acknowledgements.map(({ at }) => at)))} at most`;
  const api = `lost writes ${history.lost.length}, ${history.verdict}`;
  const without = leftOut.map((what) => `; WITHOUT ${what}`).join('');
  return `${isClean(report) ? 'clean' : 'VIOLATED'}: ${ran}: ${met}; ${wrong}; ${api}; ${times}${without}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function faultLines(done: readonly Done[]): readonly string[] {
  const byName = new Map<string, Done[]>();
  for (const one of done) byName.set(one.fault.name, [...(byName.get(one.fault.name) ?? []), one]);
  const rows = [...byName].map(([name, all]) => {
    const times = all.map(({ recoveredMs }) => recoveredMs).sort((a, b) => a - b);
    const terms = String(Math.max(...all.map(({ elections }) => elections)));
    return [name, String(all.length), ms(percentile(times, 0.5)), ms(percentile(times, 1)), terms, all[0]?.fault.rows.join(', ') ?? ''];
  });
  const head = ['fault', 'times', 'recovered p50', 'max', 'terms at most', 'rows'];
  return table([head, ...rows, ['all', String(done.length), '', '', '', '']]);
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '));
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

function list(name: string, found: readonly string[]): string {
  const shown = found.slice(0, shownMax).map((one) => `\n    ${one}`);
  return `${name.padEnd(15)}${found.length}${shown.join('')}${found.length > shownMax ? '\n    ..' : ''}`;
}

function longestGapMs(times: readonly number[]): number {
  return Math.round(
    times.reduce(({ longest, last }, at) => ({ longest: Math.max(longest, at - last), last: at }), { longest: 0, last: times[0] ?? 0 })
      .longest,
  );
}
