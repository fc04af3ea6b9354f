import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';

const LONG_MS = 60_000;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function listening<Kind extends Server | HttpServer>(server: Kind): Promise<Kind> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  return server;
}

/** A server that says what it is told to, whatever it is asked. */
function saying(answer: (socket: Socket) => void): Promise<Server> {
  return listening(
    createTcpServer((socket) => {
      ends.push(() => socket.destroy());
      socket.once('data', () => answer(socket));
    }),
  );
}

function doorWith(connectionsMax?: number): WebDoor {
  const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: LONG_MS, silenceMs: LONG_MS, connectionsMax });
  ends.push(() => web.close());
  return web;
}

function addressOf(server: Server | HttpServer, path = '/'): URL {
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
}

function ask(web: WebDoor, target: URL, deadlineMs = LONG_MS) {
  return web.whole(target, { method: 'POST', headers: { 'x-asked': 'yes' }, body: 'sent', deadlineMs });
}

it('an answer comes with all of its body, and what was sent arrives', async () => {
  const server = await listening(
    createHttpServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.writeHead(201, { 'x-lists': '1-2' });
        response.write(`${request.url} ${request.headers['x-asked']} ${body} `);
        setImmediate(() => response.end('end'));
      });
    }),
  );
  const { statusCode, headers, bytes } = await ask(doorWith(), addressOf(server, '/a?b=c'));
  expect([statusCode, headers['x-lists'], bytes.toString()]).toEqual([201, '1-2', '/a?b=c yes sent end']);
});

it('an answer may have no body', async () => {
  const server = await listening(createHttpServer((_, response) => response.writeHead(204).end()));
  expect(await ask(doorWith(), addressOf(server))).toMatchObject({ statusCode: 204, bytes: Buffer.alloc(0) });
});

it('what says that the answer is to come is not the answer', async () => {
  const server = await saying((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  });
  expect(await ask(doorWith(), addressOf(server))).toMatchObject({ statusCode: 200, bytes: Buffer.from('ok') });
});

it('an answer that breaks off is none', async () => {
  const server = await saying((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'));
  await expect(ask(doorWith(), addressOf(server))).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
});

it('the deadline ends an answer that does not come to its end, and its connection', async () => {
  let isClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    isClosed = resolve;
  });
  const server = await saying((socket) => {
    socket.on('close', isClosed);
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
  });
  await expect(ask(doorWith(), addressOf(server), 50)).rejects.toMatchObject({ name: 'DeadlinePassed', code: 'timeout' });
  await closed;
});

it('what waits for a connection when its deadline passes is not sent', async () => {
  const asked: (string | undefined)[] = [];
  let answerFirst: () => void = () => undefined;
  let isAsked: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const server = await listening(
    createHttpServer((request, response) => {
      asked.push(request.url);
      answerFirst = () => response.end();
      if (request.url === '/first') isAsked();
      else response.end();
    }),
  );
  const web = doorWith(1);
  const waiting = ask(web, addressOf(server, '/first'));
  await first;
  await expect(ask(web, addressOf(server, '/late'), 20)).rejects.toMatchObject({ code: 'timeout' });
  answerFirst();
  await waiting;
  await ask(web, addressOf(server, '/next'));
  expect(asked).toEqual(['/first', '/next']);
});

it('a target that no request is sent to is refused', async () => {
  await expect(ask(doorWith(), new URL('ftp://127.0.0.1/'))).rejects.toMatchObject({ code: 'unfit_target' });
});
