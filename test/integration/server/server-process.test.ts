import { copyFileSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { createServer as createHttpServer, get } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { StreamClient } from '../../clients/event-stream-client.ts';
import { WebSocketClient } from '../../clients/websocket-client.ts';
import { CepProcess } from '../cli/cep-process.ts';
import { cep, logOf, path, post, program, type Served, serve, write } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

const certificates = new URL('./certificates/', import.meta.url).pathname;

describe('cep server', () => {
  it('deploys, takes events, sends their outputs over SSE and WebSocket, and ends with 0 on SIGTERM', async () => {
    const { cep, url } = await serve(['--metrics', '--metrics-port', '0']);
    const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source: program });
    const sse = await StreamClient.open(`${url}/api/v1/pipelines/${id}/logs`);
    const ws = await WebSocketClient.open(`${url.replace('http', 'ws')}/ws`);
    await ws.ask({ type: 'attach', pipeline_id: id }, 'attached');
    await post(`${url}/api/v1/pipelines/${id}/events`, { event_type: 'Reading', fields: { value: 40 } });
    await sse.until(({ frames }) => frames.length === 1);
    expect(sse.frames[0]).toMatchObject({ id: '1', data: { event_type: 'Hot', data: { value: 40 } } });
    expect(await ws.next('output_event')).toMatchObject({ stream: 'Hot', data: { value: 40 } });
    const metricsUrl = logOf(cep).find(({ message }) => message === 'Metrics listening')?.['url'];
    expect(await (await fetch(`${metricsUrl}/metrics`)).text()).toContain('cep_http_requests_total{route="deployPipeline",status="201"} 1');
    cep.kill('SIGTERM');
    await sse.until(({ isEnded }) => isEnded);
    await ws.until(({ closeCode }) => closeCode !== undefined);
    expect(ws.closeCode).toBe(1001);
    expect((await cep.ended).code).toBe(0);
    expect(logOf(cep).map(({ message }) => message)).toEqual(expect.arrayContaining(['Server stopping', 'Server stopped']));
    expect(cep.stdout).toBe('');
  });

  it('runs on with its own files when the link by which it was started leads to another version', async () => {
    const root = new URL('../../..', import.meta.url).pathname;
    const link = path('cep');
    mkdirSync(path('cep-next'));
    symlinkSync(root, link);
    const server = new CepProcess(['server', '--port', '0', '--config', write('link.yaml', 'logging:\n  format: json\n')], {
      script: join(link, 'cli/bin.mjs'),
    });
    try {
      await server.until(({ stderr }) => stderr.includes('"Server ready"'));
      const url = logOf(server).find(({ message }) => message === 'Server listening')?.['url'];
      symlinkSync(path('cep-next'), `${link}.new`);
      renameSync(`${link}.new`, link);
      // The check of a program and the engine thread are begun now.
      const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source: program });
      expect(await post(`${url}/api/v1/pipelines/${id}/events`, { event_type: 'Reading', fields: { value: 40 } })).toMatchObject({
        output_events: [{ event_type: 'Hot' }],
      });
    } finally {
      server.kill('SIGKILL');
    }
  });

  it('finishes a request that is under way, and refuses others meanwhile', async () => {
    const { cep, url } = await serve();
    const spinning =
      'event A:\n    n: int\n\nfn spin(n: int):\n    var i = 0\n    while i < n:\n        i := i + 1\n    return i\n\nstream S = A.emit(i: spin(n))\n';
    const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source: spinning });
    const events = Array.from({ length: 100 }, () => ({ event_type: 'A', fields: { n: 990_000 } }));
    const underWay = post(`${url}/api/v1/pipelines/${id}/events-batch`, { events });
    await vi.waitUntil(
      async () =>
        ((await (await fetch(`${url}/api/v1/pipelines/${id}/metrics`)).json()) as { events_in_flight: number }).events_in_flight > 0,
      {
        timeout: 60_000,
        interval: 5,
      },
    );
    cep.kill('SIGTERM');
    await cep.until(({ stderr }) => stderr.includes('"Server stopping"'));
    const ready = await fetch(`${url}/ready`).catch(() => undefined);
    if (ready) expect([ready.status, await ready.json()]).toMatchObject([503, { reason: 'draining' }]);
    expect(await underWay).toMatchObject({ accepted: 100, rejected: 0 });
    expect((await cep.ended).code).toBe(0);
  });

  it('ends at once with 4 on a second signal', async () => {
    const { cep, url } = await serve();
    const endless =
      'event A:\n    n: int\n\nfn spin(n: int):\n    var i = 0\n    while i < n:\n        i := i + 1\n    return i\n\nstream S = A.emit(i: spin(n))\n';
    const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source: endless });
    const events = Array.from({ length: 10_000 }, () => ({ event_type: 'A', fields: { n: 990_000 } }));
    const lost = post(`${url}/api/v1/pipelines/${id}/events-batch`, { events }).catch(() => 'lost');
    await vi.waitUntil(
      async () =>
        ((await (await fetch(`${url}/api/v1/pipelines/${id}/metrics`)).json()) as { events_in_flight: number }).events_in_flight > 0,
      {
        timeout: 60_000,
        interval: 5,
      },
    );
    cep.kill('SIGTERM');
    await cep.until(({ stderr }) => stderr.includes('"Server stopping"'));
    cep.kill('SIGINT');
    expect((await cep.ended).code).toBe(4);
    expect(await lost).toBe('lost');
  });

  it('brings pipelines back from its state directory', async () => {
    const state = ['--state-dir', path('state')];
    const first = await serve(state);
    const { id } = await post(`${first.url}/api/v1/pipelines`, { name: 'kept', source: program });
    await post(`${first.url}/api/v1/pipelines/${id}/events`, { event_type: 'Reading', fields: { value: 40 } });
    first.cep.kill('SIGINT');
    expect((await first.cep.ended).code).toBe(0);
    const second = await serve(state);
    expect(await (await fetch(`${second.url}/api/v1/pipelines/${id}`)).json()).toMatchObject({
      name: 'kept',
      status: 'running',
      events_processed: 1,
    });
  });

  it.each([
    ['never answers', () => undefined],
    [
      'drips its answer',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        const drip = setInterval(() => socket.write('x'), 50);
        socket.on('close', () => clearInterval(drip));
      },
    ],
  ])(
    'ends with 0 beside a sink that %s, when its state directory keeps what that has not taken, and delivers it later',
    async (_, manner) => {
      const ids: string[] = [];
      let isHanging = true;
      const sockets = new Set<Socket>();
      const sink = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          const id = /idempotency-key: (\S+)/i.exec(chunk.toString())?.[1];
          if (isHanging) manner(socket);
          else if (id !== undefined) {
            ids.push(id);
            socket.write('HTTP/1.1 204 No Content\r\n\r\n');
          }
        });
      });
      await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
      const { port } = sink.address() as AddressInfo;
      const source = `connector C = http (url: "http://127.0.0.1:${port}/", timeout: 10m)\n${program.trimEnd()}.to(C)\n`;
      const state = ['--state-dir', path(`state-${port}`)];
      const first = await serve(state);
      const { id } = await post(`${first.url}/api/v1/pipelines`, { name: 'p', source });
      for (let n = 0; n < 3; n++)
        await post(`${first.url}/api/v1/pipelines/${id}/events`, { event_type: 'Reading', fields: { value: 40 } });
      await vi.waitUntil(() => sockets.size === 1);
      const startedAt = performance.now();
      first.cep.kill('SIGTERM');
      expect((await first.cep.ended).code).toBe(0);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
      isHanging = false;
      await serve(state);
      await vi.waitUntil(() => ids.length === 3, { timeout: 30_000 });
      expect(new Set(ids).size).toBe(3);
      for (const socket of sockets) socket.destroy();
      sink.close();
    },
  );

  it.each([
    ['with 4 where that is in memory only', [], 4],
    ['with 0 where its state directory has it', ['--state-dir', 'letters'], 0],
  ])('that has given up an event ends %s', async (_, args, code) => {
    const refusing = createHttpServer((_request, response) => response.writeHead(400).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    const source = `connector C = http (url: "http://127.0.0.1:${port}/")\n${program.trimEnd()}.to(C)\n`;
    const { cep, url } = await serve(args.map((arg) => (arg.startsWith('--') ? arg : path(arg))));
    const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source });
    await post(`${url}/api/v1/pipelines/${id}/events`, { event_type: 'Reading', fields: { value: 40 } });
    const letters = async (): Promise<unknown> =>
      ((await (await fetch(`${url}/api/v1/pipelines/${id}/dlq`)).json()) as { total: number }).total;
    await vi.waitUntil(async () => (await letters()) === 1, { timeout: 30_000 });
    cep.kill('SIGTERM');
    expect((await cep.ended).code).toBe(code);
    expect(logOf(cep).find(({ message }) => message === 'Server stopped')).toMatchObject({ clean: code === 0 });
    refusing.close();
  });

  it('says at start what is in memory only, and when everybody can use it', async () => {
    const open = await serve(['--bind', '0.0.0.0']);
    const messages = (served: Served) => logOf(served.cep).map(({ level, message }) => `${level} ${message}`);
    expect(messages(open)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^warn Authentication is off/), expect.stringMatching(/^info State is in memory/)]),
    );
    expect(messages(open).filter((message) => /in memory/.test(message))).toHaveLength(2);
    const accepted = await serve(['--bind', '0.0.0.0', '--insecure']);
    expect(messages(accepted).join()).not.toMatch('Authentication is off');
  });

  it('shows its key nowhere, and warns of one on the command line', async () => {
    const secret = 'canary-0123456789abcdef';
    const { cep, url } = await serve(['--api-key', secret]);
    expect((await fetch(`${url}/api/v1/usage`)).status).toBe(401);
    const ways = [
      fetch(`${url}/api/v1/usage`, { headers: { 'x-api-key': secret } }),
      fetch(`${url}/api/v1/usage`, { headers: { authorization: `Bearer ${secret}` } }),
      fetch(`${url}/${secret}?api_key=${secret}`, { headers: { 'x-request-id': secret } }),
      post(`${url}/api/v1/pipelines`, { name: secret, source: secret }, { 'x-api-key': secret }),
    ];
    await Promise.all(ways);
    cep.kill('SIGTERM');
    await cep.ended;
    expect(cep.stderr).not.toContain(secret);
    expect(cep.stderr).toContain('[REDACTED]');
    expect(logOf(cep)).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('command line') }));
  });

  it('without a key is there for names of this machine, and those that it is told', async () => {
    const statusOf = async (url: string, host: string): Promise<number | undefined> =>
      await new Promise((resolve, reject) => {
        get(`${url}/api/v1/pipelines`, { headers: { host } }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
      });
    const config = write('hosts.yaml', 'server:\n  port: 0\n  allowed_hosts: cep.example\nlogging:\n  format: json\n');
    const told = cep(['server', '--config', config]);
    const [closed] = await Promise.all([serve(), told.until(({ stderr }) => stderr.includes('"Server ready"'))]);
    const url = String(logOf(told).find(({ message }) => message === 'Server listening')?.['url']);
    expect([await statusOf(closed.url, 'localhost'), await statusOf(closed.url, 'cep.example:9000')]).toEqual([200, 403]);
    expect([await statusOf(url, 'localhost'), await statusOf(url, 'cep.example:9000'), await statusOf(url, 'evil.example')]).toEqual([
      200, 200, 403,
    ]);
  });

  it('takes its key from the file that the configuration names', async () => {
    write('key', 'key-in-a-file\n');
    const config = write('keyed.yaml', `server:\n  port: 0\n  api_key_file: ${path('key')}\nlogging:\n  format: json\n`);
    const started = cep(['server', '--config', config]);
    await started.until(({ stderr }) => stderr.includes('"Server ready"'));
    const url = logOf(started).find(({ message }) => message === 'Server listening')?.['url'];
    expect((await fetch(`${url}/api/v1/usage`, { headers: { 'x-api-key': 'key-in-a-file' } })).status).toBe(200);
    expect((await fetch(`${url}/api/v1/usage`)).status).toBe(401);
  });
});

