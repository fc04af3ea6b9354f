import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));

/** Of each request; all of them take longer than a server that is told to end waits for its sinks. */
const ANSWER_MS = 3_000;

describe('cep run whose sources have ended', () => {
  let folder = '';
  let server: Server;
  let run: CepProcess | undefined;
  const answered: number[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cep-run-ends-'));
    server = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (part: Buffer) => body.push(part));
      request.on('end', () => setTimeout(() => answer(Buffer.concat(body).toString(), () => response.end()), ANSWER_MS));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    run?.kill('SIGKILL');
    await run?.ended;
    server.close();
    rmSync(folder, { recursive: true });
  });
  const answer = (body: string, end: () => void): void => {
    answered.push(JSON.parse(body).data.n);
    end();
  };

  it('waits for a slow sink until that has everything', async () => {
    const path = join(folder, 'in.jsonl');
    writeFileSync(path, [1, 2, 3].map((n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const { port } = server.address() as AddressInfo;
    const program = `
event Reading:
    n: int

connector In = file (path: "${path}", follow: false)
connector Slow = http (url: "http://127.0.0.1:${port}", timeout: 20s)

stream Each = Reading.from(In)
    .emit(n)
    .to(Slow)
`;
    run = new CepProcess(['run', '-c', program, '--quiet']);
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(answered).toEqual([1, 2, 3]);
  });

  it('says that dead letters are gone with it, and keeps them where it has a directory for its state', async () => {
    const path = join(folder, 'in.jsonl');
    writeFileSync(path, '{"event_type":"Reading","n":1}\n');
    server.removeAllListeners('request').on('request', (_, response) => response.writeHead(400).end());
    const { port } = server.address() as AddressInfo;
    const program = `
event Reading:
    n: int

connector In = file (path: "${path}", follow: false)
connector Refusing = http (url: "http://127.0.0.1:${port}")

stream Each = Reading.from(In)
    .emit(n)
    .to(Refusing)
`;
    run = new CepProcess(['run', '-c', program, '--quiet']);
    expect(await run.ended).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('1 dead letter went with the process: with --checkpoint-dir they are kept'),
    });
    run = new CepProcess(['run', '-c', program, '--quiet', '--checkpoint-dir', join(folder, 'state')]);
    expect(await run.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('went with the process') });
    expect(readFileSync(join(folder, 'state', 'dlq.jsonl'), 'utf8')).toContain('"n":1');
  });

  it('takes a program that can be read only once', async () => {
    const path = join(folder, 'in.jsonl');
    writeFileSync(path, '{"event_type":"Reading","n":1}\n');
    writeFileSync(join(folder, 'p.vpl'), `connector In = file (path: "${path}", follow: false)\nstream S = Reading.from(In).emit(n)\n`);
    const shell = spawn('bash', ['-c', `"$0" "$1" run --json -f <(cat "$2")`, process.execPath, bin, join(folder, 'p.vpl')]);
    let stdout = '';
    shell.stdout.on('data', (chunk) => (stdout += chunk));
    expect(await new Promise((resolve) => shell.on('close', resolve))).toBe(0);
    expect(stdout).toContain('"data":{"n":1}');
  });

  it('gives nothing but data with --json', async () => {
    const path = join(folder, 'in.jsonl');
    writeFileSync(path, '{"event_type":"Reading","n":1}\n');
    const program = `connector In = file (path: "${path}", follow: false)
connector Out = console ()
stream S = Reading.from(In).emit(n).to(Out)
`;
    run = new CepProcess(['run', '--json', '-c', program]);
    const { stdout, stderr } = await run.ended;
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['output', 'summary']);
    expect(stderr).toMatch(/^.*Out.*n.*1/m);
  });

  it('shows what the program says', async () => {
    const path = join(folder, 'in.jsonl');
    writeFileSync(path, [0, 2].map((n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const program = `
event Reading:
    n: int

connector In = file (path: "${path}", follow: false)

stream Each = Reading.from(In)
    .log(level: "warn", message: f"n is {n}", data: {n: n})
    .print("seen", n)
    .emit(m: n)
stream High = Reading
    .where(n > 1)
    .emit(n)
    .alert(message: "high: {n}")
`;
    run = new CepProcess(['run', '-c', program]);
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(run.stderr).toMatch(/WARN {2}n is 0 stream=Each data="\{.*n.*0\}"\n/);
    expect(run.stderr).toMatch(/INFO {2}seen 2 stream=Each\n/);
    expect(run.stderr).toMatch(/WARN {2}high: 2 stream=High/);
    expect(run.stderr.match(/seen 0/g)).toHaveLength(1);
  });

  it('completes what is open when its files have ended, and leaves it open where the next run goes on', async () => {
    const path = join(folder, 'in.evt');
    writeFileSync(path, ['@0s', '@20s', '@40s', '@60s'].map((at) => `${at} Reading { n: 1 }\n`).join(''));
    const program = `
event Reading:
    n: int

connector In = file (path: "${path}", follow: false)

stream Counted = Reading.from(In)
    .window(1m)
    .aggregate(count: count())
    .emit(count: count)
stream Alone = Reading as a -> NOT Reading within 30s
    .emit(n: a.n)
`;
    const types = ({ stdout }: { readonly stdout: string }): string[] =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .flatMap(({ type, stream, data }) => (type === 'output' ? [`${stream ?? ''} ${JSON.stringify(data)}`] : []));
    run = new CepProcess(['run', '--json', '-c', program]);
    const whole = await run.ended;
    expect(whole.code).toBe(0);
    expect(types(whole)).toHaveLength(3);
    run = new CepProcess(['run', '--json', '-c', program, '--checkpoint-dir', join(folder, 'state')]);
    expect(types(await run.ended)).toEqual(types(whole).slice(0, 1));
    appendFileSync(path, '@2m Reading { n: 2 }\n');
    run = new CepProcess(['run', '--json', '-c', program, '--checkpoint-dir', join(folder, 'state')]);
    expect(types(await run.ended)).toEqual(types(whole).slice(1));
  });
});
