import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programToSend } from '../../cli/program/program-to-send.ts';
import { limits } from '../../shared/limits.ts';
import { normalProgram } from '../../worker/runtime/programs/sent-program.ts';
import { Service, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

const twice = 'fn twice(x: int):\n    return x * 2\n';
const source = 'import "lib/twice.vpl"\nevent A:\n    x: int\n\nstream S = A.emit(y: twice(x))\n';
const files = { 'lib/twice.vpl': twice };
const path = '/api/v1/validate';

const deployed = async (program: object, at = service): Promise<string> => {
  const { status, body } = await at.post('/api/v1/pipelines', { name: uniqueName(), ...program });
  expect([status, body]).toEqual([201, expect.objectContaining({ status: 'running' })]);
  return `/api/v1/pipelines/${body.id}`;
};
const output = async (pipeline: string, at = service): Promise<object> => {
  const { body } = await at.post(`${pipeline}/events`, { event_type: 'A', fields: { x: 4 } });
  return body.output_events.map(({ fields }: { fields: object }) => fields);
};

describe('a program with the files that it imports', () => {
  it('runs, and shows them', async () => {
    const pipeline = await deployed({ source, files });
    expect(await output(pipeline)).toEqual([{ y: 8 }]);
    expect((await service.get(pipeline)).body).toMatchObject({ source, files });
    expect((await service.get(pipeline)).body).not.toHaveProperty('path');
  });

  it('keeps none that nothing imports', async () => {
    const pipeline = await deployed({ source, files: { ...files, 'lib/other.vpl': 'stream ' } });
    expect((await service.get(pipeline)).body.files).toEqual(files);
    const alone = await deployed({ source: 'stream S = A.emit(x: 1)\n', files });
    expect((await service.get(alone)).body).not.toHaveProperty('files');
  });

  it('lies where its path says, from where `..` leads to the others', async () => {
    const program = {
      path: 'rules/main.vpl',
      source: 'import "../lib/quadruple.vpl"\nstream S = A.emit(y: quadruple(x))\n',
      files: {
        'lib/quadruple.vpl': 'import "./twice.vpl"\nimport "../types.vpl"\nfn quadruple(x: int):\n    return twice(twice(x))\n',
        'lib/twice.vpl': twice,
        'types.vpl': 'event A:\n    x: int\n',
      },
    };
    const pipeline = await deployed(program);
    expect(await output(pipeline)).toEqual([{ y: 16 }]);
    expect((await service.get(pipeline)).body).toMatchObject(program);
  });

  it('may import all of a folder but those that begin with a dot, and itself', async () => {
    const program = {
      path: 'rules/all.vpl',
      source: 'import "*.vpl"\nimport "../lib/t*c*.vpl"\nstream S = A.emit(y: twice(one() + two()))\n',
      files: {
        ...files,
        'rules/a.vpl': 'fn one():\n    return 1\n',
        'rules/b.vpl': 'fn two():\n    return 2\n',
        'rules/.c.vpl': 'stream ',
        'rules/deep/d.vpl': 'stream ',
      },
    };
    const pipeline = await deployed(program);
    expect(await output(pipeline)).toEqual([{ y: 6 }]);
    expect(Object.keys((await service.get(pipeline)).body.files).sort()).toEqual(['lib/twice.vpl', 'rules/a.vpl', 'rules/b.vpl']);
    const nothing = await service.post(path, { ...program, source: 'import "x*.vpl"\n' });
    expect(nothing.body.diagnostics[0]).toMatchObject({ code: 'E097', line: 1 });
  });

  it('may not import itself through another, by name or by pattern', async () => {
    for (const back of ['../main.vpl', '../*.vpl']) {
      const { body } = await service.post(path, {
        path: 'main.vpl',
        source: 'import "sub/a.vpl"\n',
        files: { 'sub/a.vpl': `import "${back}"\n` },
      });
      expect(body.diagnostics.map(({ code }: { code: string }) => code)).toEqual(['E008']);
    }
  });

  it('has its errors at the file where they are', async () => {
    const wrong = { source, files: { 'lib/twice.vpl': 'fn twice(x: int):\n    return y\n' } };
    const validated = await service.post(path, wrong);
    const place = { file: 'lib/twice.vpl', line: 2, column: 12, severity: 'error' };
    expect(validated).toMatchObject({ status: 200, body: { valid: false, diagnostics: [place] } });
    const refused = await service.post('/api/v1/pipelines', { name: uniqueName(), ...wrong });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'validation_error', error: expect.stringMatching(/^lib\/twice\.vpl, line 2, column 12: /), details: [place] },
    });
  });

  it('runs as cep deploy sends it when a file is imported by several names, through symbolic links', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cep-links-'));
    try {
      for (const name of ['lib', 'rules']) mkdirSync(join(folder, name));
      writeFileSync(join(folder, 'lib/twice.vpl'), twice);
      symlinkSync('../lib/twice.vpl', join(folder, 'rules/linked.vpl'));
      symlinkSync('../lib/twice.vpl', join(folder, 'rules/again.vpl'));
      const imports = 'import "../lib/twice.vpl"\nimport "linked.vpl" as other\nimport "again*.vpl"\n';
      writeFileSync(join(folder, 'rules/main.vpl'), `${imports}event A:\n    x: int\n\nstream S = A.emit(y: twice(other.twice(x)))\n`);
      const { program } = programToSend(join(folder, 'rules/main.vpl'));
      expect(program).toMatchObject({
        path: 'rules/main.vpl',
        files: {
          'lib/twice.vpl': twice,
          'rules/linked.vpl': 'import "../lib/twice.vpl"\n',
          'rules/again.vpl': 'import "../lib/twice.vpl"\n',
        },
      });
      expect(await output(await deployed(program))).toEqual([{ y: 16 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has no empty path, which the schema of the request says too', async () => {
    expect(await service.post(path, { source, files, path: '' })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    const route = service.server.routes.find(({ operation }) => operation === 'validateProgram');
    expect(route?.body).toMatchObject({ properties: { path: { minLength: 1 } } });
  });

  it('is replaced with them', async () => {
    const pipeline = await deployed({ source, files });
    const thrice = { 'lib/twice.vpl': 'fn twice(x: int):\n    return x * 3\n' };
    expect(await service.post(`${pipeline}/reload`, { source, files: thrice, dry_run: true })).toMatchObject({ status: 200 });
    expect(await output(pipeline)).toEqual([{ y: 8 }]);
    expect(await service.post(`${pipeline}/reload`, { source, files: thrice })).toMatchObject({
      status: 200,
      body: { reloaded: true, changed: ['S'] },
    });
    expect(await output(pipeline)).toEqual([{ y: 12 }]);
    expect((await service.get(pipeline)).body).toMatchObject({ version: 2, files: thrice });
    expect(await service.post(`${pipeline}/reload`, { source })).toMatchObject({ status: 400 });
  });

  it('is counted as cep check counts it', async () => {
    expect((await service.post(path, { source, files })).body).toEqual({ valid: true, statements: 3, diagnostics: [] });
  });

  it('is what it was when the server starts again', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'cep-program-files-'));
    try {
      const program = {
        path: 'rules/main.vpl',
        source: 'import "../lib/*.vpl"\nevent A:\n    x: int\n\nstream S = A.emit(y: twice(x))\n',
        files,
      };
      const first = await Service.start({ stateDir });
      const pipeline = await deployed(program, first).finally(() => first.close());
      const second = await Service.start({ stateDir });
      try {
        expect(await output(pipeline, second)).toEqual([{ y: 8 }]);
        expect((await second.get(pipeline)).body).toMatchObject({ ...program, status: 'running' });
      } finally {
        await second.close();
      }
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  });

  it('finds them before those of the work directory, and nothing else there', async () => {
    const root = mkdtempSync(join(tmpdir(), 'cep-program-files-'));
    const workDir = join(root, 'work');
    mkdirSync(join(workDir, 'lib'), { recursive: true });
    writeFileSync(join(root, 'outside.vpl'), twice);
    writeFileSync(join(workDir, 'lib/twice.vpl'), 'fn twice(x: int):\n    return 0\n');
    writeFileSync(join(workDir, 'lib/own.vpl'), 'import "twice.vpl"\nfn own(x: int):\n    return twice(x)\n');
    symlinkSync(join(root, 'outside.vpl'), join(workDir, 'lib/link.vpl'));
    const at = await Service.start({ workDir });
    try {
      expect(await output(await deployed({ source, files }, at), at)).toEqual([{ y: 8 }]);
      const mixed = { source: source.replace('lib/twice.vpl', 'lib/own.vpl').replace('twice(x)', 'own(x)'), files };
      expect(await output(await deployed(mixed, at), at)).toEqual([{ y: 8 }]);
      for (const asked of ['lib/own*.vpl', 'lib/link.vpl', '../outside.vpl', join(root, 'outside.vpl')]) {
        const { body } = await at.post(path, { source: `import "${asked}"\n`, files });
        expect([asked, body.diagnostics[0]]).toEqual([asked, expect.objectContaining({ code: 'E097' })]);
      }
    } finally {
      await at.close();
      rmSync(root, { recursive: true });
    }
  });
});

