import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { freePorts } from '../raft/local-peers.ts';

vi.setConfig({ testTimeout: 60_000 });

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cep-lost-output-'));
const full = openSync('/dev/full', 'w');
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => {
  closeSync(full);
  rmSync(folder, { recursive: true });
});

type Output = 'pipe' | number;

function start(args: readonly string[], stdout: Output = 'pipe', stderr: Output = 'pipe') {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', stdout, stderr], env: { ...process.env, HOME: folder } });
  running.push(child);
  let noted = '';
  child.stderr?.on('data', (chunk) => (noted += chunk));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stderr: noted })),
  );
  return { child, ended };
}

/** Nobody reads what comes behind the first piece. */
function readOnce({ stdout }: ChildProcess): Promise<void> {
  return new Promise((resolve) =>
    stdout?.once('data', () => {
      stdout?.destroy();
      resolve();
    }),
  );
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** Resolves when the process answers. Rejects when it ends first. */
async function lives(url: string, { child }: { readonly child: ChildProcess }): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(50);
  }
  throw new Error(`cep ended with ${child.exitCode}`);
}

describe.each(['server', 'coordinator'])('cep %s', (command) => {
  it.each([
    ['whose log nobody reads any more', 'pipe'],
    ['whose log has no space', full],
  ] as const)('%s goes on, and ends in order', async (_, stderr) => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const served = start([command, '--port', String(port)], 'pipe', stderr);
    const { child, ended } = served;
    child.stderr?.once('data', () => child.stderr?.destroy());
    await lives(`${url}/health`, served);
    const body = JSON.stringify({ name: 'p', source: 'stream S = A.emit(n)\n' });
    const path = command === 'server' ? 'pipelines' : 'cluster/pipeline-groups';
    await fetch(`${url}/api/v1/${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    await lives(`${url}/health`, served);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe('a command whose output cannot be written', () => {
  it('says why, and ends with 2', async () => {
    const program = write('a.vpl', 'event A:\n    n: int\nstream S = A.emit(n)\n');
    expect(await start(['check', program], full).ended).toEqual({
      code: 2,
      stderr: 'error: standard output cannot be written: no space is left on the device\n',
    });
  });
});

describe('cep run whose output nobody reads any more', () => {
  it('ends in order, as with Ctrl+C: what it delivers is delivered', async () => {
    const events = write('in.jsonl', '{"event_type":"A","n":1}\n');
    const program = `event A:
    n: int
connector In = file (path: "${events}", follow: true)
connector Out = file (path: "${join(folder, 'out.jsonl')}")
stream S = A.from(In).emit(n).to(Out)
`;
    const run = start(['run', '-c', program]);
    await readOnce(run.child);
    writeFileSync(events, Array.from({ length: 500 }, (_, n) => `{"event_type":"A","n":${n}}\n`).join(''), { flag: 'a' });
    expect(await run.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Alerts generated: ') });
    const delivered = readFileSync(join(folder, 'out.jsonl'), 'utf8').trimEnd().split('\n').length;
    expect(delivered).toBe(Number(/Alerts generated: (\d+)/.exec((await run.ended).stderr)?.[1]));
  });

  it('says why where the output has no space', async () => {
    const events = write('few.jsonl', '{"event_type":"A","n":1}\n');
    const program = `connector In = file (path: "${events}", follow: true)\nstream S = A.from(In).emit(n)\n`;
    const { code, stderr } = await start(['run', '-c', program], full).ended;
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/Alerts generated: 1(?:.|\n)*error: standard output cannot be written: no space/),
    ]);
  });
});

describe('cep inject whose output nobody reads any more', () => {
  it('sends everything all the same', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const server = start(['server', '--port', String(port)]);
    await lives(`${url}/health`, server);
    const program = write('b.vpl', 'event A:\n    n: int\nstream S = A.emit(n)\n');
    expect(await start(['deploy', program, '--server', url]).ended).toMatchObject({ code: 0 });
    const events = write('b.evt', Array.from({ length: 5_000 }, (_, n) => `A { n: ${n} }\n`).join(''));
    const inject = start(['inject', 'b', '-f', events, '--batch-size', '50', '--server', url]);
    await readOnce(inject.child);
    expect(await inject.ended).toEqual({ code: 0, stderr: '' });
    const { pipelines } = (await (await fetch(`${url}/api/v1/pipelines`)).json()) as { pipelines: { events_processed: number }[] };
    expect(pipelines[0]?.events_processed).toBe(5_000);
    expect(await start(['inject', 'b', '-f', events, '--server', url], full).ended).toEqual({
      code: 2,
      stderr: 'error: standard output cannot be written: no space is left on the device\n',
    });
  });
});
