import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], readsOutput = true): Promise<Ended> {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  if (!readsOutput) child.stdout.destroy();
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

describe('Ctrl+C', () => {
  it('sums up what came so far, and ends as a shell says of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cep-interrupt-'));
    try {
      writeFileSync(join(folder, 'rules.vpl'), 'stream All = Login.emit(user)\n');
      const child = spawn(process.execPath, [bin, 'simulate', '-p', join(folder, 'rules.vpl'), '-e', '-', '--json']);
      let stdout = '';
      const ended = new Promise((resolve) => child.on('close', resolve));
      const alerted = new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk) => {
          stdout += chunk;
          if (stdout.includes('"output"')) resolve();
        });
      });
      child.stdin.write('Login { user: "ann" }\n');
      await alerted;
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      expect(summary).toMatchObject({ type: 'summary', events_processed: 1, alerts_generated: 1, interrupted: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the process cep', () => {
  it('runs from a checkout', async () => {
    expect(await start(['-V'])).toEqual({ code: 0, stdout: `cep ${manifest.version}\n`, stderr: '' });
  });

  it('ends with the exit code of the error', async () => {
    expect(await start(['-c', 'absent.yaml', 'config', 'show'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('ends quietly when nobody reads its output', async () => {
    expect(await start(['config-gen'], false)).toMatchObject({ code: 0, stderr: '' });
  });
});
