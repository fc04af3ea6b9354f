import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/count-tests.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cep-count-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface FileResult {
  readonly status: string;
  readonly tests: readonly string[];
}

function count(files: readonly FileResult[], failedSteps = 0): { line: string; exitCode: number | null } {
  const report = join(folder, 'report.json');
  const testResults = files.map(({ status, tests }) => ({ status, assertionResults: tests.map((each) => ({ status: each })) }));
  writeFileSync(report, JSON.stringify({ testResults }));
  const { stdout, status } = spawnSync(process.execPath, [script, report, String(failedSteps)], { encoding: 'utf8' });
  return { line: stdout, exitCode: status };
}

describe('counting tests', () => {
  const good: FileResult = { status: 'passed', tests: ['passed', 'passed'] };

  it('sums the files and succeeds only when nothing failed', () => {
    expect(count([good, good])).toEqual({ line: '4 passed, 0 failed\n', exitCode: 0 });
    expect(count([good, { status: 'failed', tests: ['passed', 'failed'] }])).toEqual({ line: '3 passed, 1 failed\n', exitCode: 1 });
  });

  it('counts a file that did not load, a skipped test and a failed step as failures', () => {
    expect(count([good, { status: 'failed', tests: [] }])).toEqual({ line: '2 passed, 1 failed\n', exitCode: 1 });
    expect(count([{ status: 'passed', tests: ['passed', 'skipped', 'todo'] }])).toEqual({ line: '1 passed, 2 failed\n', exitCode: 1 });
    expect(count([good], 1)).toEqual({ line: '2 passed, 1 failed\n', exitCode: 1 });
  });

  it('does not take the absence of tests for success', () => {
    expect(count([])).toEqual({ line: '0 passed, 1 failed\n', exitCode: 1 });
  });
});
