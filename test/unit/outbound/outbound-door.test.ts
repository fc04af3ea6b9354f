import { readFileSync } from 'node:fs';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answered, OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../shared/outbound/web-door.ts';
import { ForbiddenAddress, NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure } from '../../../worker/connectors/connector.ts';
import { alertTarget, openAlertSink } from '../../../worker/connectors/delivery/alert-sinks.ts';
import { openWebhook } from '../../../worker/connectors/http.ts';
import { openSink, settingsOf } from '../../../worker/connectors/registry.ts';

/** Answers every request with 204 and remembers what it was asked for. */
class Listener {
  readonly paths: string[] = [];
  connections = 0;
  readonly #server: Server = createServer((socket: Socket) => {
    this.connections++;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const path = /^[A-Z]+ (\S*)/.exec(chunk.toString('latin1'))?.[1];
      if (path === undefined) return;
      this.paths.push(path);
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });

  async listen(host: string, port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

/** All names are those of this machine. */
class DoorToHere extends OutboundDoor {
  override readonly lookup: LookupFunction = (_name, { all }, done) => {
    if (all) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(null, '127.0.0.1', 4);
  };
}

/** Of one for `localhost`. */
const certificates = new URL('../../integration/server/certificates/', import.meta.url);

/** What the tenant may not reach, and what it may. */
const forbidden = new Listener();
const allowed = new Listener();
let port = 0;
const policy = NetworkPolicy.publicAnd(['127.0.0.2']);
const door = new OutboundDoor(policy);
const environment = { console: () => undefined, door };
const message = { id: '1', topic: null, payload: '{}' };

beforeAll(async () => {
  port = await allowed.listen('127.0.0.2');
  await forbidden.listen('127.0.0.1', port);
});
afterAll(() => {
  allowed.close();
  forbidden.close();
});

/** This machine, in the spellings that somebody understands. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7F.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.01',
  '127.0.0.1.',
  '127.0.0.01',
  '１２７.0.0.1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fe80::1%25lo]',
  'localhost',
  'LOCALHOST',
  'localhost.',
];

describe('a door for public addresses', () => {
  it.each(spellings)('lets no web request through to %s', async (host) => {
    const web = new WebDoor(door, { connectMs: 2_000, silenceMs: 0 });
    const text = `http://${host}:${port}/`;
    const request = async () => web.request(new URL(text), { method: 'GET', headers: {}, body: null, deadlineMs: 2_000 });
    await expect(request()).rejects.toThrow();
    await web.close();
    expect(forbidden.connections).toBe(0);
  });

  it.each([...spellings, '::1', '::ffff:127.0.0.1', 'fe80::1%lo', '0:0:0:0:0:ffff:7f00:1'])(
    'lets no socket through to %s',
    async (host) => {
      const open = async (): Promise<void> => {
        const socket = door.connect({ host, port });
        await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject)).finally(() => socket.destroy());
      };
      await expect(open()).rejects.toThrow();
      expect(forbidden.connections).toBe(0);
    },
  );

  it('lets through to what is permitted, as a socket too, and with TLS on top where that is asked for', async () => {
    const before = allowed.connections;
    for (const tls of [undefined, {}]) {
      const socket = door.connect({ host: '127.0.0.2', port, ...(tls && { tls }) });
      await new Promise<void>((resolve) => socket.once('connect', resolve));
      socket.on('error', () => undefined).destroy();
    }
    expect(allowed.connections).toBe(before + 2);
  });

  it.each([
    'ftp://127.0.0.2/',
    'file:///etc/passwd',
    'ws://127.0.0.2/',
    'data:,x',
    'http://user:word@127.0.0.2/',
    'http://user@127.0.0.2/',
  ])('sends no web request to %s', async (text) => {
    const web = new WebDoor(door, { connectMs: 1_000, silenceMs: 0 });
    await expect(web.request(new URL(text), { method: 'GET', headers: {}, body: null })).rejects.toMatchObject({ code: 'unfit_target' });
    await web.close();
  });

  it('tells nothing of the address that a name means', async () => {
    const sink = openWebhook(`http://localhost:${port}/`, environment);
    const failure = await sink.send(message).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DeliveryFailure);
    expect(failure).toMatchObject({ code: 'forbidden_address', isPermanent: true });
    expect(String(failure)).not.toMatch(/127\.0\.0\.1|::1/);
    await sink.close();
  });

  it('gives no address of a name of which one may not be reached', async () => {
    const found = await new Promise((resolve) => door.lookup('localhost', { all: true }, (error, all) => resolve(error ?? all)));
    expect(found).toBeInstanceOf(ForbiddenAddress);
    await expect(new Promise((resolve) => door.lookup('127.0.0.2', { all: true }, (_error, all) => resolve(all)))).resolves.toEqual([
      { address: '127.0.0.2', family: 4 },
    ]);
  });
});

describe('a door for everything', () => {
  it('is told by nobody where to send', async () => {
    const other = new Listener();
    const free = await other.listen('127.0.0.1');
    const sink = openWebhook(`http://localhost:${free}/`, { ...environment, door: new OutboundDoor(NetworkPolicy.everywhere) });
    await sink.send(message);
    expect(other.paths).toEqual(['/']);
    await sink.close();
    other.close();
  });

  it.each([
    ['localhost', 'taken'],
    ['127.0.0.1', 'taken'],
    ['127.0.0.2', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['::ffff:127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('has TLS that a driver begins by itself ask for a certificate of %s', async (host, outcome) => {
    const [cert, key] = ['cert', 'key'].map((part) => readFileSync(new URL(`first-${part}.pem`, certificates))) as [Buffer, Buffer];
    const server = createTlsServer({ cert, key }, (socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const socket = new OutboundDoor(NetworkPolicy.everywhere).connect({ host, port: (server.address() as AddressInfo).port });
    const secure = connectTls({ socket, ca: cert });
    const found = await new Promise((resolve) => {
      secure.once('secureConnect', () => resolve('taken')).once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
    expect(found).toBe(outcome);
    secure.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    ['localhost', 'localhost'],
    ['localhost.', 'localhost'],
    ['127.0.0.1', false],
    ['127.0.0.1.', false],
  ])('says over TLS that it asks for %s, where that is a name', async (host, said) => {
    const [cert, key] = ['cert', 'key'].map((part) => readFileSync(new URL(`first-${part}.pem`, certificates))) as [Buffer, Buffer];
    const asked: unknown[] = [];
    const server = createTlsServer({ cert, key }, (socket) => {
      asked.push(socket.servername);
      socket.on('error', () => undefined).destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const everywhere = new DoorToHere(NetworkPolicy.everywhere);
    const socket = everywhere.connect({ host, port: (server.address() as AddressInfo).port, tls: { ca: cert } });
    await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    expect(asked).toEqual([said]);
    await new Promise((resolve) => server.close(resolve));
  });
});

/** Texts that mean something to whoever puts addresses together or takes them apart. */
const nasty = fc.constantFrom(
  ...[
    '/',
    '//',
    '\\',
    '/\\',
    '..',
    '.',
    '%2e',
    '%2E%2e',
    '%252e',
    '%2f',
    '%5c',
    '?',
    '#',
    '&',
    '=',
    '@',
    ':',
    ';',
    ' ',
    '\t',
    '\r\n',
    '\0',
  ],
  ...[
    'http:',
    'https://',
    'user:word@',
    'localhost',
    '127.0.0.1',
    '[::1]',
    '％2e',
    '。',
    '\u{1f600}',
    '\ud800',
    '{',
    '"',
    'a',
    'orders',
    '',
  ],
);
const nastyText = fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join(''));
const seeded = { seed: 20_261_123, numRuns: 400 };

