import { CepError } from '../../shared/errors/error.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import type { FieldType } from '../../shared/language/plan/types.ts';

export interface CsvEventsOptions {
  /** `file:line` of the header. */
  readonly place: string;
  readonly schemas: EventSchemas | undefined;
  readonly eventType: string | undefined;
}

/** A record as a line of JSON, or why it is none. */
export type CsvEventLine = { readonly line: string } | { readonly line?: undefined; readonly problem: string };

/** Columns that say the type of an event, the first before the second. */
const TYPE_COLUMNS = ['event_type', 'type'] as const;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Makes events of the records of a CSV file, whose header names the fields. */
export class CsvEvents {
  readonly #columns: readonly string[];
  readonly #schemas: EventSchemas | undefined;
  readonly #eventType: string | undefined;
  /** Column that says the type; -1 where all events are of one. */
  readonly #typeColumn: number;
  readonly #writers = new Map<string, readonly ValueWriter[]>();

  /** @throws CepError `validation_error` when no type can be had, or a column has no name or that of another */
  constructor(header: readonly string[], { place, schemas, eventType }: CsvEventsOptions) {
    this.#columns = header.map((name) => name.trim());
    this.#schemas = schemas;
    this.#eventType = eventType;
    const typeColumn = TYPE_COLUMNS.map((name) => this.#columns.indexOf(name)).find((column) => column >= 0);
    this.#typeColumn = eventType === undefined ? (typeColumn ?? -1) : -1;
    const twice = this.#columns.find((name, index) => name === '' || this.#columns.indexOf(name) !== index);
    if (twice !== undefined) throw headerError(place, twice === '' ? 'a column has no name' : `two columns are called '${twice}'`);
    if (eventType === undefined && typeColumn === undefined) {
      throw headerError(place, "no column says the type of an event: expected one called 'event_type'", 'or name it: --event-type NAME');
    }
  }

  line(values: readonly string[]): CsvEventLine {
    const columns = this.#columns;
    if (values.length > columns.length) {
      return { problem: `found ${values.length} values, and the header names ${columns.length} columns` };
    }
    const type = this.#eventType ?? values[this.#typeColumn]?.trim() ?? '';
    if (type === '') return { problem: `column '${columns[this.#typeColumn]}' says no type` };
    const writers = this.#writersOf(type);
    const members = values.flatMap((value, column) =>
      column === this.#typeColumn ? [] : [`${JSON.stringify(columns[column])}:${writers[column]?.(value) ?? 'null'}`],
    );
    return { line: `{"event_type":${JSON.stringify(type)},"data":{${members.join(',')}}}` };
  }

  #writersOf(type: string): readonly ValueWriter[] {
    const known = this.#writers.get(type);
    if (known) return known;
    const fields = new Map((this.#schemas?.fieldTypes(type) ?? []).map((field) => [field.name, field]));
    const writers = this.#columns.map((name) => writerOf(fields.get(name)));
    this.#writers.set(type, writers);
    return writers;
  }
}

/** The JSON of a value as it stands in the file. */
type ValueWriter = (text: string) => string;

function writerOf(field: FieldType | undefined): ValueWriter {
  switch (field?.type.kind) {
    case 'str':
      return (text) => (text === '' && field.optional ? 'null' : JSON.stringify(text));
    case 'array':
    case 'map':
    case 'record':
      return jsonValue;
    default:
      return field === undefined || field.type.kind === 'any' ? plainValue : typedValue;
  }
}

/** A number, `true` or `false`, no value where nothing stands, else text. */
function plainValue(text: string): string {
  const bare = text.trim();
  if (bare === '') return 'null';
  return JSON_NUMBER.test(bare) || bare === 'true' || bare === 'false' ? bare : JSON.stringify(text);
}

/** The same of a field that no text fits as it is: what it cannot be is told with the event. */
function typedValue(text: string): string {
  const bare = text.trim();
  return /^(?:true|false)$/i.test(bare) ? bare.toLowerCase() : plainValue(bare);
}

function jsonValue(text: string): string {
  if (text.trim() === '') return 'null';
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text); // The event says that this is no array, map or record.
  }
}

function headerError(place: string, problem: string, hint?: string): CepError {
  return new CepError('validation_error', `${place}: ${problem}`, hint === undefined ? {} : { hint });
}
