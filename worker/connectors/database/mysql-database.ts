import type { Pool } from 'mysql2/promise';
import { ANSWER_MS_MAX, type Database, type DatabaseAddress, type DatabaseRow } from './database.ts';

const IDLE_MS_MAX = 60_000;
/** Texts, names and comments, in which a `$1` is none; and those that are. */
const PLACE = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g;

/** MySQL and MariaDB, over sockets of the door. */
export class MysqlDatabase implements Database {
  readonly #address: DatabaseAddress;
  #opening: Promise<Pool> | undefined;

  constructor(address: DatabaseAddress) {
    this.#address = address;
  }

  async query(text: string, values: readonly unknown[]): Promise<readonly DatabaseRow[]> {
    this.#opening ??= openPool(this.#address);
    const pool = await this.#opening;
    const placed = withQuestionMarks(text, values);
    const [rows] = await pool.query({ sql: placed.text, timeout: ANSWER_MS_MAX }, placed.values as NonNullable<unknown>[]);
    return Array.isArray(rows) ? (rows as readonly DatabaseRow[]) : [];
  }

  quoted(name: readonly string[]): string {
    return name.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
  }

  async describe(table: readonly string[]): ReturnType<Database['describe']> {
    const [name = '', schema = this.#address.database] = [...table].reverse();
    const columns = await this.query(
      'select column_name as name, data_type as type from information_schema.columns where table_schema = $1 and table_name = $2',
      [schema, name],
    );
    const unique = await this.query(
      `select index_name as name from information_schema.statistics where table_schema = $1 and table_name = $2 and non_unique = 0
        group by index_name having count(*) = 1 and max(column_name) = 'id'`,
      [schema, name],
    );
    return { columns: new Map(columns.map((row) => [String(row['name']), String(row['type'])])), hasUniqueId: unique.length > 0 };
  }

  replacing(columns: readonly string[]): string {
    return `on duplicate key update ${columns.map((column) => `${column} = values(${column})`).join(', ')}`;
  }

  timeText(ms: number): string {
    return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening)?.end();
  }
}

async function openPool({ door, host, port, tls, database, user, password, poolSize }: DatabaseAddress): Promise<Pool> {
  const { createPool } = (await import('mysql2/promise')).default;
  return createPool({
    host,
    port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    connectionLimit: poolSize,
    maxIdle: poolSize,
    idleTimeout: IDLE_MS_MAX,
    connectTimeout: ANSWER_MS_MAX,
    // Instants are UTC, wherever this process runs.
    timezone: 'Z',
    decimalNumbers: true,
    supportBigNumbers: true,
    // A value is a value: none becomes SQL of its own.
    stringifyObjects: true,
    multipleStatements: false,
    ...(tls === undefined ? {} : { ssl: { ...tls, rejectUnauthorized: true } as Record<string, unknown> }),
    stream: () => door.connect({ host, port }),
  });
}

/** The driver knows values by their order alone. */
export function withQuestionMarks(
  text: string,
  values: readonly unknown[],
): { readonly text: string; readonly values: readonly unknown[] } {
  const placed: unknown[] = [];
  const marked = text.replace(PLACE, (found: string, number: string | undefined) => {
    // A question mark elsewhere would be taken for the place of a value.
    if (number === undefined) return found;
    placed.push(values[Number(number) - 1]);
    return '?';
  });
  return { text: marked, values: placed };
}
