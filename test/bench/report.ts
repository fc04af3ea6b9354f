import type { AgainstFigures } from './against.ts';
import type { Comparison } from './comparison.ts';
import type { PairGateFigures } from './gates/pair-gate.ts';
import type { ScenarioGateFigures } from './gates/scenario-gate.ts';
import type { MicroSummary } from './micro-bench.ts';
import type { Clock } from './options.ts';
import type { CheckFigures } from './quick-checks.ts';
import type { Failure } from './rounds.ts';
import type { ScenarioFigures } from './scenario-bench.ts';
import type { ServiceFigures } from './service-bench.ts';
import type { Spread } from './statistics.ts';

/** Figures of one run, as `--json` prints them. */
export interface BenchReport {
  /** ISO 8601. */
  readonly date: string;
  readonly node: string;
  readonly processor: string;
  readonly cores: number;
  readonly rounds: number;
  /** Of ratios and of warm runs. */
  readonly clock: Clock;
  /** Of each round: the machine was busy with something else. */
  readonly noisy: readonly boolean[];
  /** What could not be measured. */
  readonly failures: readonly Failure[];
  /** Small runs that gave what they must. */
  readonly checks: readonly CheckFigures[];
  readonly gates: readonly ScenarioGateFigures[];
  readonly pairs: readonly PairGateFigures[];
  readonly scenarios: readonly ScenarioFigures[];
  readonly micro: readonly MicroSummary[];
  readonly service: readonly ServiceFigures[];
  readonly against: Omit<AgainstFigures, 'calibrations' | 'failures'> | null;
}