describe('the paths of files', () => {
  const refused = async (program: object): Promise<string> => {
    const { status, body } = await service.post(path, { source: 'stream S = A.emit(x: 1)\n', ...program });
    expect([program, status, body.code]).toEqual([program, 400, 'validation_error']);
    return body.error;
  };

  it.each([
    '',
    '.',
    '/',
    '..',
    '../a.vpl',
    'a/../b.vpl',
    './../a.vpl',
    '/etc/a.vpl',
    'C:a.vpl',
    'C:/a.vpl',
    'a\\b.vpl',
    '..\\a.vpl',
    'a\u0000.vpl',
    'a\n.vpl',
    '*.vpl',
    '*/a.vpl',
    'program.vpl',
    './program.vpl',
    'a.txt',
    'key',
    '__proto__',
    'constructor',
  ])('are not taken when one is %o', async (name) => {
    expect(await refused({ files: { [name]: twice } })).toMatch(/^files: '/);
  });

  it.each(['..', '../a.vpl', '/a.vpl', 'a\\b.vpl', 'C:\\a.vpl', '*.vpl'])('nor that of the program when it is %o', async (name) => {
    expect(await refused({ path: name })).toMatch(/^path: '/);
  });

  it('have an end, also in what is said of them', async () => {
    const long = `${'a'.repeat(limits.programPathCharactersMax - 4)}.vpl`;
    expect((await service.post(path, { source, files: { ...files, [long]: '' } })).body).toMatchObject({ valid: true });
    expect((await refused({ files: { [`a${long}`]: '' } })).length).toBeLessThan(200);
  });

  it('are each there once, however they are written', async () => {
    expect(await refused({ files: { 'a.vpl': '', './a.vpl': '' } })).toContain("'a.vpl' is there twice");
    expect(await refused({ path: 'x/main.vpl', files: { './x//main.vpl': '' } })).toContain('it is the path of the program itself');
    const { body } = await service.post(path, { source, files: { './lib//twice.vpl': twice } });
    expect(body).toMatchObject({ valid: true });
  });

  it('that mean something to JavaScript are names like others', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const named = { [`${name}.vpl`]: twice, [`${name}/${name}.vpl`]: 'fn same(x: int):\n    return x\n' };
      const imports = `import "${name}.vpl"\nimport "${name}/*.vpl"\n`;
      const program = { path: name, source: `${imports}event A:\n    x: int\n\nstream S = A.emit(y: twice(same(x)))\n`, files: named };
      const pipeline = await deployed(program);
      expect(await output(pipeline)).toEqual([{ y: 8 }]);
      expect((await service.get(pipeline)).body.files).toEqual(named);
      const { body } = await service.post(path, { source: `import "${name}"\n`, files });
      expect(body.diagnostics[0]).toMatchObject({ code: 'E097' });
    }
  });
});

