import type { FieldType } from '../language/plan/types.ts';
import type { Fields, InputEvent } from './event.ts';
import { requireWithinLimits } from './event-limits.ts';
import { EventSchema } from './event-schema.ts';
import { readEventTime, TIME_FIELDS } from './event-time.ts';
import { WrongValue } from './wrong-value.ts';

/** What becomes of an event when it is held against the declared types: it is admitted whole or not at all. */
export type Admission = ValidEvent | InvalidEvent;

export interface ValidEvent {
  readonly status: 'valid';
  /** In written order; declared timestamps, durations and records are of their type. What is missing is not added. */
  readonly fields: Fields;
  /** Event time in epoch milliseconds, but for `.watermark(on:)`. */
  readonly time: number;
  /** Paths of declared fields without `?` that are missing or null: `user`, `address.city`, `items[].price`. Each once. */
  readonly incomplete: readonly string[];
}

export interface InvalidEvent {
  readonly status: 'invalid';
  /** Path of the field that is wrong (`items[2].price`), empty when the event as a whole is. */
  readonly field: string;
  /** What was found, what was expected, what to do. */
  readonly message: string;
}

/** A declared event type. */
export interface EventDeclaration {
  readonly name: string;
  /** Inherited fields first. */
  readonly fields: readonly FieldType[];
}

export interface AdmitOptions {
  /** Incomplete events are invalid (`strict_events`). */
  readonly strict: boolean;
}

/** The declared event types of a program. An event of any other type is open: its fields stay as they are. */
export class EventSchemas {
  readonly #schemas: ReadonlyMap<string, EventSchema>;

  constructor(declarations: readonly EventDeclaration[]) {
    this.#schemas = new Map(declarations.map(({ name, fields }) => [name, new EventSchema(fields)]));
  }

  /** The fields of a declared type in order, inherited first; undefined for an open type. */
  fieldNames(type: string): readonly string[] | undefined {
    return this.#schemas.get(type)?.fieldNames;
  }

  /** The declared fields of a type in order, inherited first; undefined for an open type. */
  fieldTypes(type: string): readonly FieldType[] | undefined {
    return this.#schemas.get(type)?.fields;
  }

  /**
   * The time that the fields of an event state: the first declared timestamp, else a field `timestamp` or `@timestamp`. Epoch
   * milliseconds.
   */
  ownTime(type: string, fields: Fields): number | undefined {
    const timeField = this.#schemas.get(type)?.timeField;
    if (timeField !== undefined) {
      const declared = readEventTime(fields.get(timeField) ?? null);
      if (declared !== undefined) return declared;
    }
    for (const name of TIME_FIELDS) {
      const time = readEventTime(fields.get(name) ?? null);
      if (time !== undefined) return time;
    }
    return undefined;
  }

  /** Whether what the field of an event holds is read as a point in time. */
  isTime(type: string, field: string): boolean {
    return this.#schemas.get(type)?.timestamps.has(field) ?? false;
  }

  /**
   * Checks and coerces an event. Integers beyond 2^53-1 are a matter of the literal: readers refuse them where they see
   * the text, so a number of that size that arrives here was written as a float, and only a declared `int` refuses it.
   */
  admit(event: InputEvent, { strict }: AdmitOptions): Admission {
    try {
      requireWithinLimits(event);
      const { fields, incomplete } = this.#schemas.get(event.type)?.coerce(event.fields) ?? { fields: event.fields, incomplete: [] };
      const missing = incomplete[0];
      if (strict && missing !== undefined) return { status: 'invalid', field: missing, message: MISSING };
      const time = event.timestamp ?? this.ownTime(event.type, fields) ?? event.fallbackTime;
      return { status: 'valid', fields, time, incomplete };
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      return { status: 'invalid', field: error.field, message: error.message };
    }
  }
}

const MISSING = 'missing or null, expected a value: send one, or declare it with `?`';
