import type { Fields } from '../../shared/events/event.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import { type TimeLikeField, timeLikeField } from '../../shared/events/time-like.ts';
import { type ReadFilesOptions, readEventFiles, startOfFile } from '../event-files/event-lines.ts';
import { isReadTwice } from '../event-files/event-source.ts';

/** Events of a file that no field and no offset gives a time. */
export interface UntimedEvents {
  readonly count: number;
  /** The time that they have instead: the beginning of 1970, that of the event before, or that of their arrival. */
  readonly time: 'epoch' | 'before' | 'arrival';
  /** Where their time might be; undefined where no field looks like one, and for a file that can be read only once. */
  readonly field: TimeLikeField | undefined;
  /** The field that was to say it. */
  readonly timeField: string | undefined;
}

export interface UntimedOptions {
  readonly paths: readonly string[];
  /** How they are read. */
  readonly reading: ReadFilesOptions & { readonly schemas: EventSchemas };
  /** Events taken, and those of them that only the file's offsets, if anything, gave a time. */
  readonly events: number;
  readonly untimed: number;
  /** The highest event time that there was. */
  readonly time: number | null;
}

/** Events of the beginning of a file that are looked at. */
const SAMPLE_EVENTS = 1_000;

/** Undefined when every event has a time. */
export async function untimedEvents({ paths, reading, events, untimed, time }: UntimedOptions): Promise<UntimedEvents | undefined> {
  if (untimed === 0) return undefined;
  const { timeField } = reading;
  const areAll = untimed === events && time === 0;
  const instead = areAll ? 'epoch' : 'before';
  if (!paths.every(isReadTwice)) return areAll ? { count: untimed, time: instead, field: undefined, timeField } : undefined;
  for (const path of paths) if (await hasOffsets(path, reading)) return undefined;
  return { count: untimed, time: instead, field: timeLikeField(await untimedFields(paths, reading)), timeField };
}

/** Whether lines at the beginning of the file have an offset in front, or set one. */
async function hasOffsets(path: string, reading: ReadFilesOptions): Promise<boolean> {
  const start = await startOfFile(path, reading);
  return /^\uFEFF?[ \t]*(?:@|BATCH[ \t])/m.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(start));
}

async function untimedFields(paths: readonly string[], reading: UntimedOptions['reading']): Promise<readonly Fields[]> {
  const untimed: Fields[] = [];
  let looked = 0;
  for await (const { result } of readEventFiles(paths, reading)) {
    if (result.kind !== 'event') continue;
    const { type, fields, timestamp } = result.event;
    if (timestamp === undefined && reading.schemas.ownTime(type, fields) === undefined) untimed.push(fields);
    if (++looked >= SAMPLE_EVENTS) break;
  }
  return untimed;
}
