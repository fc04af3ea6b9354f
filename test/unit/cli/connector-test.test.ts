import { chmodSync, existsSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { NatsServer } from '../connectors/nats-server.ts';
import { cep } from './cep.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();
const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

function portOf(server: Server): Promise<number> {
  open.push(server);
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)));
}

const webServer = (answer: RequestListener): Promise<number> => portOf(createServer({ keepAlive: false }, answer));

/** A port that nothing listens at. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await portOf(server);
  await new Promise((done) => server.close(done));
  return port;
}

describe('cep connector test of a type', () => {
  it('says which step failed where the port is closed, and ends with 4', async () => {
    const port = await closedPort();
    const result = await cep(['connector', 'test', 'mqtt', '--url', `mqtt://127.0.0.1:${port}`]);
    expect(result).toEqual({
      exitCode: 4,
      stdout:
        'mqtt (mqtt): .from\n' +
        '  ok        name        127.0.0.1 is an address\n' +
        `  failed    tcp         found no connection (ECONNREFUSED), expected a server at 127.0.0.1:${port}\n` +
        '                        start the server, or correct the port: nothing listens there\n',
      stderr: 'error: a test failed: mqtt (tcp)\n',
    });
  });

  it('says so where the name leads nowhere', async () => {
    const { exitCode, stdout } = await cep(['connector', 'test', 'redis', '--url', 'redis://nowhere.invalid']);
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/failed {4}name {8}found no address of 'nowhere\.invalid' \(\w+\), expected a name that leads to a server\n/);
  });

  it('says so where TLS is expected of a server that does not speak it', async () => {
    const port = await webServer((_, response) => response.end());
    for (const [type, url] of [
      ['http', 'https://127.0.0.1'],
      ['redis', 'rediss://127.0.0.1'],
      ['mqtt', 'mqtts://127.0.0.1'],
    ] as const) {
      const { exitCode, stdout } = await cep(['connector', 'test', type, '--url', `${url}:${port}`]);
      expect(exitCode).toBe(4);
      expect(stdout).toMatch(/ok {8}tcp .*\n {2}failed {4}tls {9}found no TLS at this port \(\w+\), expected a server that speaks TLS\n/);
    }
  });

  it('waits for a silent server no longer than the step may take', async () => {
    const port = await portOf(createTcpServer((socket) => socket.on('error', () => undefined)));
    for (const type of ['mqtt', 'redis']) {
      const { exitCode, stdout } = await cep([
        'connector',
        'test',
        type,
        '--url',
        `${type}://127.0.0.1:${port}`,
        '--step-timeout',
        '300ms',
      ]);
      expect(exitCode).toBe(4);
      expect(stdout).toMatch(/failed {4}login {7}found no answer within 0\.3 s, expected one\n/);
    }
  });

  it('asks a web server with requests that change nothing', async () => {
    const seen: string[] = [];
    const port = await webServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(request.method === 'HEAD' ? 405 : 204).end();
    });
    const result = await cep(['connector', 'test', 'http', '--url', `http://127.0.0.1:${port}/hook`]);
    expect(result.stdout).toContain('  ok        address     the server answers OPTIONS with 204\n');
    expect(result.exitCode).toBe(0);
    expect(seen).toEqual(['HEAD /hook', 'OPTIONS /hook']);
  });

  it.each([
    [301, /found the status 301 to http:\/\/elsewhere\/ for HEAD, .*\n +write the address that it leads to: redirects are not followed\n/],
    [401, /found the status 401 .*\n +correct the login/],
    [404, /found the status 404 for HEAD, .*\n +correct the path/],
    [503, /found the status 503 .*\n +look at the log of the server/],
  ])('takes the status %s for a failure', async (status, text) => {
    const port = await webServer((_, response) => {
      response.writeHead(status, status === 301 ? { location: 'http://elsewhere/' } : {}).end();
    });
    const { exitCode, stdout } = await cep(['connector', 'test', 'http', '--url', `http://127.0.0.1:${port}/hook`]);
    expect(stdout).toMatch(text);
    expect(exitCode).toBe(4);
  });

  it('shows no password that stands in an address', async () => {
    const port = await webServer((_, response) => {
      response.writeHead(302, { location: 'http://elsewhere/?to=top-secret' }).end();
    });
    for (const extra of [[], ['--json']]) {
      const url = `http://cep:top-secret@127.0.0.1:${port}/`;
      const { stdout, stderr } = await cep(['connector', 'test', 'http', '--url', url, ...extra]);
      expect(stdout).toContain('302');
      expect(stdout + stderr).not.toContain('top-secret');
    }
  });

  it('opens a WebSocket, and says where there is none', async () => {
    const port = await webServer((_, response) => response.writeHead(403).end());
    const refused = await cep(['connector', 'test', 'websocket', '--url', `ws://127.0.0.1:${port}/events`]);
    expect(refused.exitCode).toBe(4);
    expect(refused.stdout).toMatch(/failed {4}address {5}found 'Unexpected server response: 403', expected a handshake\n/);
    const server = createServer();
    const opened = await portOf(server);
    const sockets = new WebSocketServer({ server });
    const right = await cep(['connector', 'test', 'websocket', '--url', `ws://127.0.0.1:${opened}/events`]);
    sockets.close();
    expect(right.stdout).toContain('  ok        address     the server opens a WebSocket\n');
    expect(right.exitCode).toBe(0);
  });

  it('refuses a type that there is not, an address that is missing, and times that are none', async () => {
    expect(await cep(['connector', 'test', 'mqt', '--url', 'mqtt://h'])).toMatchObject({ exitCode: 1 });
    expect((await cep(['connector', 'test', 'mqtt'])).stderr).toContain('no address: expected --url for a connector of type mqtt');
    expect((await cep(['connector', 'test'])).stderr).toContain('nothing to test: expected a type of connector, or a program');
    expect((await cep(['connector', 'test', 'console', '--step-timeout', '0'])).stderr).toContain('--step-timeout: expected seconds');
    expect(await cep(['connector', 'test', 'mqtt', '--url', 'http://h'])).toMatchObject({
      exitCode: 4,
      stdout: expect.stringContaining('failed    settings'),
    });
  });
});

describe('cep connector test of a program', () => {
  const program = folder.write(
    'rules.vpl',
    `
event Reading:
    n: int

connector In = file (path: "${folder.file('in.jsonl')}")
connector Out = file (path: "${folder.file('out.jsonl')}")
connector Screen = console ()

stream Each = Reading.from(In)
    .emit(n)
    .to(Out)
    .to(Screen)
`,
  );
  const test = (...args: string[]) => folder.cep(['connector', 'test', '-p', program, ...args]);

  it('tests what it reads and writes, makes no file, and names those that failed', async () => {
    const result = await test();
    expect(result.stdout).toBe(
      "In (file): .from 'in.jsonl'\n" +
        "  failed    file        found no file 'in.jsonl', expected one that can be read\n" +
        '                        correct the path; a program that follows it waits until the file is there\n' +
        "Out (file): .to 'out.jsonl'\n" +
        "  ok        file        the file 'out.jsonl' is not there yet: it can be made in its folder\n" +
        'Screen (console): .to\n' +
        '  ok        terminal    there is nothing to reach: lines go to the standard output of the process\n',
    );
    expect(result).toMatchObject({ exitCode: 4, stderr: 'error: a test failed: In (file)\n' });
    expect(existsSync(folder.file('out.jsonl'))).toBe(false);
  });

  it('tests one by its name', async () => {
    expect(await test('Screen')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Screen \(console\): \.to\n.*\n$/) });
    expect(await test('Scren')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("did you mean 'Screen'?") });
  });

  it('takes any group of subjects, as a run does', async () => {
    const server = await NatsServer.start({});
    const file = folder.write(
      'bus.vpl',
      `
event Reading:
    n: int

connector Bus = nats (servers: ["127.0.0.1:${server.port}"], subject: "readings", queue_group: "team.a")

stream Each = Reading.from(Bus)
    .emit(n)
`,
    );
    const { exitCode, stdout } = await folder.cep(['connector', 'test', '-p', file]);
    server.close();
    expect(stdout).toMatch(/ok {8}permission/);
    expect(exitCode).toBe(0);
  });

  it('is right where the files are', async () => {
    folder.write('in.jsonl', '');
    folder.write('out.jsonl', '');
    const { exitCode, stdout } = await test('--json');
    expect(exitCode).toBe(0);
    const [input, output] = (JSON.parse(stdout) as { connectors: unknown[] }).connectors;
    expect(input).toMatchObject({ connector: 'In', type: 'file', role: 'source', ok: true, steps: [{ step: 'file', outcome: 'ok' }] });
    expect(output).toMatchObject({
      connector: 'Out',
      role: 'sink',
      ok: true,
      steps: [{ text: "the file 'out.jsonl' can be appended to" }],
    });
  });

  // Root may read everything.
  if (process.getuid?.() !== 0) {
    it('says which file the system does not let it read', async () => {
      chmodSync(folder.write('in.jsonl', ''), 0);
      expect(await test('In')).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('cannot be read (permission denied)') });
    });
  }

  it('shows the errors of a program that has some', async () => {
    const wrong = folder.write('wrong.vpl', 'stream S = Nothing.from(Gone)\n');
    expect(await folder.cep(['connector', 'test', '-p', wrong])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('E030'),
    });
  });
});
