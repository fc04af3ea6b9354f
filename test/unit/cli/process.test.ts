import { spawn } from 'node:child_process';
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
