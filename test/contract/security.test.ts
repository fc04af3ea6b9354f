import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropWebSocketClients, WebSocketClient } from '../clients/websocket-client.ts';
import { hot, reading, Service, serverKey, uniqueName } from './service.ts';

const outside = mkdtempSync(join(tmpdir(), 'cep-outside-'));
const workDir = join(outside, 'work');
const secret = 'the-text-outside';
let service: Service;

beforeAll(async () => {
  mkdirSync(join(workDir, 'sub'), { recursive: true });
  writeFileSync(join(outside, 'secret.vpl'), `const SECRET = "${secret}"\n`);
  writeFileSync(join(workDir, 'shared.vpl'), 'fn twice(x: int):\n    return x * 2\n');
  writeFileSync(join(workDir, 'sub', 'deep.vpl'), 'import "../shared.vpl"\nfn four(x: int):\n    return twice(twice(x))\n');
  symlinkSync(join(outside, 'secret.vpl'), join(workDir, 'link.vpl'));
  symlinkSync(outside, join(workDir, 'folder'));
  service = await Service.start({ workDir });
});

afterAll(async () => {
  await service.close();
  rmSync(outside, { recursive: true });
});

/** What the server says of a program, by each way that takes one. */
async function everyRoute(source: string): Promise<string[]> {
  const path = await service.deploy(hot);
  const client = await WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, ['cep.v1', `cep-auth.${serverKey}`]);
  const answers = [
    (await service.post('/api/v1/validate', { source })).text,
    (await deploy(source)).text,
    (await service.post(`${path}/reload`, { source })).text,
    (await service.post(`${path}/reload`, { source, dry_run: true })).text,
    JSON.stringify(await client.ask({ type: 'load', source }, 'load_result')),
  ];
  dropWebSocketClients();
  await service.request('DELETE', path);
  return answers;
}

const deploy = (source: string) => service.post('/api/v1/pipelines', { name: uniqueName(), source });

