/**
 * `node count-tests.mjs RESULTS FAILED_STEPS [SECOND]`: prints "N passed, N failed" from a JSON report of the tests, and exits 1 if
 * anything failed. A test file that did not even load counts as one failure; so does a skipped test, and a report that is missing or
 * empty. SECOND is the report of a second try: what it says of a file counts.
 *
 * `node count-tests.mjs --repeat RESULTS`: prints the files of that report that may be tried a second time, one a line: tests of real
 * processes, whose brokers and sockets may fail before a test begins, which no retry of a test covers. If many failed, none of them.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const REPEATED_MAX = 3;
const withProcesses = /^test\/(integration|contract|docs)\//;

const [first = '', ...rest] = process.argv.slice(2);
if (first === '--repeat') for (const name of filesToRepeat(filesOf(rest[0]))) console.log(name);
else printCount(first, ...rest);

function printCount(results, failedSteps = '0', second = undefined) {
  const again = filesOf(second);
  const names = new Set(again.map(({ name }) => name));
  const { passed, failed } = count([...filesOf(results).filter(({ name }) => !names.has(name)), ...again]);
  const failures = failed + Number(failedSteps);
  console.log(`${passed} passed, ${failures} failed`);
  process.exitCode = failures === 0 ? 0 : 1;
}

function filesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults ?? [];
  } catch {
    return [];
  }
}

function filesToRepeat(files) {
  const failed = files.filter(({ status }) => status === 'failed').map(({ name }) => relative(process.cwd(), name));
  return failed.length <= REPEATED_MAX ? failed.filter((name) => withProcesses.test(name)) : [];
}

function count(files) {
  const tests = files.flatMap((result) => result.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const broken = files.filter((result) => result.status === 'failed' && result.assertionResults.every((test) => test.status === 'passed'));
  const notRun = passed === 0 && tests.length === 0 ? 1 : 0;
  return { passed, failed: tests.length - passed + broken.length + notRun };
}