describe('the size of a program with its files', () => {
  const validated = (files: object) => service.post(path, { source, files });

  it('is at most that of one request, and of one program', async () => {
    const half = `#${'e'.repeat(limits.programBytesMax / 2 - 1_000)}\n`;
    const rest = { 'a.vpl': half, 'b.vpl': half };
    expect(await validated({ ...files, ...rest })).toMatchObject({ status: 200, body: { valid: true } });
    expect(await validated({ ...files, ...rest, 'c.vpl': half })).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    const text = (bytes: number): string => 'é'.repeat(bytes / 2);
    const sent = (bytes: number) => normalProgram({ source: text(limits.programBytesMax / 2), files: { 'a.vpl': text(bytes) } });
    expect(sent(limits.programBytesMax / 2).files).toEqual({ 'a.vpl': expect.any(String) });
    expect(() => sent(limits.programBytesMax / 2 + 2)).toThrow('the 2 files of the program together are larger than 1048576 bytes');
  });

  it('is at most a thousand files', async () => {
    const many = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}.vpl`, '']));
    const room = limits.programFilesMax - 1 - Object.keys(files).length;
    expect(await validated({ ...files, ...many(room) })).toMatchObject({ status: 200, body: { valid: true } });
    expect(await validated({ ...files, ...many(room + 1) })).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  });

  it('may be asked for by patterns without end, and holds up nobody', async () => {
    const stars = Array.from({ length: 200 }, (_, n) => `import "lib/*${'*t'.repeat(50)}${n}*.vpl"\n`).join('');
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`lib/${'t'.repeat(200)}${n}.vpl`, '']));
    const { status } = await service.post(path, { source: stars, files: many });
    expect([200, 400]).toContain(status);
    expect(await service.post(path, { source, files })).toMatchObject({ status: 200, body: { valid: true } });
  });
});
