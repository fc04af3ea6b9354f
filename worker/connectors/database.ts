import { CepError } from '../../shared/errors/error.ts';
import { fromJson, toText } from '../../shared/events/text.ts';
import { Timestamp, type Value } from '../../shared/events/value.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType, Lookup } from './connector.ts';
import type { Database, DatabaseAddress } from './database/database.ts';
import { databaseReason } from './database/database.ts';
import { databaseSteps } from './database/database-test.ts';
import { MysqlDatabase } from './database/mysql-database.ts';
import { PostgresDatabase } from './database/postgres-database.ts';
import { TableSink } from './database/table-sink.ts';
import { LookupTurns } from './lookups/lookup-turns.ts';
import { numberParameter, textParameter } from './parameters.ts';
import { requireReachable } from './reachable-host.ts';

const POOL_SIZE_DEFAULT = 4;

interface Kind {
  readonly port: number;
  readonly open: (address: DatabaseAddress) => Database;
}

const postgres: Kind = { port: 5432, open: (address) => new PostgresDatabase(address) };
const mysql: Kind = { port: 3306, open: (address) => new MysqlDatabase(address) };
/** By the scheme of a url. */
const kinds: Readonly<Record<string, Kind>> = { 'postgres:': postgres, 'postgresql:': postgres, 'mysql:': mysql, 'mariadb:': mysql };

/** PostgreSQL, MySQL and MariaDB: rows of tables, and look-ups by a query. */
export const databaseConnectors: readonly ConnectorType[] = [
  databaseConnector('postgres', [postgres]),
  databaseConnector('mysql', [mysql]),
  databaseConnector('database', [postgres, mysql]),
];

function databaseConnector(name: string, allowed: readonly Kind[]): ConnectorType {
  return {
    name,
    openSink: (settings, environment) => {
      const { kind, address } = addressOf(settings, environment, allowed);
      const table = textParameter(settings.parameters, 'table') ?? textParameter(settings.parameters, 'topic');
      return new TableSink({ database: kind.open(address), table });
    },
    openLookup: (settings, environment) => {
      const query = textParameter(settings.parameters, 'query');
      if (query === undefined)
        throw wrong(settings.name, 'it has no query to look anything up', 'write `query: "select .. where id = $1"`');
      const { kind, address } = addressOf(settings, environment, allowed);
      return rowLookup(kind.open(address), query, new LookupTurns(address.poolSize));
    },
    async *test(use, environment) {
      const { kind, address } = addressOf(use, environment, allowed);
      yield* databaseSteps({ address, database: kind.open(address), topic: use.topic });
    },
  };
}

/** The first row that the query gives for a key, by column. */
function rowLookup(database: Database, query: string, turns: LookupTurns): Lookup {
  return {
    find: async (key, signal) => {
      const parameter = typeof key === 'object' ? toText(key) : key;
      const [row] = await turns
        .run(() => database.query(query, [parameter], signal), signal)
        .catch((cause: unknown) => {
          throw new Error(databaseReason(cause), { cause });
        });
      if (row === undefined) throw new Error('the query gives no row');
      return new Map(Object.entries(row).map(([column, value]) => [column, columnValue(value)]));
    },
    close: () => {
      turns.close();
      return database.close();
    },
  };
}

function columnValue(value: unknown): Value {
  if (value instanceof Date) return new Timestamp(value.getTime());
  if (Buffer.isBuffer(value)) return value.toString('base64');
  return fromJson(value);
}

function wrong(connector: string, problem: string, hint: string): CepError {
  return new CepError('connector_error', `connector '${connector}': ${problem}`, { hint });
}

/** @throws CepError `connector_error` */
function addressOf(
  { name, parameters }: ConnectorSettings,
  environment: ConnectorEnvironment,
  allowed: readonly Kind[],
): { readonly kind: Kind; readonly address: DatabaseAddress } {
  const text = textParameter(parameters, 'url') ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const kind = kinds[url?.protocol ?? ''];
  const database = decoded(url?.pathname.slice(1) ?? '');
  if (url === undefined || kind === undefined || !allowed.includes(kind) || url.hostname === '' || database === '') {
    const schemes = Object.entries(kinds).flatMap(([scheme, one]) => (allowed.includes(one) ? [scheme.slice(0, -1)] : []));
    throw wrong(name, 'its url is no address of a database', `write it as "${schemes[0]}://user@host/database" (${schemes.join(', ')})`);
  }
  const door = environment.door.withoutPublic();
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  requireReachable(name, door, [host]);
  const secured = ['sslmode', 'ssl-mode', 'ssl', 'tls'].map((key) => url.searchParams.get(key)).find((value) => value !== null);
  const isSecured = secured !== undefined && secured !== null && !/^(?:disable|disabled|false|0|off)$/i.test(secured);
  return {
    kind,
    address: {
      door,
      host,
      port: Number(url.port) || kind.port,
      tls: isSecured ? {} : undefined,
      database,
      user: textParameter(parameters, 'username') ?? (url.username === '' ? undefined : decoded(url.username)),
      password: textParameter(parameters, 'password') ?? (url.password === '' ? undefined : decoded(url.password)),
      poolSize: numberParameter(parameters, 'pool_size', POOL_SIZE_DEFAULT),
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // What is not encoded well stands for itself.
  }
}
