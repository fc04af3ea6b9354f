import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { WebSocketServer } from 'ws';
import type { Delivered } from '../audit.ts';
import { OwnServer } from './own-server.ts';
import type { Parameters, Row } from './troubled-sinks.ts';

interface Own extends Pick<Row, 'type' | 'each' | 'wrong' | 'missing'> {
  /** Puts what it takes into `received`. */
  readonly serve: (received: Delivered[]) => Promise<{ readonly port: number; readonly close: () => Promise<unknown> }>;
  readonly parameters: (outside: number) => Parameters;
}

const basic = `Basic ${Buffer.from('cep:secret').toString('base64')}`;

/** The status by which a web server refuses a request. */
function refusalOf(path: string | undefined, authorization: string | undefined): 401 | 404 | undefined {
  if (authorization !== basic) return 401;
  return path === '/alerts' ? undefined : 404;
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const url =
  (scheme: string, password = 'secret', path = 'alerts') =>
  (outside: number) =>
    `${scheme}://cep:${password}@127.0.0.1:${outside}/${path}`;

const servers: readonly Own[] = [
  {
    type: 'http',
    serve: async (received) => {
      const server = createServer(async (request, response) => {
        // Its sender may be gone before the end.
        const body = await text(request).catch(() => undefined);
        const refusal = refusalOf(request.url, request.headers.authorization);
        if (refusal === undefined && body !== undefined) received.push(JSON.parse(body) as Delivered);
        response.writeHead(refusal ?? 204).end();
      });
      return {
        port: await portOf(server),
        close: async () => {
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        },
      };
    },
    parameters: (outside) => [['url', url('http')(outside)]],
    wrong: { parameters: (outside) => [['url', url('http', 'no-word')(outside)]], reason: /the answer was 401/ },
    missing: { parameters: (outside) => [['url', url('http', 'secret', 'nowhere')(outside)]], reason: /the answer was 404/ },
  },
  {
    type: 'websocket',
    serve: async (received) => {
      const server = createServer();
      const sockets = new WebSocketServer({ noServer: true });
      server.on('upgrade', (request, socket, head) => {
        const refusal = refusalOf(request.url, request.headers.authorization);
        if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} refused\r\n\r\n`);
        sockets.handleUpgrade(request, socket, head, (client) => {
          client.on('message', (data) => received.push(JSON.parse(String(data)) as Delivered)).on('error', () => undefined);
        });
      });
      return {
        port: await portOf(server),
        close: async () => {
          for (const client of sockets.clients) client.terminate();
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        },
      };
    },
    parameters: (outside) => [['url', url('ws')(outside)]],
    wrong: { parameters: (outside) => [['url', url('ws', 'no-word')(outside)]], reason: /response: 401/ },
    missing: { parameters: (outside) => [['url', url('ws', 'secret', 'nowhere')(outside)]], reason: /response: 404/ },
  },
  {
    type: 'smtp',
    // It greets nobody in the first tenth of a second.
    each: 40,
    serve: async (received) => {
      const server = new SMTPServer({
        allowInsecureAuth: true,
        disabledCommands: ['STARTTLS'],
        logger: false,
        closeTimeout: 1,
        onAuth: ({ username, password }, _session, done) =>
          username === 'cep' && password === 'secret' ? done(null, { user: username }) : done(new Error('not known')),
        onRcptTo: ({ address }, _session, done) =>
          address === 'desk@example.com' ? done() : done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
        onData: async (stream, _session, done) => {
          const mail = await text(stream).catch(() => undefined);
          const id = /^Message-ID: <(.+)@cep>/m.exec(mail ?? '')?.[1];
          if (mail !== undefined && id !== undefined)
            received.push({ id, event_type: 'S', data: { n: Number(/^n: (\d+)/m.exec(mail)?.[1]) } });
          done();
        },
      });
      server.on('error', () => undefined); // Of connections that end in the middle.
      return { port: await portOf(server.server as Server), close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
    },
    parameters: (outside) => [
      ['host', '127.0.0.1'],
      ['port', outside],
      ['tls', 'none'],
      ['username', 'cep'],
      ['password', 'secret'],
      ['from', 'cep@example.com'],
      ['to', 'desk@example.com'],
    ],
    wrong: { parameters: () => [['password', 'no-word']], reason: /535/ },
    missing: { parameters: () => [['to', 'nobody@example.com']], reason: /no such mailbox/ },
  },
];

/** Sinks to servers that this process is itself. */
export const ownSinks: readonly Row[] = servers.map(({ serve, parameters, ...row }) => {
  const received: Delivered[] = [];
  return {
    ...row,
    isOnce: false,
    start: () => OwnServer.start(() => serve(received)),
    open: async (_port, outside) => ({ parameters: parameters(outside), written: async () => received }),
  };
});