describe('the work directory', () => {
  it('is where programs import from', async () => {
    const source = 'import "sub/deep.vpl"\nevent A:\n    x: int\n\nstream S = A.emit(y: four(x))\n';
    const { status, body } = await deploy(source);
    expect(status).toBe(201);
    const { body: answer } = await service.post(`/api/v1/pipelines/${body.id}/events`, { event_type: 'A', fields: { x: 3 } });
    expect(answer.output_events[0].fields).toEqual({ y: 12 });
  });

  it.each([
    '../secret.vpl',
    'sub/../../secret.vpl',
    './sub/../../secret.vpl',
    join(outside, 'secret.vpl'),
    '/etc/passwd',
    'link.vpl',
    'folder/secret.vpl',
    'sub/../folder/secret.vpl',
    '..',
    '.',
    'sub',
    '',
    'shared.vpl\u0000',
    '..\\secret.vpl',
    'file:///etc/passwd',
    '%2e%2e/secret.vpl',
  ])('cannot be left by an import of %o, and the answer shows nothing of the file', async (path) => {
    const { status, body, text } = await deploy(`import ${JSON.stringify(path)}\n${hot}`);
    expect([status, body.code]).toEqual([400, expect.stringMatching(/^(validation|parse)_error$/)]);
    expect(text).not.toMatch(/the-text-outside|root:/);
  });

  it('shows nothing of a file in it that is no program, whatever its name', async () => {
    const names = ['cep-key', 'key.txt', 'key.vpl', '.env', 'data.json', 'credentials.yaml', 'state.vpl', 'KEY.VPL'];
    const texts = [
      `${secret}\n`,
      `{"${secret}": 1}`,
      `# a comment\n${secret}=1\n`,
      `version: 1\n${secret}: x\n`,
      `"${secret}"`,
      `${secret} ${hot}`,
    ];
    for (const [n, name] of names.entries()) {
      for (const text of texts) {
        writeFileSync(join(workDir, `${n}`), text);
        renameSync(join(workDir, `${n}`), join(workDir, name));
        for (const answer of await everyRoute(`import "${name}"\n${hot}`)) {
          expect(answer).toContain('E097');
          expect(answer).not.toContain(secret);
        }
      }
      rmSync(join(workDir, name));
    }
  });

  it('gives no program the files of the operator, also where they look like programs', async () => {
    const root = mkdtempSync(join(tmpdir(), 'cep-private-'));
    const folder = join(root, 'work');
    const program = 'fn secret_of_the_operator(x: int):\n    return x\n';
    for (const path of ['', 'state', 'state/deep']) mkdirSync(join(folder, path));
    for (const path of ['key.vpl', 'state/deep/a.vpl', 'own.vpl']) writeFileSync(join(folder, path), program);
    linkSync(join(folder, 'key.vpl'), join(folder, 'hard.vpl'));
    symlinkSync(join(folder, 'key.vpl'), join(folder, 'soft.vpl'));
    symlinkSync(join(folder, 'state'), join(folder, 'into'));
    const privately = await Service.start({ workDir: folder, stateDir: join(folder, 'state'), privateFiles: [join(folder, 'key.vpl')] });
    try {
      const validate = (path: string) =>
        privately.post('/api/v1/validate', { source: `import "${path}"\nstream S = A.emit(y: secret_of_the_operator(1))\n` });
      expect((await validate('own.vpl')).body).toMatchObject({ valid: true });
      for (const path of ['key.vpl', 'hard.vpl', 'soft.vpl', 'state/deep/a.vpl', 'into/deep/a.vpl', './state/../key.vpl']) {
        const { body } = await validate(path);
        expect([path, body.valid, body.diagnostics[0].code]).toEqual([path, false, 'E097']);
      }
    } finally {
      await privately.close();
      rmSync(root, { recursive: true });
    }
  });

  it('is not that of a tenant, whose programs read nothing, or a folder that is theirs alone', async () => {
    const root = mkdtempSync(join(tmpdir(), 'cep-tenants-'));
    const shared = 'fn twice(x: int):\n    return x * 2\n';
    writeFileSync(join(root, 'shared.vpl'), shared);
    const source = (path: string) => `import "${path}"\nstream S = A.emit(y: twice(2))\n`;
    const without = await Service.start({ workDir: root });
    const withFolders = await Service.start({ workDir: root, tenantWorkDir: join(root, 'tenants') });
    try {
      const nobody = await without.tenant();
      expect((await without.post('/api/v1/validate', { source: source('shared.vpl') })).body.valid).toBe(true);
      for (const path of ['shared.vpl', join(root, 'shared.vpl'), './shared.vpl', '/program/shared.vpl']) {
        const { body } = await without.post('/api/v1/validate', { source: source(path) }, { key: nobody.key });
        expect(body.diagnostics[0]).toMatchObject({ code: 'E097', hint: expect.stringContaining('--tenant-workdir') });
      }
      const model = 'stream M = A.score(model: "m.onnx", inputs: [x], outputs: [y]).emit(y: y)\n';
      writeFileSync(join(root, 'm.onnx'), 'no model');
      expect((await without.post('/api/v1/validate', { source: model }, { key: nobody.key })).text).toContain('E097');

      const [ann, ben] = [await withFolders.tenant(), await withFolders.tenant()];
      mkdirSync(join(root, 'tenants', ann.id), { recursive: true });
      writeFileSync(join(root, 'tenants', ann.id, 'own.vpl'), shared);
      symlinkSync(join(root, 'shared.vpl'), join(root, 'tenants', ann.id, 'out.vpl'));
      const isRight = async (path: string, key: string) =>
        (await withFolders.post('/api/v1/validate', { source: source(path) }, { key })).body.valid;
      expect(await isRight('own.vpl', ann.key)).toBe(true);
      expect(await isRight('own.vpl', ben.key)).toBe(false);
      for (const path of ['shared.vpl', '../../shared.vpl', 'out.vpl', join(root, 'shared.vpl')])
        expect(await isRight(path, ann.key)).toBe(false);
      for (const path of [`../${ann.id}/own.vpl`, join(root, 'tenants', ann.id, 'own.vpl')])
        expect(await isRight(path, ben.key)).toBe(false);
    } finally {
      await without.close();
      await withFolders.close();
      rmSync(root, { recursive: true });
    }
  });

  it('is not left either by what a connector names', async () => {
    const named = (path: string): readonly string[] => [
      `connector Out = file(path: "${path}")\n${hot.trimEnd()}.to(Out)\n`,
      `connector In = file(path: "${path}")\nevent A:\n    x: int\n\nstream S = A.from(In).emit(y: x)\n`,
    ];
    const running = await service.deploy(hot);
    for (const source of ['../secret.vpl', join(outside, 'out.jsonl'), 'folder/out.jsonl', 'none/out.jsonl', 'a\\u{0}b'].flatMap(named)) {
      for (const { status, body, text } of [await deploy(source), await service.post(`${running}/reload`, { source })]) {
        expect([source, status, body.code]).toEqual([source, 400, 'validation_error']);
        expect(text).not.toContain(secret);
      }
    }
    for (const path of ['../secret.vpl', join(outside, 'out.jsonl'), 'folder/out.jsonl', 'a\\u{0}b']) {
      const source = `connector Out = file()\n${hot.trimEnd()}.to(Out, topic: "${path}")\n`;
      for (const { status, body } of [await deploy(source), await service.post(`${running}/reload`, { source })])
        expect([source, status, body.code]).toEqual([source, 400, 'validation_error']);
    }
    const certificate = 'connector K = kafka(brokers: "127.0.0.1:9", ssl_ca: "../secret.vpl")';
    const { status, body } = await deploy(`${certificate}\n${hot.trimEnd()}.to(K, topic: "t")\n`);
    expect([status, body.code, body.error]).toEqual([
      400,
      'validation_error',
      expect.stringMatching(/ssl_ca: .* not in the work directory/),
    ]);
  });
});

