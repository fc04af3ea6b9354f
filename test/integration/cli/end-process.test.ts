import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltProgram, buildProgram } from '../built-program.ts';

describe('a process that ends itself', () => {
  let program: BuiltProgram;
  let folder: string;
  beforeAll(async () => {
    program = await buildProgram('test/integration/cli/end-process-child.ts');
    folder = mkdtempSync(join(tmpdir(), 'cep-end-'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
  });
  afterAll(() => {
    program.remove();
    rmSync(folder, { recursive: true });
  });

  it('does so with its exit code', async () => {
    expect(await once(spawn(process.execPath, [program.path]), 'exit')).toEqual([4, null]);
  });

  it('is killed where a thread of it waits for a file that never comes', async () => {
    expect(await once(spawn(process.execPath, [program.path, join(folder, 'pipe')]), 'exit')).toEqual([null, 'SIGKILL']);
  });
});
