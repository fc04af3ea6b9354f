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
  readonly name?: string;
  readonly status: string;
  readonly tests: readonly string[];
}

/** Names of files are absolute, as they are in a report. */
function writeReport(file: string, files: readonly FileResult[]): string {
  const testResults = files.map(({ name = 'test/unit/a.test.ts', status, tests }) => ({
    name: join(folder, name),
    status,
    assertionResults: tests.map((each) => ({ status: each })),
  }));
  writeFileSync(join(folder, file), JSON.stringify({ testResults }));
  return join(folder, file);
}

const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', cwd: folder });

function count(
  files: readonly FileResult[],
  failedSteps = 0,
  again: readonly FileResult[] = [],
): { line: string; exitCode: number | null } {
  const second = again.length === 0 ? [] : [writeReport('second.json', again)];
  const { stdout, status } = run(writeReport('report.json', files), String(failedSteps), ...second);
  return { line: stdout, exitCode: status };
}

const filesToRepeat = (files: readonly FileResult[]): string => run('--repeat', writeReport('report.json', files)).stdout;

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

  it('takes the word of a second try for a file, whatever it says', () => {
    const broken: FileResult = { name: 'test/integration/b.test.ts', status: 'failed', tests: ['passed', 'skipped'] };
    const whole = { ...broken, status: 'passed', tests: ['passed', 'passed'] };
    expect(count([good, broken], 0, [whole])).toEqual({ line: '4 passed, 0 failed\n', exitCode: 0 });
    expect(count([good, broken], 0, [broken])).toEqual({ line: '3 passed, 1 failed\n', exitCode: 1 });
    expect(count([good, broken], 0, [])).toEqual({ line: '3 passed, 1 failed\n', exitCode: 1 });
  });

  it('tries a few files with processes again, never pure ones', () => {
    const failed = (name: string): FileResult => ({ name, status: 'failed', tests: [] });
    expect(filesToRepeat([good, failed('test/integration/b.test.ts'), failed('test/unit/c.test.ts')])).toBe('test/integration/b.test.ts\n');
    expect(filesToRepeat(['a', 'b', 'c', 'd'].map((name) => failed(`test/docs/${name}.test.ts`)))).toBe('');
    expect(filesToRepeat([good])).toBe('');
  });
});
