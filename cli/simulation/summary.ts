import { tenths } from '../counts.ts';
import { type InputNotes, noteData, noteLines } from '../explaining/input-notes.ts';
import { missingAlertsText, type StreamMiss } from '../explaining/missing-alerts.ts';
import { type RuleCount, ruleLines } from './totals.ts';

/** What a simulation came to. */
export interface SimulationReport {
  readonly durationMs: number;
  /** Invalid events and unreadable lines are not processed. */
  readonly eventsProcessed: number;
  readonly eventsInvalid: number;
  readonly eventsIncomplete: number;
  readonly workersUsed: number;
  readonly linesUnreadable: number;
  readonly alerts: number;
  /** The user ended it before the events did. */
  readonly isInterrupted: boolean;
  /** Why one thread was used where more were asked for; undefined where nobody asked, or more were used. */
  readonly whyOneWorker: string | undefined;
  readonly input: InputNotes;
  /** The program has streams that emit. */
  readonly canAlert: boolean;
  /** Where no alert came: how far the streams came. */
  readonly misses: readonly StreamMiss[];
  /** Every stream that can alert. */
  readonly rules: readonly RuleCount[];
  /** They are of several programs: each is told of. */
  readonly tellsOfRules: boolean;
  /** Lines that only some simulations have. */
  readonly notes: readonly string[];
}

/** What stands before the report: what a person should know of the events, and where no alert came, why. */
export function reportNotes({
  eventsProcessed,
  alerts,
  canAlert,
  input,
  misses,
  notes,
  rules,
  tellsOfRules,
  whyOneWorker,
}: SimulationReport): readonly string[] {
  const lines = [...noteLines(input), ...notes, ...(tellsOfRules ? ruleLines(rules) : [])];
  const told = alerts > 0 || !canAlert || lines.length + misses.length === 0 ? lines : missingAlertsText(eventsProcessed, lines, misses);
  return whyOneWorker === undefined ? told : [...told, `One worker was used: ${whyOneWorker}`];
}

/** The report that a simulation ends with. */
export function summaryText(report: SimulationReport): string {
  return [
    report.isInterrupted ? 'Simulation Interrupted' : 'Simulation Complete',
    '======================',
    `Duration:         ${(report.durationMs / 1000).toFixed(3)}s`,
    `Events processed: ${report.eventsProcessed}`,
    `Workers used:     ${report.workersUsed}`,
    `Alerts generated: ${report.alerts}`,
    `Event rate:       ${tenths(eventRate(report))} events/sec`,
    '',
  ].join('\n');
}

/** The same as data. */
export function summaryData(report: SimulationReport): object {
  return {
    type: 'summary',
    duration_secs: report.durationMs / 1000,
    events_processed: report.eventsProcessed,
    events_invalid: report.eventsInvalid,
    events_incomplete: report.eventsIncomplete,
    ...noteData(report.input),
    lines_unreadable: report.linesUnreadable,
    workers_used: report.workersUsed,
    ...(report.whyOneWorker === undefined ? {} : { workers_reason: report.whyOneWorker }),
    alerts_generated: report.alerts,
    alerts_by_stream: Object.fromEntries(report.rules.map(({ stream, alerts }) => [stream, alerts])),
    event_rate: eventRate(report),
    ...(report.isInterrupted ? { interrupted: true } : {}),
    ...(report.misses.length === 0 ? {} : { misses: report.misses }),
  };
}

/** Events per second; 0 when there was no time. */
function eventRate({ eventsProcessed, durationMs }: SimulationReport): number {
  return durationMs > 0 ? (eventsProcessed * 1000) / durationMs : 0;
}