describe('names that mean something to JavaScript', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

  it.each(names)('are data as the name %s of a field, of a type and of a label', async (name) => {
    const path = await service.deploy(hot);
    const event = `{"event_type": "Reading", "fields": {"value": 40, "sensor": "a", "${name}": {"polluted": "yes"}}}`;
    expect((await service.post(`${path}/events`, event)).status).toBe(200);
    expect((await service.post(`${path}/events-batch`, `{"events": [${event}]}`)).body.accepted).toBe(1);
    expect((await service.post(`${path}/events`, `{"event_type": "${name}", "fields": {}}`)).status).toBe(200);
    const labels = `{"name": "${uniqueName()}", "source": ${JSON.stringify(hot)}, "labels": {"${name}": "x"}}`;
    expect((await service.post('/api/v1/pipelines', labels)).status).toBe(201);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  it.each(names)('are refused as the member %s of a request', async (name) => {
    const { status } = await service.post('/api/v1/pipelines', `{"name": "x", "source": "", "${name}": {"polluted": "yes"}}`);
    expect(status).toBe(400);
  });

  it.each(names)('are no pipeline and no tenant: %s', async (name) => {
    expect((await service.get(`/api/v1/pipelines/${name}`)).status).toBe(404);
    expect((await service.get(`/api/v1/tenants/${name}`)).status).toBe(404);
  });
});

describe('a program', () => {
  it('cannot hold up other requests, and is given up when it does not end', async () => {
    const brief = await Service.start({ eventBudgetMs: 500 });
    try {
      const source =
        'event A:\n    n: int\n\nfn spin(n: int):\n    var i = 0\n    while i < n:\n        i := i + 1\n    return i\n\nfn much(n: int):\n    var j = 0\n    while j < 99:\n        j := j + 1\n        let x = spin(n)\n    return j\n\nstream S = A.emit(i: much(n))\n';
      const path = await brief.deploy(source);
      const spinning = brief.post(`${path}/events`, { event_type: 'A', fields: { n: 990_000 } });
      expect((await brief.get('/health')).status).toBe(200);
      expect((await brief.get(path)).status).toBe(200);
      const { status } = await spinning;
      expect([200, 422]).toContain(status);
    } finally {
      await brief.close();
    }
  });

  it('cannot reach what JavaScript has', async () => {
    for (const expression of ['constructor', '__proto__', 'globalThis', 'process', 'x.constructor']) {
      const { status, body } = await deploy(`event A:\n    x: int\n\nstream S = A.emit(y: to_string(${expression}))\n`);
      if (status !== 201) continue;
      const { text } = await service.post(`/api/v1/pipelines/${body.id}/events`, { event_type: 'A', fields: { x: 1 } });
      expect(text).not.toMatch(/native code|\[object|function/i);
    }
  });
});

describe('a body without an end', () => {
  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const { port } = new URL(service.url);
      const socket = connect(Number(port), '127.0.0.1', () => resolve(socket));
      socket.on('error', () => undefined);
    });
  const answerOf = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
        if (text.includes('request_id')) resolve(text);
      });
      socket.on('close', () => resolve(text));
    });

  it('in chunks is refused as soon as it is over the limit', async () => {
    const path = await service.deploy(hot);
    const socket = await open();
    const answer = answerOf(socket);
    socket.write(
      `POST ${path}/events HTTP/1.1\r\nhost: a\r\nx-api-key: ${serverKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 40 && !socket.destroyed; sent++) socket.write(chunk);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"payload_too_large"/);
    socket.destroy();
  });

  it('that says it will be too large is refused before it comes', async () => {
    const path = await service.deploy(hot);
    const socket = await open();
    const answer = answerOf(socket);
    socket.write(
      `POST ${path}/events HTTP/1.1\r\nhost: a\r\nx-api-key: ${serverKey}\r\ncontent-type: application/json\r\ncontent-length: 1073741824\r\n\r\n`,
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it.each([
    ['GET /health HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['GET /health HTTP/1.1\nhost: a\n\n'],
    ['GET /health HTTP/1.1\r\nhost : a\r\n\r\n'],
    ['POST /health HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n'],
    ['GET /health HTTP/1.1\r\nhost: a\r\nx: a\r\n b\0\r\n\r\n'],
  ])('or of two minds about where it ends is refused: %o', async (bytes) => {
    const socket = await open();
    const answer = answerOf(socket);
    socket.write(bytes);
    expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it('holds nobody else up, and its connection is cut after ten seconds', async () => {
    const slow = await Promise.all(Array.from({ length: 50 }, open));
    const answers = slow.map(answerOf);
    for (const socket of slow) socket.write('POST /api/v1/pipelines HTTP/1.1\r\nhost: a\r\nx-a: ');
    expect((await service.post(`${await service.deploy(hot)}/events`, reading(40))).status).toBe(200);
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/);
  });
});

describe('the connection', () => {
  it('says nothing of what the server is made of', async () => {
    const { headers } = await service.get('/health', { key: null });
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
