import { readTimestamp } from '../../../shared/events/time-text.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { type Database, databaseReason, sqlState } from './database.ts';

const NO_TABLE = /^(?:42P01|42S02|3F000)$/;
/** What a row itself is to blame for: its values, what the table or its triggers do not take, and more than a row or an index can hold. */
const BAD_ROW = /^(?:22|23|54|45000$|P0001$)/;
/** The column for what no other column takes. */
const REST = 'data';

export interface TableSinkOptions {
  readonly database: Database;
  /** Of messages that name none. */
  readonly table: string | undefined;
}

/** Of one statement. */
const BATCH_ROWS_MAX = 500;
/** Values that one statement may have in PostgreSQL. */
const PLACES_MAX = 65_535;

interface Row {
  readonly table: string;
  /** The parts of its name. */
  readonly name: readonly string[];
  /** By column. */
  readonly values: ReadonlyMap<string, unknown>;
}

type Description = Awaited<ReturnType<Database['describe']>>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * A row for each message, in a table that is there: what is sent again replaces the row with its id. The columns are found by name: `id`, and
 * as far as the table has them `event_type`, `timestamp`, `message`, one for each field, and `data` for all fields as JSON.
 */
export class TableSink implements Sink {
  readonly #options: TableSinkOptions;
  readonly #tables = new Map<string, Promise<Description>>();

  constructor(options: TableSinkOptions) {
    this.#options = options;
  }

  readonly batching: Batching = { messages: BATCH_ROWS_MAX, send: (messages) => this.#sendBatch(messages) };

  async send(message: SinkMessage): Promise<void> {
    const { table } = named(message, this.#options.table);
    try {
      await this.#insert([await this.#rowOf(message)]);
    } catch (cause) {
      // It may have been changed, and is looked at again.
      this.#tables.delete(table);
      throw failureOf(cause, table);
    }
  }

  /** Rows of the same columns in one statement, which takes all of them or none. */
  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = messages.map(() => 'alone');
    const statements = new Map<string, { readonly rows: Row[]; readonly places: number[] }>();
    for (const [at, message] of messages.entries()) {
      // What is wrong with it is told when it is sent alone.
      const row = await this.#rowOf(message).catch(() => undefined);
      if (row === undefined) {
        this.#tables.clear();
        continue;
      }
      const form = JSON.stringify([row.table, ...row.values.keys()]);
      const statement = statements.get(form) ?? { rows: [], places: [] };
      statements.set(form, statement);
      statement.rows.push(row);
      statement.places.push(at);
    }
    for (const { rows, places } of statements.values()) {
      const outcome = await this.#insert(rows).then(
        (): Outcome => 'taken',
        (cause: unknown) => sharedOutcome(cause, rows),
      );
      for (const at of places) outcomes[at] = outcome;
    }
    return outcomes;
  }

  async #rowOf(message: SinkMessage): Promise<Row> {
    const { table, name } = named(message, this.#options.table);
    const fields = JSON.parse(message.payload) as Fields;
    return { table, name, values: rowOf(fields, await this.#describe(table, name), { table, database: this.#options.database }) };
  }

  /** Rows of one table that have the same columns. */
  async #insert(rows: readonly Row[]): Promise<void> {
    const { database } = this.#options;
    const [{ name, values }] = rows as [Row];
    const columns = [...values.keys()].map((column) => database.quoted([column]));
    const rowsOnce = Math.max(1, Math.floor(PLACES_MAX / columns.length));
    for (let at = 0; at < rows.length; at += rowsOnce) {
      const some = rows.slice(at, at + rowsOnce);
      const texts = some.map((_, row) => `(${columns.map((_column, place) => `$${row * columns.length + place + 1}`).join(', ')})`);
      const text = `insert into ${database.quoted(name)} (${columns.join(', ')}) values ${texts.join(', ')} ${database.replacing(columns)}`;
      await database.query(
        text,
        some.flatMap((row) => [...row.values.values()]),
      );
    }
  }

  #describe(table: string, name: readonly string[]): Promise<Description> {
    let found = this.#tables.get(table);
    if (found === undefined) {
      found = this.#options.database.describe(name);
      this.#tables.set(table, found);
    }
    return found;
  }

