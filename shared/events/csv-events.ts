import type { FieldType } from '../language/plan/types.ts';
import type { EventSchemas } from './schema.ts';

export interface CsvEventsOptions {
  /** Declared types: how the values are to be read. */
  readonly schemas?: EventSchemas | undefined;
  /** Type of all events; a column that would say it is a field then. */
  readonly eventType?: string | undefined;
  /** Type of the events that say none. */
  readonly otherType?: string | undefined;
}

/** A record as a line of JSON, or why it is none. */
export type CsvEventLine = { readonly line: string } | { readonly line?: undefined; readonly problem: string };

/** Columns that say the type of an event, the first before the second. */
const TYPE_COLUMNS = ['event_type', 'type'] as const;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Which column says the type of each event; -1 when none does. */
export function csvTypeColumn(columns: readonly string[]): number {
  return TYPE_COLUMNS.map((name) => columns.indexOf(name)).find((column) => column >= 0) ?? -1;
}

/** Makes events of the records of a CSV file, whose header names the fields. */
export class CsvEvents {
  readonly columns: readonly string[];
  readonly #schemas: EventSchemas | undefined;
  /** Type of the events that say none. */
  readonly #otherType: string;
  /** Column that says the type; -1 where all events are of one. */
  readonly #typeColumn: number;
  readonly #writers = new Map<string, readonly MemberWriter[]>();

  constructor(columns: readonly string[], { schemas, eventType, otherType }: CsvEventsOptions) {
    this.columns = columns;
    this.#schemas = schemas;
    this.#otherType = eventType ?? otherType ?? '';
    this.#typeColumn = eventType === undefined ? csvTypeColumn(columns) : -1;
  }

  line(values: readonly string[]): CsvEventLine {
    const { columns } = this;
    if (values.length > columns.length) {
      return { problem: `found ${values.length} values, and the header names ${columns.length} columns` };
    }
    const type = values[this.#typeColumn]?.trim() || this.#otherType;
    if (type === '') return { problem: this.#untyped() };
    const writers = this.#writersOf(type);
    let members = '';
    for (let column = 0; column < values.length; column++) {
      if (column === this.#typeColumn) continue;
      const { key, value } = writers[column] as MemberWriter;
      members += (members === '' ? '' : ',') + key + value(values[column] as string);
    }
    return { line: `{"event_type":${JSON.stringify(type)},"data":{${members}}}` };
  }

  #untyped(): string {
    const column = this.columns[this.#typeColumn];
    return column === undefined
      ? "no column says the type of the event: expected one called 'event_type'"
      : `column '${column}' says no type`;
  }

  #writersOf(type: string): readonly MemberWriter[] {
    const known = this.#writers.get(type);
    if (known) return known;
    const fields = new Map((this.#schemas?.fieldTypes(type) ?? []).map((field) => [field.name, field]));
    const writers = this.columns.map((name) => ({ key: `${JSON.stringify(name)}:`, value: writerOf(fields.get(name)) }));
    if (this.#writers.size < TYPES_MAX) this.#writers.set(type, writers);
    return writers;
  }
}

/** Types whose writers are kept: a file that never ends may name any number of them. */
const TYPES_MAX = 1_000;

interface MemberWriter {
  readonly key: string;
  readonly value: ValueWriter;
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
