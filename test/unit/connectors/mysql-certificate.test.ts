import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutboundDoor, type Target } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { MysqlDatabase } from '../../../worker/connectors/database/mysql-database.ts';

/** For `localhost` and 127.0.0.1. */
const [cert, key] = ['cert', 'key'].map((part) =>
  readFileSync(new URL(`../../integration/server/certificates/first-${part}.pem`, import.meta.url), 'utf8'),
) as [string, string];

/** Has 4.1 logins and TLS, and a database to begin with. */
const CAPABILITIES = 0x0008_8a0b;
/** Of the request for TLS, with its head. */
const REQUEST_BYTES = 36;
/** Access denied. */
const DENIED = packet(3, Buffer.concat([Buffer.of(0xff, 0x15, 0x04), Buffer.from('#28000denied')]));

function packet(sequence: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(payload.length, 0, 0, sequence), payload]);
}

function greeting(): Buffer {
  const capabilities = Buffer.alloc(4);
  capabilities.writeUInt32LE(CAPABILITIES);
  const salt = Buffer.alloc(20, 'a');
  return packet(
    0,
    Buffer.concat([
      ...[Buffer.from('\u000a8.0.0\0'), Buffer.of(1, 0, 0, 0), salt.subarray(0, 8), Buffer.of(0)],
      ...[capabilities.subarray(0, 2), Buffer.of(45, 2, 0), capabilities.subarray(2), Buffer.of(21), Buffer.alloc(10)],
      ...[salt.subarray(8), Buffer.from('\0mysql_native_password\0')],
    ]),
  );
}

/** What came inside TLS: logins. */
let logins: string[] = [];

/** Greets, goes over to TLS as it is asked to, and refuses every login. */
function serve(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.write(greeting());
  socket.once('data', (bytes) => {
    // Behind the request for TLS the first of its records may have come already.
    socket.pause();
    if (bytes.length > REQUEST_BYTES) socket.unshift(bytes.subarray(REQUEST_BYTES));
    const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ cert, key }) });
    secure.on('error', () => undefined);
    secure.once('data', (login) => {
      logins.push(login.toString('latin1'));
      secure.end(DENIED);
    });
  });
}

describe('a MySQL server that shows a certificate which is trusted', () => {
  let server: Server;
  let port = 0;
  beforeAll(async () => {
    server = createServer(serve);
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    logins = [];
  });
  afterAll(() => void server.close());

  /** All names lead to the server. */
  class Door extends OutboundDoor {
    override connect({ host, port: to, tls }: Target): Socket {
      return host.endsWith('.example') ? connect(to, '127.0.0.1') : super.connect({ host, port: to, ...(tls && { tls }) });
    }
  }

  async function failureAt(host: string): Promise<string> {
    const address = {
      door: new Door(NetworkPolicy.everywhere),
      host,
      port,
      tls: { ca: cert },
      database: 'd',
      user: 'ann',
      password: 'secret',
    };
    const database = new MysqlDatabase({ ...address, poolSize: 1 });
    try {
      await database.query('select 1', []);
      return 'taken';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await database.close();
    }
  }

  it.each(['localhost', '127.0.0.1'])('is told the login where the certificate is for %s, as it is asked for', async (host) => {
    expect(await failureAt(host)).toContain('denied');
    expect(logins).toEqual([expect.stringContaining('ann')]);
  });

  it.each(['127.0.0.2', 'database.example'])(
    'is told nothing where it is asked for as %s, for which the certificate is not',
    async (host) => {
      expect(await failureAt(host)).toMatch(/not in the cert's|does not match certificate/);
      expect(logins).toEqual([]);
    },
  );
});
