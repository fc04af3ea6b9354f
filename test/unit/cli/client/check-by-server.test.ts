import { mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, refusal } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
beforeEach(() => {
  server.reset();
});

mkdirSync(folder.file('rules'));
const main = folder.write('rules/main.vpl', 'import "level.vpl" as levels\nstream A = B.where(n > levels.LEVEL)\n');
const other = folder.write('rules/level.vpl', 'const LEVEL = 3\n');
const wrong = {
  severity: 'error',
  code: 'E030',
  line: 1,
  column: 7,
  end_line: 1,
  end_column: 12,
  message: 'there is no such thing',
  file: 'level.vpl',
};
const check = (...args: readonly string[]) => server.cep(['check', '--server', server.url, ...args]);
const bodies = (): unknown[] => server.requests.map(({ body }) => JSON.parse(body));

describe('cep check --server', () => {
  it('asks the server with the key, and says what cep check says', async () => {
    server.on('POST /api/v1/validate', { json: { valid: true, statements: 7, diagnostics: [] } });
    expect(await check(main, '--api-key', 'the-key')).toEqual({ exitCode: 0, stdout: 'Syntax OK\n   Statements: 7\n', stderr: '' });
    expect(server.requests[0]?.headers['x-api-key']).toBe('the-key');
    expect(bodies()).toEqual([{ source: folder.read('rules/main.vpl'), path: 'main.vpl', files: { 'level.vpl': 'const LEVEL = 3\n' } }]);
  });

  it('shows errors of an import over its text, and gives them as data', async () => {
    server.on('POST /api/v1/validate', { json: { valid: false, statements: 0, diagnostics: [wrong] } });
    const { exitCode, stdout } = await check(main);
    expect([exitCode, stdout.replaceAll(`${folder.path}/`, '')]).toEqual([
      1,
      'rules/level.vpl:1:7: error E030: there is no such thing\n 1 | const LEVEL = 3\n   |       ^^^^^\n',
    ]);
    const data = await check(main, '--json');
    expect([data.exitCode, JSON.parse(data.stdout)]).toEqual([
      1,
      { valid: false, statements: 0, diagnostics: [expect.objectContaining({ code: 'E030', file: other, line: 1, column: 7 })] },
    ]);
  });

  it('asks for each of several, and ends with the worst', async () => {
    server.on('POST /api/v1/validate', { json: { valid: false, statements: 0, diagnostics: [] } });
    const answers = [wrong].map(({ file: _, ...own }) => ({ json: { valid: false, statements: 0, diagnostics: [own] } }));
    server.on('POST /api/v1/validate', ...answers, { json: { valid: true, statements: 2, diagnostics: [] } });
    const { exitCode, stdout } = await check(folder.file('rules'), '--json');
    expect(exitCode).toBe(1);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { file: other, valid: false },
      { file: main, valid: true, statements: 2 },
    ]);
    expect(await check(folder.file('lost.vpl'), main)).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('main.vpl: Syntax OK'),
    });
  });

  it('ends with 4 at once when the server does not answer the question', async () => {
    server.on('POST /api/v1/validate', refusal(401, 'invalid_api_key', 'the key is wrong'));
    expect(await check(main, other)).toEqual({ exitCode: 4, stdout: '', stderr: expect.stringMatching(/^error: .*key/) });
    expect(server.requests).toHaveLength(1);
  });

  it('sends no file that cannot be read as text', async () => {
    const bytes = folder.write('bytes.vpl', new Uint8Array([0x23, 0xff, 0x0a]));
    expect(await check(bytes)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('this byte is not UTF-8 text') });
    expect(server.requests).toEqual([]);
  });

  it('is what its options are for', async () => {
    const { exitCode, stderr } = await server.cep(['check', main, '--api-key', 'k']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('--timeout are for --server')]);
    expect(await server.cep(['check', main])).toMatchObject({ exitCode: 0 });
    expect(server.requests).toEqual([]);
  });
});
