import { counted, tenths, thousands } from '../counts.ts';

/** What a demonstration has done and found so far. */
export interface DemoStatistics {
  readonly seconds: number;
  readonly events: number;
  /** By stream. */
  readonly alerts: ReadonlyMap<string, number>;
  readonly planted: Readonly<Record<string, number>>;
  readonly hasAnomalies: boolean;
  readonly hasDegradation: boolean;
}

/** One line, as things are. */
export function statisticsLine({ seconds, events, alerts }: DemoStatistics): string {
  const found = [...alerts.values()].reduce((sum, count) => sum + count, 0);
  return `${seconds.toFixed(0)}s  ${counted(events, 'event')}  ${counted(found, 'alert')}  ${tenths(events / Math.max(seconds, 0.001))} events/sec`;
}

const meanings: Readonly<Record<string, string>> = {
  Overheating: 'the temperature of a zone rose and rose, above 35 degrees',
  ForcedDoor: 'a person was refused three times, then the door opened',
  WeakCooling: 'five seconds in which the cooling of a zone took more than 9 kW',
};

/** What was found, and whether it is all that there was to find. */
export function demoSummary(statistics: DemoStatistics): string {
  const { seconds, events, alerts, planted, hasAnomalies, hasDegradation } = statistics;
  const rows = Object.entries(meanings).map(([stream, meaning]) => {
    const put = planted[stream];
    const of = put === undefined || !hasAnomalies ? '' : ` of ${thousands(put)} put among the events`;
    return `  ${stream.padEnd(12)} ${thousands(alerts.get(stream) ?? 0)}${of}: ${meaning}`;
  });
  return [
    '',
    'Demo Complete',
    '======================',
    `Duration:         ${seconds.toFixed(1)}s`,
    `Events processed: ${events}`,
    `Event rate:       ${tenths(events / Math.max(seconds, 0.001))} events/sec`,
    'Alerts:',
    ...rows,
    ...(hasDegradation && alerts.has('WeakCooling')
      ? ['The cooling of zone 3B wore out: WeakCooling began when it took nearly twice its usual power.']
      : []),
    ...(hasAnomalies || hasDegradation ? [] : ['Nothing was out of order: --anomalies and --degradation put something among the events.']),
    '',
  ].join('\n');
}

/** The same as data; `planted`: how many there were to find, where any were put among the events. */
export function demoData({ seconds, events, alerts, planted, hasAnomalies }: DemoStatistics): object {
  return {
    ...{ type: 'summary', duration_secs: seconds, events_processed: events },
    alerts_by_stream: Object.fromEntries(Object.keys(meanings).map((stream) => [stream, alerts.get(stream) ?? 0])),
    ...(hasAnomalies && { planted }),
    event_rate: events / Math.max(seconds, 0.001),
  };
}
