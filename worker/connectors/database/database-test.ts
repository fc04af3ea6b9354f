import type { ConnectorUse } from '../connector.ts';
import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { type Database, type DatabaseAddress, databaseReason } from './database.ts';

export interface DatabaseTestOptions extends Pick<ConnectorUse, 'topic'> {
  readonly address: DatabaseAddress;
  readonly database: Database;
}

/** Logs in and looks at the table; changes nothing. */
export async function* databaseSteps({ address, database, topic }: DatabaseTestOptions): AsyncGenerator<TestStep> {
  // Both protocols greet before TLS begins, so TLS is a matter of the login.
  yield* reachSteps({ door: address.door, host: address.host, port: address.port, tls: false });
  try {
    yield { name: 'login', run: () => loggedIn(database, address.database) };
    if (topic === null) yield { name: 'topic', untested: 'no table is named' };
    else yield { name: 'topic', run: () => described(database, topic) };
    yield { name: 'permission', untested: 'a database tells of the permission to write only when something is written' };
  } finally {
    await database.close().catch(() => undefined);
  }
}

async function loggedIn(database: Database, name: string): Promise<string> {
  try {
    await database.query('select 1 as one', []);
    return `the server takes the login, and has a database '${name}'`;
  } catch (cause) {
    const hint = 'correct user, password and database in the url, or those of the profile; `?sslmode=require` speaks TLS';
    throw new StepFailure({ found: `'${databaseReason(cause)}'`, expected: 'a database that takes the login', hint, cause });
  }
}

async function described(database: Database, table: string): Promise<string> {
  const { columns, hasUniqueId } = await database.describe(table.split('.'));
  if (columns.size === 0) {
    const hint = 'create the table, correct its name, or let this user see it; none is made';
    throw new StepFailure({ found: `no table '${table}'`, expected: 'one that is there', hint });
  }
  if (!hasUniqueId) {
    const hint = 'make `id` the primary key: what is sent again replaces the row with its id';
    throw new StepFailure({ found: `no unique column \`id\` in '${table}'`, expected: 'one', hint });
  }
  return `the table '${table}' has the columns ${[...columns.keys()].join(', ')}`;
}