/** Tables for people. */
export function reportText(report: BenchReport): string {
  const { date, node, processor, cores, rounds, clock, noisy } = report;
  const busy = noisy.filter(Boolean).length;
  const noise = busy === 0 ? '' : `\nNOISY: in ${busy} of ${noisy.length} rounds the machine was busy; read the ratios, not the times.`;
  return [
    `${date.slice(0, 10)}, Node ${node}, ${cores} cores (${processor}); rounds: ${rounds}; by ${clock} time; median (min-max)${noise}`,
    table('Gave what they must', ['case', 'events', 'outputs', 'held'], report.checks.map(checkRow)),
    table('Speed as a share of the same work by hand', GATE_HEAD, report.gates.map(gateRow)),
    table('Speed per event as a share of another scenario', PAIR_HEAD, report.pairs.map(pairRow)),
    table('Scenarios', SCENARIO_HEAD, report.scenarios.map(scenarioRow)),
    table('In memory, speed as a share of the same work by hand', MICRO_HEAD, report.micro.map(microRow)),
    table('Single events in memory', LATENCY_HEAD, report.micro.map(latencyRow)),
    table('Process', SERVICE_HEAD, report.service.map(serviceRow)),
    report.against === null ? '' : againstText(report.against),
    ...report.failures.map(({ name, message }) => `FAILED: ${name}: ${message}`),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function checkRow({ name, events, outputs, held }: CheckFigures): string[] {
  return [name, events.toLocaleString('en-US'), outputs.toLocaleString('en-US'), held];
}

const GATE_HEAD = ['scenario', 'events', 'outputs', 'cold ms', 'bound ms', 'cold', 'with load', 'warm', 'gate', 'target', '', 'noisy'];

function gateRow(one: ScenarioGateFigures): string[] {
  return [
    one.name,
    one.events.toLocaleString('en-US'),
    one.outputs.toLocaleString('en-US'),
    range(one.engineMs, 0),
    range(one.boundMs, 0),
    ...[one.cold, one.coldWithLoad, one.warm].map((spread) => range(spread, 2)),
    one.gate.toFixed(2),
    one.target?.toFixed(2) ?? '',
    one.verdict,
    one.noisyRounds === 0 ? '' : `${one.noisyRounds} of ${one.rounds}`,
  ];
}

const PAIR_HEAD = ['scenario', 'beside', 'ratio', 'gate', ''];

function pairRow({ name, than, ratio, gate, verdict }: PairGateFigures): string[] {
  return [name, than, range(ratio, 2), gate.toFixed(2), verdict];
}

const SCENARIO_HEAD = ['scenario', 'outputs', 'cold ms', 'bound cold ms', 'K events/s', 'bound K/s', 'x bound', 'x reference', 'peak MB'];

function scenarioRow(one: ScenarioFigures): string[] {
  return [
    one.name,
    one.outputs.toLocaleString('en-US'),
    range(one.coldMs, 0),
    range(one.coldBoundMs, 0),
    range(thousandths(one.rate), 0),
    range(thousandths(one.boundRate), 0),
    range(one.timesBound, 1),
    range(one.timesReference, 2),
    range(one.peakMb, 0),
  ];
}

const MICRO_HEAD = ['case', 'what', 'M events/s', 'bound M/s', 'push', 'enter', 'gate', 'target', '', 'x reference'];
const LATENCY_HEAD = ['case', 'p50 us', 'p99 us', 'bound p99 us', 'p99.9 us', 'max us', ''];

function microRow(one: MicroSummary): string[] {
  return [
    one.name,
    one.what,
    range(thousandths(thousandths(one.rate)), 2),
    range(thousandths(thousandths(one.boundRate)), 1),
    range(one.push, 2),
    one.enter === null ? '' : range(one.enter, 2),
    one.gate.toFixed(2),
    one.target?.toFixed(2) ?? '',
    one.verdict,
    one.timesReference === null ? '' : range(one.timesReference, 1),
  ];
}

function latencyRow(one: MicroSummary): string[] {
  const { singles, boundSingles } = one;
  const micros = (spread: Spread | undefined, digits = 2): string => (spread === undefined ? '' : range(thousandths(spread), digits));
  const durations = [micros(singles?.p50), micros(singles?.p99), micros(boundSingles?.p99), micros(singles?.p999), micros(singles?.max, 0)];
  return [one.name, ...durations, one.p99Verdict ?? ''];
}

const SERVICE_HEAD = ['case', 'what', 'value', 'gate', 'target', ''];

function serviceRow({ name, what, unit, value, skipped, goal, verdict }: ServiceFigures): string[] {
  const goals = goal === null ? ['', ''] : [`${goal.gate} ${unit}`, `${goal.target} ${unit}`];
  const text = value === null ? (skipped ?? '') : `${range(value, unit === 'x' ? 2 : 1)} ${unit}`;
  return [name, what, text, ...goals, verdict ?? ''];
}

function againstText({ comparisons, again, slower }: Omit<AgainstFigures, 'calibrations' | 'failures'>): string {
  const row = ({ name, ratio, isSlower }: Comparison): string[] => [name, range(ratio, 3), isSlower ? 'slower' : ''];
  const verdict = slower.length === 0 ? 'No scenario is slower than in the other checkout.' : `Slower in two runs: ${slower.join(', ')}.`;
  const parts = [table('Speed as a share of the other checkout', ['scenario', 'ratio', ''], comparisons.map(row))];
  if (again.length > 0) parts.push(table('Once more', ['scenario', 'ratio', ''], again.map(row)));
  return [...parts, verdict].join('\n\n');
}

function thousandths({ median, min, max }: Spread): Spread {
  return { median: median / 1000, min: min / 1000, max: max / 1000 };
}

/** `12.3 (11.9-14.0)`; a single figure alone. */
export function range({ median, min, max }: Spread, digits: number): string {
  const text = (value: number): string => value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return min === max ? text(median) : `${text(median)} (${text(min)}-${text(max)})`;
}

/** A Markdown table under its title; nothing without rows. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const widths = head.map((cell, column) => Math.max(cell.length, 3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`;
  return [`${title}:`, '', line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
