import type { Fields } from '../../../shared/events/event.ts';
import { Duration } from '../../../shared/events/value.ts';
import { isNumeric, type RecordType } from '../../../shared/language/plan/types.ts';

/** The fields of an output event as its declared type has them: a duration in a field of numbers is its milliseconds. */
export class OutputShape {
  readonly #numericFields: readonly string[];

  constructor(type: RecordType | null) {
    this.#numericFields = (type?.fields ?? []).filter((field) => isNumeric(field.type)).map((field) => field.name);
  }

  fit(fields: Fields): Fields {
    const durations = this.#numericFields.filter((name) => fields.get(name) instanceof Duration);
    if (durations.length === 0) return fields;
    const fitted = new Map(fields);
    for (const name of durations) fitted.set(name, (fields.get(name) as Duration).ms);
    return fitted;
  }
}