  close(): Promise<void> {
    return this.#options.database.close();
  }
}

/** @throws DeliveryFailure when it is none */
function named({ topic }: SinkMessage, own: string | undefined): { readonly table: string; readonly name: readonly string[] } {
  const table = topic ?? own ?? '';
  const name = table.split('.');
  if (name.length <= 2 && !name.some((part) => part === '' || part.includes('\0'))) return { table, name };
  const expected = 'expected one word, or a schema and a table with a dot between';
  throw new DeliveryFailure('bad_topic', `'${table}' is no name of a table: ${expected}`, { isPermanent: true });
}

/** Values by column. @throws DeliveryFailure when the table does not take them */
function rowOf(
  message: Fields,
  { columns, hasUniqueId }: Description,
  { table, database }: { readonly table: string; readonly database: Database },
): Map<string, unknown> {
  if (columns.size === 0) throw noTable(table);
  if (!columns.has('id') || !hasUniqueId) {
    const lack = columns.has('id') ? 'its column `id` is not unique' : 'it has no column `id`';
    throw new DeliveryFailure('unfit_table', `the table '${table}' cannot keep each event once: ${lack}. Make \`id\` its primary key`);
  }
  const { data, ...envelope } = message;
  const isFlat = typeof data !== 'object' || data === null;
  const head: Fields = {
    id: message['id'],
    event_type: message['event_type'],
    timestamp: message['timestamp'],
    message: message['message'],
  };
  const fields = isFlat ? envelope : (data as Fields);
  const row = new Map<string, unknown>();
  for (const [column, value] of Object.entries(head)) if (columns.has(column) && value !== undefined) row.set(column, value);
  const homeless: string[] = [];
  for (const [column, value] of Object.entries(fields)) {
    if (row.has(column)) continue;
    if (columns.has(column)) row.set(column, value);
    else if (head[column] === undefined) homeless.push(column);
  }
  if (columns.has(REST)) row.set(REST, fields);
  else if (homeless.length > 0) {
    const names = homeless.map((column) => `\`${column}\``).join(', ');
    throw new DeliveryFailure('unfit_table', `the table '${table}' has no column for ${names}, and no column \`${REST}\` for all fields`);
  }
  for (const [column, value] of row) row.set(column, valueFor(value, columns.get(column) ?? '', database));
  return row;
}

/** As the column takes it. What is no point in time is for the database to read, or to refuse: a guess would be stored for what was sent. */
export function valueFor(value: unknown, type: string, database: Pick<Database, 'timeText'>): unknown {
  if (/json/.test(type)) return value === null ? null : JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  if (typeof value !== 'string' || !/^(?:timestamp|datetime|date)/.test(type)) return value;
  const time = readTimestamp(value);
  return time?.hasOffset ? database.timeText(time.ms) : value;
}

function noTable(table: string, cause?: unknown): DeliveryFailure {
  return new DeliveryFailure('unknown_table', `the database has no table '${table}': create it, or correct the name`, { cause });
}

/** What the server says of a statement may be about one row, and is told when that is sent alone; that there is no server is the same for all. */
function sharedOutcome(cause: unknown, [first]: readonly Row[]): Outcome {
  return sqlState(cause) === '' ? failureOf(cause, first?.table ?? '') : 'alone';
}

function failureOf(cause: unknown, table: string): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  const state = sqlState(cause);
  if (NO_TABLE.test(state)) return noTable(table, cause);
  return new DeliveryFailure('database_error', databaseReason(cause), { isPermanent: BAD_ROW.test(state), cause });
}
