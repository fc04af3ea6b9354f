import { EventSchemas } from '../../../../shared/events/schema.ts';
import type { Type } from '../../../../shared/language/plan/types.ts';
import type { EventEntries, EventEntry } from '../../../../worker/engine/fusion/event-entry.ts';

/** Declared types, each as its fields in order; a name that ends in `-` is not read. */
export type Types = Readonly<Record<string, Readonly<Record<string, Type>>>>;

export interface Recording {
  readonly entries: EventEntries;
  readonly schemas: EventSchemas;
  /** What entries were told, as `Type time value ..`, with `~` before a time that only the arrival said. */
  readonly seen: string[];
}

export function recording(types: Types): Recording {
  const seen: string[] = [];
  const entries: EventEntries & { readonly entries: EventEntry[] } = {
    entries: [],
    source: null,
    place: { partition: null },
    isOf: () => false,
  };
  const declared = Object.entries(types).map(([name, fields]) => ({
    name,
    fields: Object.entries(fields).map(([field, type]) => ({
      name: field.replace('-', ''),
      type,
      optional: false,
      isRead: !field.endsWith('-'),
    })),
  }));
  for (const { name: type, fields } of declared) {
    const timeField = fields.findIndex((field) => field.type.kind === 'timestamp');
    entries.entries.push({
      type,
      fields,
      timeField: timeField < 0 ? null : timeField,
      enter: (time, isArrivalTime, ...values) => seen.push([type, `${isArrivalTime ? '~' : ''}${time}`, ...values].join(' ')),
    });
  }
  return { entries, schemas: new EventSchemas(declared), seen };
}
