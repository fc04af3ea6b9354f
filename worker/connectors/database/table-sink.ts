import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { type Database, databaseReason, sqlState } from './database.ts';

const NO_TABLE = /^(?:42P01|42S02|3F000)$/;
/** Classes of what a row itself is to blame for. */
const BAD_ROW = /^(?:22|23)/;
/** The column for what no other column takes. */
const REST = 'data';

export interface TableSinkOptions {
  readonly database: Database;
  /** Of messages that name none. */
  readonly table: string | undefined;
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

  async send({ topic, payload }: SinkMessage): Promise<void> {
    const table = topic ?? this.#options.table ?? '';
    const name = table.split('.');
    if (name.length > 2 || name.some((part) => part === '' || part.includes('\0'))) {
      throw new DeliveryFailure(
        'bad_topic',
        `'${table}' is no name of a table: expected one word, or a schema and a table with a dot between`,
        {
          isPermanent: true,
        },
      );
    }
    try {
      const row = rowOf(JSON.parse(payload) as Fields, await this.#describe(table, name), { table, database: this.#options.database });
      const { database } = this.#options;
      const columns = [...row.keys()].map((column) => database.quoted([column]));
      const places = columns.map((_, at) => `$${at + 1}`).join(', ');
      const text = `insert into ${database.quoted(name)} (${columns.join(', ')}) values (${places}) ${database.replacing(columns)}`;
      await database.query(text, [...row.values()]);
    } catch (cause) {
      // It may have been changed, and is looked at again.
      this.#tables.delete(table);
      throw failureOf(cause, table);
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
  const head = { id: message['id'], event_type: message['event_type'], timestamp: message['timestamp'], message: message['message'] };
  const fields = isFlat ? envelope : (data as Fields);
  const row = new Map<string, unknown>();
  for (const [column, value] of Object.entries(head)) if (columns.has(column) && value !== undefined) row.set(column, value);
  const homeless: string[] = [];
  for (const [column, value] of Object.entries(fields)) {
    if (row.has(column)) continue;
    if (columns.has(column)) row.set(column, value);
    else if (!(column in head)) homeless.push(column);
  }
  if (columns.has(REST)) row.set(REST, fields);
  else if (homeless.length > 0) {
    const names = homeless.map((column) => `\`${column}\``).join(', ');
    throw new DeliveryFailure('unfit_table', `the table '${table}' has no column for ${names}, and no column \`${REST}\` for all fields`);
  }
  for (const [column, value] of row) row.set(column, valueFor(value, columns.get(column) ?? '', database));
  return row;
}

/** As the column takes it. */
function valueFor(value: unknown, type: string, database: Database): unknown {
  if (/json/.test(type)) return value === null ? null : JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  if (typeof value !== 'string' || !/^(?:timestamp|datetime|date)/.test(type)) return value;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? value : database.timeText(ms);
}

function noTable(table: string, cause?: unknown): DeliveryFailure {
  return new DeliveryFailure('unknown_table', `the database has no table '${table}': create it, or correct the name`, { cause });
}

function failureOf(cause: unknown, table: string): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  const state = sqlState(cause);
  if (NO_TABLE.test(state)) return noTable(table, cause);
  return new DeliveryFailure('database_error', databaseReason(cause), { isPermanent: BAD_ROW.test(state), cause });
}
