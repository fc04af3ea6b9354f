import { tenths } from '../counts.ts';

/** What a simulation came to. */
export interface SimulationTotals {
  readonly durationMs: number;
  /** Invalid events and unreadable lines are not processed. */
  readonly eventsProcessed: number;
  readonly eventsInvalid: number;
  readonly eventsIncomplete: number;
  readonly workersUsed: number;
  readonly alerts: number;
}

/** The report that a simulation ends with. */
export function summaryText(totals: SimulationTotals): string {
  return [
    'Simulation Complete',
    '======================',
    `Duration:         ${(totals.durationMs / 1000).toFixed(3)}s`,
    `Events processed: ${totals.eventsProcessed}`,
    `Workers used:     ${totals.workersUsed}`,
    `Alerts generated: ${totals.alerts}`,
    `Event rate:       ${tenths(eventRate(totals))} events/sec`,
    '',
  ].join('\n');
}

/** The same as data. */
export function summaryData(totals: SimulationTotals): object {
  return {
    type: 'summary',
    duration_secs: totals.durationMs / 1000,
    events_processed: totals.eventsProcessed,
    events_invalid: totals.eventsInvalid,
    events_incomplete: totals.eventsIncomplete,
    workers_used: totals.workersUsed,
    alerts_generated: totals.alerts,
    event_rate: eventRate(totals),
  };
}

/** Events per second; 0 when there was no time. */
function eventRate({ eventsProcessed, durationMs }: SimulationTotals): number {
  return durationMs > 0 ? (eventsProcessed * 1000) / durationMs : 0;
}