describe('what comes from an event', () => {
  it('stays within the path of its sink, every part of it as it was, or is refused', async () => {
    const stored = [['url', `http://127.0.0.2:${port}/hooks/team1?key=k`]] as const;
    const sink = openSink(settingsOf('Hook', 'http', stored), environment);
    const law = fc.asyncProperty(nastyText, async (topic) => {
      allowed.paths.length = 0;
      const failure = await sink.send({ ...message, topic }).catch((error: unknown) => error);
      if (failure !== undefined) {
        expect(failure).toMatchObject({ code: 'bad_topic', isPermanent: true });
        expect(allowed.paths).toEqual([]);
        return;
      }
      const [path = '', query] = (allowed.paths[0] ?? '').split('?');
      expect(query).toBe('key=k');
      expect(path.startsWith('/hooks/team1/')).toBe(true);
      const parts = path.slice('/hooks/team1/'.length).split('/').map(decodeURIComponent);
      expect(parts).toEqual(topic.replace(/^\//, '').split('/'));
      expect(parts.every((part) => !['', '.', '..'].includes(part))).toBe(true);
    });
    await fc.assert(law, seeded);
    await sink.close();
    expect(forbidden.connections).toBe(0);
  });

  it.each(['../../admin', 'a/../b', '%2e%2e/admin', '%252e%252e', '.%2E', '..', '.', 'a//b', 'a/', '', '/', '//127.0.0.1/x', 'a/\ud800'])(
    'is refused as %j',
    async (topic) => {
      const sink = openSink(settingsOf('Hook', 'http', [['url', `http://127.0.0.2:${port}/hooks`]]), environment);
      await expect(sink.send({ ...message, topic })).rejects.toMatchObject({ code: 'bad_topic', isPermanent: true });
      await sink.close();
    },
  );

  it.each([
    ['a?admin=1', '/hooks/a%3Fadmin%3D1'],
    ['a#b', '/hooks/a%23b'],
    ['a\\..\\b', '/hooks/a%5C..%5Cb'],
    ['a\r\nX: y', '/hooks/a%0D%0AX%3A%20y'],
    ['/a', '/hooks/a'],
    ['%2f', '/hooks/%252f'],
  ])('is text in the path: %j', async (topic, path) => {
    allowed.paths.length = 0;
    const sink = openSink(settingsOf('Hook', 'http', [['url', `http://127.0.0.2:${port}/hooks`]]), environment);
    await sink.send({ ...message, topic });
    expect(allowed.paths).toEqual([path]);
    await sink.close();
  });
});

describe('the url of an alert', () => {
  const send = async (url: string): Promise<unknown> => {
    const { name, topic } = alertTarget(url);
    const sink = openAlertSink(name, environment);
    const failure = await sink.send({ ...message, topic }).catch((error: unknown) => error);
    await sink.close();
    return failure;
  };

  it('names one server, whatever its path looks like', async () => {
    for (const path of [
      '//127.0.0.1',
      '/\\127.0.0.1',
      '/\\\\127.0.0.1',
      '//user@127.0.0.1',
      '/%2f%2f127.0.0.1',
      '/http://127.0.0.1',
      '///',
    ]) {
      allowed.paths.length = 0;
      expect(await send(`http://127.0.0.2:${port}${path}:${port}/x?y=1`)).toBeUndefined();
      expect(allowed.paths).toHaveLength(1);
    }
    expect(forbidden.connections).toBe(0);
  });

  it('leads to nothing that may not be reached, however it is put together', async () => {
    const host = fc.oneof(fc.constantFrom(...spellings, '127.0.0.2'), nastyText);
    const url = fc.tuple(fc.constantFrom('http://', 'http:', 'http:\\\\', 'https://', ''), host, nastyText).map(([scheme, at, rest]) => {
      return `${scheme}${at}:${port}${rest}`;
    });
    const law = fc.asyncProperty(
      url.filter((text) => staysHere(text)),
      async (text) => {
        await send(text);
        expect(forbidden.connections).toBe(0);
      },
    );
    await fc.assert(law, { ...seeded, numRuns: 150 });
  });

  it('is refused when it holds a login, which nothing would send', async () => {
    expect(await send(`http://user:word@127.0.0.2:${port}/`)).toMatchObject({ message: expect.stringContaining('login') });
  });
});

/** Names of other machines would be looked up outside. */
function staysHere(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { hostname } = new URL(text);
  return /^[\d.]*$|^\[|^localhost\.?$/.test(hostname);
}

it('ends the connection, and not the process, when what reads from it throws', async () => {
  const server = createServer((socket) => void socket.write('what no driver knows'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = new OutboundDoor(NetworkPolicy.everywhere).connect({ host: '127.0.0.1', port });
  socket.on('data', () => {
    throw new RangeError('beyond the end');
  });
  expect(await new Promise((resolve) => socket.once('error', resolve))).toEqual(new RangeError('beyond the end'));
  expect(socket.destroyed).toBe(true);
  server.close();
});

describe('what a driver holds of what comes over a connection', () => {
  const connect = async (chunks: number): Promise<{ socket: Socket; close: () => void }> => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      let left = chunks;
      const on = (): void => {
        while (left-- > 0) if (!socket.write(Buffer.alloc(16_384))) return;
      };
      socket.on('drain', on);
      on();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const socket = new OutboundDoor(NetworkPolicy.everywhere, 262_144).connect({ host: '127.0.0.1', port });
    const close = (): void => {
      socket.destroy();
      server.close();
    };
    return { socket, close };
  };

  it('is bounded: more ends the connection', async () => {
    const { socket, close } = await connect(Number.POSITIVE_INFINITY);
    let bytes = 0;
    socket.on('data', ({ length }: Buffer) => {
      bytes += length;
    });
    expect(String(await new Promise((resolve) => socket.once('error', resolve)))).toMatch(/more than 262144 bytes came/);
    expect(bytes).toBeLessThanOrEqual(262_144);
    close();
  });

  it.each([
    ['sends', (socket: Socket): unknown => socket.write('more')],
    ['says that it was taken', (socket: Socket): unknown => answered(socket)],
  ])('begins anew when it %s', async (_, progress) => {
    const { socket, close } = await connect(100);
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).on('data', ({ length }: Buffer) => {
        bytes += length;
        progress(socket);
        if (bytes === 100 * 16_384) resolve();
      });
    });
    close();
  });
});