describe('cep server that cannot start', () => {
  const cases: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>, number, RegExp])[] = [
    ['a configuration file that is missing', ['--config', 'none.yaml'], {}, 2, /none\.yaml.*not found/],
    [
      'a key file that is missing',
      ['--config', write('nokey.yaml', 'server:\n  api_key_file: none\n')],
      {},
      2,
      /API key file '\/.*\/none' not found/,
    ],
    [
      'a key file that is empty',
      ['--config', write('emptykey.yaml', `server:\n  api_key_file: ${write('empty', '\n')}\n`)],
      {},
      3,
      /expected one key/,
    ],
    ['a certificate that is missing', ['--tls-cert', 'none', '--tls-key', 'none'], {}, 2, /TLS certificate 'none' not found/],
    ['half a TLS pair', ['--tls-cert', 'cert.pem'], {}, 3, /--tls-cert is set and --tls-key is not/],
    ['a certificate that is no PEM', ['--tls-cert', write('no.pem', 'hello'), '--tls-key', path('no.pem')], {}, 3, /is no PEM file/],
    [
      'a key of another certificate',
      ['--tls-cert', join(certificates, 'first-cert.pem'), '--tls-key', join(certificates, 'second-key.pem')],
      {},
      3,
      /cannot be used/,
    ],
    ['a bad value of a flag', ['--port', 'many'], {}, 1, /--port: found the text 'many', expected an integer from 0 to 65535/],
    [
      'a bad interval of a flag',
      ['--checkpoint-interval', 'often'],
      {},
      1,
      /--checkpoint-interval: found the text 'often', expected seconds or a duration/,
    ],
    ['a bad value of a variable', [], { CEP_RATE_LIMIT: 'fast' }, 3, /CEP_RATE_LIMIT: found the text 'fast'/],
    ['an unknown key of a file', ['--config', write('typo.yaml', 'server:\n  prot: 1\n')], {}, 3, /did you mean 'port'/],
    ['an origin that is none', ['--cors-origins', 'https://a.example,b.example'], {}, 1, /found 'b\.example', expected an origin/],
    ['a host that is none', ['--allowed-hosts', 'cep.example,http://a.example'], {}, 1, /found 'http:\/\/a\.example', expected a name/],
    [
      'a host with a port',
      [],
      { CEP_ALLOWED_HOSTS: 'cep.example:9000' },
      3,
      /CEP_ALLOWED_HOSTS: found 'cep\.example:9000', expected a name/,
    ],
    ['a key of one character', ['--api-key', 'k'], {}, 1, /--api-key: found a key of 1 character, expected at least 8[\s\S]*openssl rand/],
    ['a short key', [], { CEP_API_KEY: 'abcdefg' }, 3, /CEP_API_KEY: found a key of 7 characters, expected at least 8/],
    [
      'a key that no header can hold',
      [],
      { CEP_API_KEY: 'schlüsselbund' },
      3,
      /CEP_API_KEY: the key has blanks or characters that no key has/,
    ],
    [
      'a short key in a file',
      ['--config', write('shortkey.yaml', `server:\n  api_key_file: ${write('short', 'k\n')}\n`)],
      {},
      3,
      /API key file '.*short': found a key of 1 character, expected at least 8/,
    ],
    [
      'a proxy that is none',
      [],
      { CEP_TRUSTED_PROXIES: '10.0.0.0/33' },
      3,
      /CEP_TRUSTED_PROXIES: found '10\.0\.0\.0\/33', expected an address/,
    ],
    ['a network that is none', ['--tenant-networks', '10.0.0.0/8,here'], {}, 1, /found 'here', expected an address/],
    ['a collector that is no URL', [], { CEP_OTLP_ENDPOINT: 'localhost:4318' }, 3, /CEP_OTLP_ENDPOINT: expected a URL/],
    ['a share that is none', ['--trace-ratio', '2'], {}, 1, /--trace-ratio/],
    ['a work directory that is missing', ['--workdir', 'nowhere'], {}, 1, /--workdir: directory .*nowhere' does not exist/],
    [
      'credentials that others can read',
      ['--credentials', write('credentials.yaml', 'version: 1\n', 0o644)],
      {},
      3,
      /can be read by others \(mode 644\)/,
    ],
    [
      'a coordinator that is no URL',
      ['--coordinator', 'http://127.0.0.1:9100,here'],
      {},
      1,
      /--coordinator: found 'here', expected a URL such as http:/,
    ],
    ['a worker id that is none', ['--worker-id', 'a b'], { CEP_COORDINATOR: 'http://127.0.0.1:9100' }, 1, /--worker-id: expected letters/],
    [
      'an address that is none',
      ['--coordinator', 'http://127.0.0.1:9100', '--advertise-address', 'w1:9000'],
      {},
      1,
      /--advertise-address: expected a URL/,
    ],
    ['a worker that cannot say where it is', ['--coordinator', 'http://127.0.0.1:9100'], { CEP_SERVER_PORT: '0' }, 3, /any free port/],
    ['an unknown option', ['--prot', '1'], {}, 1, /unknown option '--prot'/],
  ];

  it.each(cases)('because of %s ends with its code and says why', async (_what, args, env, code, message) => {
    const ended = await cep(['server', ...args], env).ended;
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(ended.stdout).toBe('');
  });

  it.each(['--port', '--metrics-port'])('because of a %s that is in use ends with 4', async (flag) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const ended = await cep(['server', '--port', '0', '--metrics', '--metrics-port', '0', flag, String(port)]).ended;
    holder.close();
    expect([ended.code, ended.stderr]).toEqual([4, expect.stringMatching(/cannot listen on 127\.0\.0\.1:\d+: the port is in use/)]);
  });
});

