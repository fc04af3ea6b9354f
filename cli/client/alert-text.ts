import type { Fields } from '../../shared/events/event.ts';
import { fromJson } from '../../shared/events/text.ts';
import { durationText } from '../../shared/events/time-text.ts';
import type { Colors } from '../colors.ts';
import { counted, thousands } from '../counts.ts';
import { eventText, visible } from '../event-text.ts';
import { outputText } from './output-text.ts';
import type { OneAlertAnswer } from './server-api.ts';

type Causes = NonNullable<OneAlertAnswer['causes']>;
type Cause = Causes['events'][number];

/** An alert, and below it on a line of time the events that made it. */
export function alertText({ data, causes, pipeline, ...alert }: OneAlertAnswer, colors: Colors): string {
  const { event_type, timestamp, stream, sequence, id } = alert;
  const what = colors.dim(`alert ${sequence} of ${visible(pipeline)}, stream ${stream}, id ${visible(id)}`);
  return `${outputText({ event_type, timestamp, fields: data }, colors)}${what}\n\n${causesText(causes, colors)}`;
}

function causesText(causes: Causes | null, colors: Colors): string {
  if (causes === null)
    return 'The pipeline was not watched, so the events that made it are not known. cep alerts watch keeps those of the next ones.\n';
  const { events } = causes;
  const first = Math.min(...events.map(({ timestamp }) => timestamp));
  const width = Math.max(0, ...events.map(({ step }) => (step === null ? 0 : step.length + 2)));
  const lines = events.map((event) => `  ${causeText(event, { first, width }, colors)}\n`);
  return `${headText(causes)}\n${lines.join('')}`;
}

function causeText(
  { step, event_type: type, timestamp, data }: Cause,
  { first, width }: { readonly first: number; readonly width: number },
  colors: Colors,
): string {
  const after = `+${durationText(timestamp - first)}`.padEnd(10);
  return `${colors.dim(after)} ${(step ?? '').padEnd(width)}${eventText(type, fromJson(data) as Fields, colors)}`;
}

const kinds: Readonly<Record<string, string>> = {
  match: 'Matched by',
  join: 'Joined from',
  window: 'Gathered from',
  events: 'Made by',
};

function headText({ kind, count, events }: Causes): string {
  const made = kinds[kind] ?? 'Made by';
  if (count === null) return `${made} more events than the server remembers; of these it still has:`;
  const left = count - events.length;
  return left === 0
    ? `${made} ${counted(count, 'event')}:`
    : `${made} ${counted(count, 'event')}, of which ${thousands(left)} are not shown:`;
}
