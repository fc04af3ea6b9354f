/** The options by which commands take events. */
import { Option } from 'clipanion';
import { CepError } from '../../shared/errors/error.ts';
import { type EventFormat, eventFormats } from './event-source.ts';

export const EVENT_FILES = 'Event file, .evt, .jsonl or .csv, also as .gz; - is standard input; several are read in order, as one';

export function eventTypeOption() {
  return Option.String('--event-type', { description: 'Type of the events of a CSV file that has no column event_type' });
}

export function formatOption() {
  return Option.String('--format', { description: `How the events are written, where no file name says it: ${eventFormats.join(', ')}` });
}

/** What those options say. @throws CepError `usage_error` */
export function eventSource({ eventType, format }: { readonly eventType: string | undefined; readonly format: string | undefined }): {
  readonly eventType: string | undefined;
  readonly format: EventFormat | undefined;
} {
  const known = eventFormats.find((name) => name === format);
  if (format !== undefined && known === undefined) {
    throw new CepError('usage_error', `--format: expected ${eventFormats.join(', ')}, found '${format}'`);
  }
  return { eventType, format: known };
}
