import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { MysqlDatabase } from '../../../worker/connectors/database/mysql-database.ts';
import { PostgresDatabase } from '../../../worker/connectors/database/postgres-database.ts';
import { valueFor } from '../../../worker/connectors/database/table-sink.ts';

const address = {
  ...{ door: new OutboundDoor(NetworkPolicy.everywhere), host: 'localhost', port: 1, tls: undefined },
  ...{ database: 'd', user: undefined, password: undefined, poolSize: 1 },
};
const postgres = new PostgresDatabase(address);
const mysql = new MysqlDatabase(address);

describe('a value for a column of times', () => {
  it.each([
    ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00Z', '2026-01-31 10:00:00.000'],
    ['2026-01-31T10:00:00.25+02:00', '2026-01-31T08:00:00.250Z', '2026-01-31 08:00:00.250'],
    ['2026-01-31 10:00:00-0500', '2026-01-31T15:00:00Z', '2026-01-31 15:00:00.000'],
  ])('is %j, which says its zone, in UTC', (text, ofPostgres, ofMysql) => {
    for (const type of ['timestamp with time zone', 'timestamp without time zone', 'datetime', 'date']) {
      expect([valueFor(text, type, postgres), valueFor(text, type, mysql)]).toEqual([ofPostgres, ofMysql]);
    }
  });

  it.each(['item 12', 'order 7', '2026', '2026-01-31', '2026-01-31 10:00:00', '2026-02-30T10:00:00Z', '31.1.2026', 'now', ''])(
    'is %j as it stands: the database knows what that is',
    (text) => {
      for (const type of ['timestamp with time zone', 'datetime', 'date']) {
        expect([valueFor(text, type, postgres), valueFor(text, type, mysql)]).toEqual([text, text]);
      }
    },
  );
});