describe('cep server with TLS', () => {
  const use = (name: string): void => {
    copyFileSync(join(certificates, `${name}-cert.pem`), path('cert.pem'));
    copyFileSync(join(certificates, `${name}-key.pem`), path('key.pem'));
  };
  const serialOf = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.on('error', reject);
    });

  it('serves HTTPS of at least TLS 1.2, and reads its certificate again on SIGHUP; a bad one changes nothing', async () => {
    use('first');
    const { cep, url } = await serve(['--tls-cert', path('cert.pem'), '--tls-key', path('key.pem')]);
    expect(url).toMatch(/^https:/);
    const first = await serialOf(url);
    use('second');
    cep.kill('SIGHUP');
    await cep.until(({ stderr }) => stderr.includes('"Certificates reloaded"'));
    const second = await serialOf(url);
    expect(second).not.toBe(first);
    write('cert.pem', 'no certificate');
    cep.kill('SIGHUP');
    await cep.until(({ stderr }) => stderr.includes('Certificates not reloaded'));
    expect(await serialOf(url)).toBe(second);
    const old = new Promise((resolve, reject) => {
      const { port } = new URL(url);
      const options = {
        port: Number(port),
        host: '127.0.0.1',
        rejectUnauthorized: false,
        minVersion: 'TLSv1' as const,
        maxVersion: 'TLSv1.1' as const,
      };
      connect(options, () => resolve('connected')).on('error', reject);
    });
    await expect(old).rejects.toThrow();
  });
});
