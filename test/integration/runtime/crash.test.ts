import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltProgram, buildProgram } from '../built-program.ts';
import { event, outputTexts, startRuntime, TENANT } from './runtime-under-test.ts';

/** How often the process is killed; more by `CRASH_ROUNDS=100`. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 4);

/** What the client knows, and all that it knows: what it sent, what was answered. */
class Client {
  readonly sent = new Set<number>();
  readonly answered = new Set<number>();
  /** By number: the ids of its outputs, over all replays. */
  readonly outputIds = new Map<number, Set<string>>();
  readonly reports: string[] = [];
  pipelineId = '';
  quietId = '';
  /** What the quiet pipeline has answered. */
  readonly quiet = new Set<number>();

  hear(line: string): void {
    const [word, ...rest] = line.split(' ');
    const n = Number(rest[0]);
    if (word === 'send') this.sent.add(n);
    if (word === 'answer') this.answered.add(n);
    if (word === 'output') this.outputIds.set(n, (this.outputIds.get(n) ?? new Set()).add(rest[2] as string));
    if (word === 'ready') this.pipelineId = rest[0] as string;
    if (word === 'quiet') {
      this.quietId = rest[0] as string;
      this.quiet.add(Number(rest[1]));
    }
    if (word === 'report') this.reports.push(line);
  }

  get arguments(): string[] {
    const unanswered = [...this.sent].filter((n) => !this.answered.has(n));
    return [String(Math.max(0, ...this.sent) + 1), unanswered.join(',')];
  }
}

/** Runs until it has answered a little, then for a random time, then no longer. */
async function runAndKill(program: BuiltProgram, stateDir: string, client: Client, aliveMs: number): Promise<void> {
  const child = spawn(process.execPath, [program.path, stateDir, ...client.arguments], { stdio: ['ignore', 'pipe', 'inherit'] });
  const before = client.answered.size;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let timer: NodeJS.Timeout | undefined;
  createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
    client.hear(line);
    if (client.answered.size > before + 3) timer ??= setTimeout(() => child.kill('SIGKILL'), aliveMs);
  });
  await ended;
  clearTimeout(timer);
}

describe('a server that is killed at any moment', () => {
  let program: BuiltProgram;
  let stateDir: string;

  beforeAll(async () => {
    program = await buildProgram('test/integration/runtime/crash-child.ts');
    stateDir = mkdtempSync(join(tmpdir(), 'cep-crash-'));
  });
  afterAll(() => {
    program.remove();
    rmSync(stateDir, { recursive: true, force: true });
  });

  it(
    'has every durably acknowledged event exactly once, whatever else is under way, and gives outputs the same ids again',
    async () => {
      const client = new Client();
      for (let round = 0; round < rounds; round++) await runAndKill(program, stateDir, client, Math.random() * 1_500);
      const { runtime, inject } = await startRuntime({ stateDir });
      const pipeline = runtime.pipelines.get(TENANT, client.pipelineId);
      expect(pipeline).toMatchObject({ id: client.pipelineId, name: 'counter', status: 'running' });
      const sent = [...client.sent].sort((a, b) => a - b);
      const again = await inject(
        client.pipelineId,
        sent.map((n) => event('Tx', { n })),
      );
      const seen = outputTexts(again).filter((text) => text.startsWith('Seen'));
      // Now a second time what was there once; what was never answered may have been there or not.
      const expected = sent.map((n, at) => (client.answered.has(n) ? `Seen {"n":${n},"times":2}` : seen[at]));
      expect(seen).toEqual(expected);
      expect(seen.filter((text) => !/"times":[12]}$/.test(text))).toEqual([]);
      expect([...client.outputIds].filter(([, ids]) => ids.size > 1)).toEqual([]);
      const quiet = [...client.quiet].map((n) => event('Tx', { n }));
      const seenThere = outputTexts(await inject(client.quietId, quiet)).filter((text) => text.startsWith('Seen'));
      expect(seenThere).toEqual([...client.quiet].map((n) => `Seen {"n":${n},"times":2}`));
      expect(client.answered.size).toBeGreaterThan(rounds * 3);
      expect(client.reports.filter((report) => !report.includes('Torn end'))).toEqual([]);
      await runtime.shutdown({ deadlineMs: 5_000 });
    },
    20_000 + rounds * 10_000,
  );
});
