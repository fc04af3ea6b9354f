import type { Fields } from '../event.ts';
import { readEventTime, TIME_FIELDS } from '../event-time.ts';
import type { EventSchemas } from '../schema.ts';

export interface TimeFieldsOptions {
  readonly schemas?: EventSchemas | undefined;
  /** Name of the field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
}

/** What of an event says when it happened, besides what the program declares. */
export class TimeFields {
  readonly #schemas: EventSchemas | undefined;
  readonly #named: string | undefined;

  constructor({ schemas, timeField }: TimeFieldsOptions) {
    this.#schemas = schemas;
    this.#named = timeField;
  }

  /** Whether this field of an event of the type is read as a point in time. */
  has(type: string, field: string): boolean {
    return field === this.#named || (TIME_FIELDS as readonly string[]).includes(field) || this.#schemas?.isTime(type, field) === true;
  }

  /**
   * The time that an envelope states, epoch ms: in the field that was named, else as its `timestamp`, else as its `@timestamp`.
   * `outside`: members beside the fields, where the fields stand by themselves.
   */
  stated(fields: Fields, { timestamp, outside }: { readonly timestamp: number | undefined; readonly outside: Fields }): number | undefined {
    return this.named(fields, outside) ?? timestamp ?? readEventTime(outside.get('@timestamp') ?? null);
  }

  /** Epoch ms of the field that was named; undefined when none was, or it holds no time. */
  named(fields: Fields, outside: Fields = fields): number | undefined {
    if (this.#named === undefined) return undefined;
    return readEventTime(fields.get(this.#named) ?? outside.get(this.#named) ?? null);
  }
}
